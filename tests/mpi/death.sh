#!/usr/bin/env bash
# death.sh EXECUTE SIGNAL VICTIM [PREFIX...]: one process of 4 gets the signal in the middle of a
# run of two minutes; within ten seconds the others have ended, with a message, and mpirun with a
# failure. KILL ends it; STOP leaves a process that says nothing, which only the signs of life show.
# PREFIX starts four processes of a command: mpirun.sh 4 where it is not given.
set -euo pipefail

readonly bound_ms=10000
execute=$1
signal=$2
victim=$3
shift 3
here=$(dirname "${BASH_SOURCE[0]}")
prefix=("$@")
[[ $# -gt 0 ]] || prefix=("$here/mpirun.sh" 4)
folder=$(mktemp -d)
job=

now_ms() {
  date +%s%3N
}

# The processes of the run, by rank: "0 PID".
processes() {
  cat "$folder"/process.* 2> /dev/null || true
}

end() {
  local rank pid
  # Only what is still this run's.
  processes | while read -r rank pid; do
    if grep -qs "$folder" "/proc/$pid/cmdline"; then
      kill -KILL "$pid" 2> /dev/null || true
    fi
  done
  [[ -z $job ]] || kill -TERM "$job" 2> /dev/null || true
  [[ -z $job ]] || wait "$job" || true
  rm -rf "$folder"
}
trap end EXIT

# Under way is a process whose courier has had the time to be heard of by all.
wait_until_under_way() {
  local deadline=$(($(now_ms) + 90000)) rank pid
  for rank in 0 1 2 3; do
    until pid=$(cut -d ' ' -f 2 "$folder/process.$rank" 2> /dev/null) &&
      cat "/proc/$pid"/task/*/comm 2> /dev/null | grep -q '^courier$'; do
      if ! kill -0 "$job" 2> /dev/null || [[ $(now_ms) -gt $deadline ]]; then
        echo "the run did not begin:" >&2
        cat "$folder/out.txt" >&2
        return 1
      fi
      sleep 0.1
    done
  done
  sleep 4
}

cat > "$folder/program.json" << 'PROGRAM'
{"name": "long", "num_ranks": 4,
 "groups": [{"name": "all", "members": [{"ranks": [0, 1, 2, 3]}]}],
 "tasks": [
  {"name": "work", "stream": "compute", "fixed": {"time": "120 s"}},
  {"name": "meet", "stream": "inter", "waits": ["work"],
   "collective": {"operation": "ALL_TO_ALL", "group": "all", "bytes": "1 MiB"}}]}
PROGRAM
# Notes its rank and process, then becomes what is tested.
cat > "$folder/start" << START
#!/bin/sh
echo "\$OMPI_COMM_WORLD_RANK \$\$" > "$folder/process.\$OMPI_COMM_WORLD_RANK"
exec "\$@"
START
chmod +x "$folder/start"

"${prefix[@]}" true || exit $?  # 77 where it cannot be
"${prefix[@]}" "$folder/start" "$execute" "$folder/program.json" --transport mpi \
  > "$folder/out.txt" 2>&1 &
job=$!
wait_until_under_way
begin=$(now_ms)
if ! kill -"$signal" "$(cut -d ' ' -f 2 "$folder/process.$victim")"; then
  echo "the run ended by itself:" >&2
  cat "$folder/out.txt" >&2
  exit 1
fi

# How long it takes until the message, and until mpirun has ended.
said_ms=
while kill -0 "$job" 2> /dev/null; do
  took_ms=$(($(now_ms) - begin))
  if [[ -z $said_ms ]] &&
    grep -Eq 'has not been heard of|exited on signal' "$folder/out.txt"; then
    said_ms=$took_ms
  fi
  if [[ $took_ms -gt 60000 ]]; then
    echo "still there after $took_ms ms" >&2
    exit 1
  fi
  sleep 0.05
done
code=0
wait "$job" || code=$?
job=
took_ms=$(($(now_ms) - begin))
cat "$folder/out.txt"
if grep -Eq 'has not been heard of|exited on signal' "$folder/out.txt"; then
  said_ms=${said_ms:-$took_ms}
fi
echo "message after ${said_ms:-no} ms, ended with $code after $took_ms ms"
[[ $code -ne 0 && -n $said_ms && $said_ms -le $bound_ms && $took_ms -le $bound_ms ]]
if [[ $signal == STOP ]]; then
  grep -q "process $victim of 4 has not been heard of" "$folder/out.txt"
fi
while read -r rank pid; do
  if grep -qs "$folder" "/proc/$pid/cmdline"; then
    echo "process $rank is still there" >&2
    exit 1
  fi
done < <(processes)
