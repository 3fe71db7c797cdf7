#!/bin/sh
# Usage: dynamic_libraries.sh BINARY
# What the carried moesim-execute needs where it is carried to: CUDA, NCCL and the C library alone.
set -eu
readonly allowed='libcublasLt.so.13 libnccl.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0
librt.so.1 ld-linux-x86-64.so.2'
status=0
for library in $(objdump -p "$1" | sed -n 's/^ *NEEDED *//p'); do
  case " $(echo $allowed) " in
    *" $library "*) ;;
    *)
      echo "$1 needs $library, which a machine with CUDA and NCCL alone has not"
      status=1
      ;;
  esac
done
"$1" --version > /dev/null
exit $status
