#!/usr/bin/env bash
# death.sh EXECUTE SIGNAL: process 2 of 4 gets the signal in the middle of a run of
# two minutes; the others end soon, with a message, and mpirun with a failure. KILL ends it; STOP
# leaves a process that says nothing, which only the signs of life show.
set -euo pipefail

execute=$1
signal=$2
here=$(dirname "${BASH_SOURCE[0]}")
folder=$(mktemp -d)
job=
trap '[[ -z $job ]] || kill -KILL "$job" 2> /dev/null; rm -rf "$folder"' EXIT

cat > "$folder/program.json" << 'PROGRAM'
{"name": "long", "num_ranks": 4,
 "groups": [{"name": "all", "members": [{"ranks": [0, 1, 2, 3]}]}],
 "tasks": [
  {"name": "work", "stream": "compute", "fixed": {"time": "120 s"}},
  {"name": "meet", "stream": "inter", "waits": ["work"],
   "collective": {"operation": "ALL_TO_ALL", "group": "all", "bytes": "1 MiB"}}]}
PROGRAM

"$here/mpirun.sh" 1 true || exit $?  # 77 without mpirun
"$here/mpirun.sh" 4 sh -c "echo \$OMPI_COMM_WORLD_RANK \$\$ >> '$folder/processes'
  exec '$execute' '$folder/program.json' --transport mpi" > "$folder/out.txt" 2>&1 &
job=$!
while [[ ! -f $folder/processes || $(wc -l < "$folder/processes") -lt 4 ]]; do
  sleep 0.1
done
sleep 2
victim=$(awk '$1 == 2 { print $2 }' "$folder/processes")
kill -"$signal" "$victim"
SECONDS=0
if [[ $signal == STOP ]]; then
  # mpirun may wait for long until a stopped process ends: help it once the others have noticed.
  while kill -0 "$job" 2> /dev/null && ! grep -q 'has not been heard of' "$folder/out.txt"; do
    sleep 0.2
  done
  kill -KILL "$victim" 2> /dev/null || true
fi
code=0
wait "$job" || code=$?
took=$SECONDS
job=
cat "$folder/out.txt"
echo "ended with $code after $took s"
[[ $code -ne 0 && $took -lt 110 ]]  # the program alone takes two minutes
if [[ $signal == STOP ]]; then
  grep -q 'has not been heard of' "$folder/out.txt"
else
  grep -Eq 'has not been heard of|exited on signal' "$folder/out.txt"
fi
