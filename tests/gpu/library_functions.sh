#!/bin/sh
# Usage: library_functions.sh ARCHIVE LIBRARY
# LIBRARY has every function that ARCHIVE, which opens it late, passes on.
set -eu
own=$(nm --defined-only "$1" | sed -n 's/.* T \(cublas\|nccl\)/\1/p' | sort)
[ -n "$own" ] || { echo "$1 defines no function of $2"; exit 1; }
theirs=$(nm -D --defined-only "$2" | sed 's/.* //; s/@.*//' | sort)
missing=$(echo "$own" | while read -r name; do
  echo "$theirs" | grep -qx "$name" || echo "$name"
done)
[ -z "$missing" ] || { echo "$2 has no $missing"; exit 1; }
