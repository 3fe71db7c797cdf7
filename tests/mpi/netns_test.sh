#!/usr/bin/env bash
# netns_test.sh EXECUTE: across rate-limited namespaces a Program leaves the bytes that threads
# leave, its trace is there, the death of a process ends the others, and nothing of the network
# stays behind, also after a run that was killed outright.
set -euo pipefail

execute=$1
here=$(dirname "${BASH_SOURCE[0]}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/program.json" << 'PROGRAM'
{"name": "sum", "num_ranks": 4,
 "groups": [{"name": "all", "members": [{"ranks": [0, 1, 2, 3]}]}],
 "tensors": [{"name": "x", "rows": 1000, "columns": 64, "dtype": "FP32", "input": true},
             {"name": "y", "rows": 1000, "columns": 64, "dtype": "FP32"}],
 "tasks": [
  {"name": "sum", "stream": "inter", "reads": [{"tensor": "x"}], "writes": [{"tensor": "y"}],
   "collective": {"operation": "ALL_REDUCE", "group": "all"}}]}
PROGRAM

run() {
  "$here/netns.sh" run "$execute" "$folder/program.json" --transport mpi "$@"
}

leftovers() {
  ip netns list | grep '^moesim-' || ip link | grep 'moesim-'
}

"$execute" "$folder/program.json" --results "$folder/threads.txt" > /dev/null
run --results "$folder/mpi.txt" --trace "$folder/trace.json" || exit $?  # 77 where it cannot be
cmp "$folder/threads.txt" "$folder/mpi.txt"
grep -q '"end_picoseconds"' "$folder/trace.json"
if leftovers; then
  echo "the network is still there" >&2
  exit 1
fi

for signal in KILL STOP; do
  "$here/death.sh" "$execute" "$signal" 2 "$here/netns.sh" run
  if leftovers; then
    echo "the network is still there after a process got $signal" >&2
    exit 1
  fi
done

"$here/netns.sh" run "$execute" "$folder/program.json" --transport mpi --repeat 100000 \
  > /dev/null 2>&1 &
sleep 3
kill -KILL "$!"
wait "$!" || true
leftovers > /dev/null
run > /dev/null
if leftovers; then
  echo "the network of a killed run is still there" >&2
  exit 1
fi
