#!/bin/sh
# Usage: kernel_report.sh COMPILE_COMMANDS
# What the compiler says of every kernel that programs are linked with: registers, shared memory and
# spills by ptxas; threads, and the bytes of a thread's widest load and store of device memory, by
# PTX. Each .cu file of COMPILE_COMMANDS (of the build) is compiled once more, by its own command.
# Prints the table of docs/performance.md. Fails on a warning, where a kernel spills, and where one
# that moves rows does not take 16 bytes at once.
set -eu
readonly commands=$1
readonly row_kernels='Activate CombinePieces DifferentiateHidden GatherRows OptimizerStep ScaleSlots
  SoftmaxBackwardRows SoftmaxRows SumSlots'

out=$(mktemp -d)
readonly out
trap 'rm -rf "$out"' EXIT
sed -n 's/^ *"command": "\(.*\)",$/\1/p' "$commands" | sed 's/\\"/"/g; s/\\\\/\\/g' |
  grep '\.cu -o ' | sed 's/ -o [^ ]*$//' > "$out/commands"
[ -s "$out/commands" ] || { echo "$commands compiles no .cu file"; exit 1; }
cd "$(dirname "$commands")"
while read -r command; do
  eval "$command -Xptxas -v --keep --keep-dir '$out' -o '$out/kernels.o'" \
    >> "$out/ptxas.log" 2>&1 || { cat "$out/ptxas.log"; exit 1; }
done < "$out/commands"

# A mangled name: namespaces, the last one ending in the file's and eight digits, then the length of
# the function's name and itself; of run_blocks the kernel's body, its template argument.
readonly name_of='
  function counted(text) {
    match(text, /^[0-9]+/)
    rest = substr(text, RSTART + RLENGTH + substr(text, 1, RLENGTH))
    return substr(text, RSTART + RLENGTH, substr(text, 1, RLENGTH))
  }
  function name_of(mangled,  name) {
    digit = "[0-9a-f]"
    sub("^.*_cu_" digit digit digit digit digit digit digit digit, "", mangled)
    name = counted(mangled)
    return name == "run_blocks" ? counted(substr(rest, 5)) : name  # behind INS_
  }'

# KERNEL registers SM NUMBER, and so on.
awk "$name_of"'
  /Compiling entry function/ {
    split($0, quoted, "\047")
    name = name_of(quoted[2])
    sm = quoted[4]
  }
  /bytes spill stores/ {
    match($0, /[0-9]+ bytes spill stores/); stores = substr($0, RSTART, RLENGTH) + 0
    match($0, /[0-9]+ bytes spill loads/); loads = substr($0, RSTART, RLENGTH) + 0
  }
  /Used [0-9]+ registers/ {
    match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5, RLENGTH - 5) + 0
    shared = 0
    if (match($0, /[0-9]+ bytes smem/)) shared = substr($0, RSTART, RLENGTH) + 0
    print name, "registers", sm, registers
    print name, "shared", sm, shared
    print name, "spilled", sm, stores + loads
  }' "$out/ptxas.log" > "$out/facts"
cat "$out"/*.ptx | awk "$name_of"'
  /\.entry / { match($0, /_Z[A-Za-z0-9_]+/); name = name_of(substr($0, RSTART, RLENGTH)) }
  /\.maxntid/ { sub(/,.*/, "", $2); print name, "threads", "any", $2 + 0 }
  /^[\t ]*(@!?%p[0-9]+ )?(ld|st)\./ && !/\.(param|shared|local)\./ {
    match($0, /(ld|st)\.[a-z0-9.]+/)
    access = substr($0, RSTART, RLENGTH)
    lanes = access ~ /\.v4\./ ? 4 : access ~ /\.v2\./ ? 2 : 1
    bits = access
    sub(/^.*\.[a-z]+/, "", bits)
    print name, substr(access, 1, 2), "any", lanes * bits / 8
  }' >> "$out/facts"

awk -v row_kernels="$row_kernels" '
  { key = $1 "," $2 "," $3; if (!(key in most) || $4 > most[key]) most[key] = $4; names[$1] }
  function fact(name, what, sm,  key) {
    key = name "," what "," sm
    return key in most ? most[key] : "-"
  }
  function larger(name, what,  left, right) {
    left = fact(name, what, "sm_80"); right = fact(name, what, "sm_90")
    return left > right ? left : right
  }
  END {
    count = 0
    for (name in names) {
      ++count
      printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, fact(name, "threads", "any"),
        fact(name, "registers", "sm_80"), fact(name, "registers", "sm_90"),
        larger(name, "shared"), larger(name, "spilled"), fact(name, "ld", "any"),
        fact(name, "st", "any") | "sort"
      if (larger(name, "spilled") > 0) complaints = complaints name " spills\n"
    }
    close("sort")
    split(row_kernels, rows, " ")
    for (i in rows) {
      if (fact(rows[i], "ld", "any") != 16 || fact(rows[i], "st", "any") != 16) {
        complaints = complaints rows[i] " does not take 16 bytes at once\n"
      }
    }
    if (count == 0) complaints = "the compiler reported no kernel\n"
    printf "%s", complaints
    exit complaints != ""
  }' "$out/facts" > "$out/table" && status=0 || status=$?
printf '| Kernel | threads | registers, sm_80 | sm_90 | shared memory, B | spilled, B |%s\n' \
  ' load, B | store, B |'
echo '|---|---|---|---|---|---|---|---|'
cat "$out/table"
exit "$status"
