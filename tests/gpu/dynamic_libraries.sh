#!/bin/sh
# Usage: dynamic_libraries.sh carried|moesim BINARY
# What a program needs to start. The carried moesim-execute: a C library of glibc 2.35 or later
# (Ubuntu 22.04) and nothing else; what it opens later is CUDA's. moesim: none of CUDA's libraries,
# which take longer to load than most commands take.
set -eu
readonly kind=$1 binary=$2
readonly allowed='libc.so.6 libm.so.6 ld-linux-x86-64.so.2'
readonly newest_glibc=2.35
status=0

complain() {
  echo "$binary $1"
  status=1
}

for library in $(objdump -p "$binary" | sed -n 's/^ *NEEDED *//p'); do
  case $kind/$library in
    moesim/libcu* | moesim/libnccl* | moesim/libnv*) complain "loads $library at its start" ;;
    moesim/*) ;;
    *)
      case " $allowed " in
        *" $library "*) ;;
        *) complain "needs $library, which a machine with CUDA and NCCL alone has not" ;;
      esac
      ;;
  esac
done
if [ "$kind" = carried ]; then
  glibc=$(objdump -T "$binary" | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -uV | tail -n 1)
  [ "$(printf '%s\n' "$glibc" "$newest_glibc" | sort -V | tail -n 1)" = "$newest_glibc" ] ||
    complain "needs glibc $glibc, newer than $newest_glibc: $(objdump -T "$binary" |
      grep -F "GLIBC_$glibc")"
fi
"$binary" --version > /dev/null
exit $status
