#!/usr/bin/env bash
# schedules.sh MOESIM EXECUTE: the Programs of all schedules leave the same bytes in every buffer of
# every rank, whether the ranks are threads of one process, four processes or two of two ranks each.
set -euo pipefail

moesim=$1
execute=$2
here=$(dirname "${BASH_SOURCE[0]}")
root=$here/../..
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

small=(cluster.num_nodes=2 cluster.gpus_per_node=2 parallel.mp=2 parallel.esp=2 model.layers=2
  model.batch=2 model.sequence=32 model.embedding=32 model.hidden=64 model.heads=4 model.kv_heads=2
  model.experts=4)
settings=()
for setting in "${small[@]}"; do
  settings+=(--set "$setting")
done

run_mpi() {
  "$here/mpirun.sh" "$1" "$execute" "$folder/program.json" --transport mpi \
    --results "$folder/mpi$1.txt" --trace "$folder/trace.json" > "$folder/out.txt"
}

compare() {
  if ! cmp "$folder/threads.txt" "$folder/mpi$2.txt"; then
    echo "schedule $1: $2 processes and threads differ" >&2
    exit 1
  fi
}

for schedule in deepspeed_moe tutel tutel_improved pipemoe lina fsmoe_no_iio fsmoe parm_baseline \
  parm_s1 parm_s2 parm sp_moe; do
  "$moesim" program "$root/scenarios/quickstart.txtpb" --schedule "$schedule" --degree 3 \
    "${settings[@]}" --out "$folder/program.json"
  "$execute" "$folder/program.json" --results "$folder/threads.txt" > "$folder/out.txt"
  [[ $(wc -l < "$folder/threads.txt") -gt 100 ]]
  run_mpi 4
  compare "$schedule" 4
  grep -q '"end_picoseconds"' "$folder/trace.json"
done
run_mpi 2
compare "$schedule" 2
