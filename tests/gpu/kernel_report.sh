#!/bin/sh
# Compiles every kernel for devices and prints what ptxas says of each: registers, shared memory and
# spills. Fails on a warning and where a kernel spills.
#   kernel_report.sh NVCC REPOSITORY FOLDER_FOR_OUTPUT
set -eu
nvcc=$1
root=$2
out=$3

report() {
  "$nvcc" -std=c++20 --fmad=false "-arch=sm_$1" -Werror all-warnings -Xptxas -v "-I$root" \
    -cubin -o "$out/core_sm_$1.cubin" "$root/tests/gpu/core.cu" > "$out/ptxas_sm_$1.log" 2>&1 ||
    { cat "$out/ptxas_sm_$1.log"; exit 1; }
  awk -v sm="$1" '
    /Compiling entry function/ {
      match($0, /INS_[0-9]+[A-Za-z]+EEEv/)
      name = substr($0, RSTART, RLENGTH)
      gsub(/^INS_[0-9]+|EEEv$/, "", name)
    }
    /bytes spill stores/ {
      match($0, /[0-9]+ bytes spill stores/); stores = substr($0, RSTART, RLENGTH) + 0
      match($0, /[0-9]+ bytes spill loads/); loads = substr($0, RSTART, RLENGTH) + 0
    }
    /Used [0-9]+ registers/ {
      match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5, RLENGTH - 5) + 0
      shared = 0
      if (match($0, /[0-9]+ bytes smem/)) shared = substr($0, RSTART, RLENGTH) + 0
      printf "| %s | %s | %d | %d | %d |\n", name, sm, registers, shared, stores + loads
    }' "$out/ptxas_sm_$1.log"
}

table=$out/kernels.md
report 80 > "$out/kernels_sm_80.md"
report 90 > "$out/kernels_sm_90.md"
sort "$out/kernels_sm_80.md" "$out/kernels_sm_90.md" > "$table"
echo '| Kernel | sm | Registers | Shared memory, B | Spilled, B |'
echo '|---|---|---|---|---|'
cat "$table"
kernels=$(wc -l < "$table")
[ "$kernels" -gt 0 ] || { echo "ptxas reported no kernel"; exit 1; }
awk -F'|' '$6 > 0 { print "spills:" $2 "on sm" $3; found = 1 } END { exit found }' "$table"
