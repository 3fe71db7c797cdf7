#!/usr/bin/env bash
# execute.sh MOESIM: `mpirun -np 4 moesim execute SCENARIO --transport mpi` prints one report,
# writes the files that threads write, and leaves the same bytes in every buffer; what is wrong is
# said once.
set -euo pipefail

moesim=$1
here=$(dirname "${BASH_SOURCE[0]}")
scenario=$here/../../scenarios/quickstart.txtpb
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One layer on four ranks, as it takes milliseconds; no run is late.
options=(--schedule fsmoe --degree 2 --clock raw --runs 2)
for setting in cluster.num_nodes=2 cluster.gpus_per_node=2 parallel.mp=2 parallel.esp=2 \
  model.layers=1 model.batch=2 model.sequence=32 model.embedding=32 model.hidden=64 model.heads=4 \
  model.kv_heads=2 model.experts=4; do
  options+=(--set "$setting")
done

fail() {
  echo "$1" >&2
  exit 1
}

# run_mpi PROCESSES OPTIONS...: with the report in out.txt and what is said else in err.txt.
run_mpi() {
  local processes=$1
  shift
  "$here/mpirun.sh" "$processes" "$moesim" execute "$@" --transport mpi \
    > "$folder/out.txt" 2> "$folder/err.txt"
}

# expect_refusal CODE START PROCESSES OPTIONS...: of the one line that says why.
expect_refusal() {
  local expected=$1 text=$2 code=0
  shift 2
  run_mpi "$@" || code=$?
  [[ $code -eq $expected ]] || fail "exit code $code instead of $expected: $(cat "$folder/err.txt")"
  [[ $(grep -c "^$text" "$folder/err.txt") -eq 1 ]] ||
    fail "'$text' is not said once: $(cat "$folder/err.txt")"
  [[ ! -s $folder/out.txt ]] || fail "a report all the same"
}

"$here/mpirun.sh" 1 true || exit $?  # 77 without mpirun
"$moesim" execute "$scenario" "${options[@]}" --results "$folder/threads.txt" > /dev/null
[[ $(wc -l < "$folder/threads.txt") -gt 100 ]]
for processes in 4 2; do
  run_mpi "$processes" "$scenario" "${options[@]}" --json --results "$folder/mpi.txt" \
    --trace "$folder/trace.json" --svg "$folder/timeline.svg" || fail "$(cat "$folder/err.txt")"
  cmp "$folder/threads.txt" "$folder/mpi.txt"
  [[ $(grep -c '"iteration_seconds"' "$folder/out.txt") -eq 1 ]] || fail "not one report"
  grep -q '"traceEvents"' "$folder/trace.json"
  grep -q '</svg>' "$folder/timeline.svg"
  rm "$folder/mpi.txt" "$folder/trace.json" "$folder/timeline.svg"
done

expect_refusal 2 "the program's 4 ranks cannot be dealt out equally to 3 processes" \
  3 "$scenario" "${options[@]}"
expect_refusal 2 "no/such.txtpb: cannot read" 4 no/such.txtpb
expect_refusal 2 "the anchored clock needs planned ends" 4 "$scenario" \
  "${options[@]/raw/anchored}"
expect_refusal 2 ".*/none/t.json: there is no folder" \
  4 "$scenario" "${options[@]}" --trace "$folder/none/t.json"
# What a machine lacks for --backend cuda, one process says as well as four.
gpu=("$scenario" --schedule fsmoe --degree 2 --backend cuda)
code=0
"$moesim" execute "${gpu[@]}" > /dev/null 2> "$folder/alone.txt" || code=$?
if [[ $code -ne 0 ]]; then
  expect_refusal "$code" "$(cut -c 1-30 "$folder/alone.txt")" 4 "${gpu[@]}"
  [[ $(grep -c CUDA "$folder/err.txt") -eq 1 ]] || fail "$(cat "$folder/err.txt")"
fi
# Two processes with one Program, two with another.
expect_refusal 2 ".*: process 2 made another Program" \
  2 "$scenario" "${options[@]}" --transport mpi : \
  -np 2 "$moesim" execute "$scenario" "${options[@]}" --set model.hidden=32
[[ -z $(ls "$folder"/*.json "$folder"/*.svg 2> /dev/null) ]] || fail "leftovers"
