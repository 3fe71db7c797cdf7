#!/bin/sh
# Usage: tests/gpu/run.sh [--carried DIR] [--out FILE]
# The GPU check (docs/gpu.md): equality with the CPU backend, probes, fused attention, schedules on
# logical ranks of one GPU, and two processes with NCCL between them, in under eight minutes, into
# one JSON file, which `moesim validate gpu FILE` reads. With --carried it takes what
# tests/gpu/pack.sh put into DIR and needs nothing else but a driver, CUDA and NCCL; without, it
# builds in place first, which takes no time of the check. A part has a budget; one that overruns
# it is cut off, says so, and keeps what it has. When it is interrupted, it writes what it has.
# Exit codes: 0 all was measured, 1 a part failed or was cut off, 2 bad usage, 77 no GPU.
set -eu

refuse() {
  echo "$1" >&2
  exit 2
}

carried=
out=gpu_check.json
while [ $# -gt 0 ]; do
  case $1 in
    --carried | --out)
      [ $# -gt 1 ] || refuse "$1 takes a value; see the head of this script"
      [ "$1" = --out ] && out=$2 || carried=$2
      shift 2
      ;;
    --help)
      sed -n '/^# Usage/,/^set/{/^# /s/^# //p}' "$0"
      exit 0
      ;;
    *)
      refuse "no option $1; give --carried DIR or --out FILE"
      ;;
  esac
done
[ -n "$out" ] || refuse "--out takes the name of a file"
[ -d "$(dirname -- "$out")" ] || refuse "there is no folder $(dirname "$out"); make it first"
[ ! -d "$out" ] || refuse "$out is a folder; give --out a file"
[ -w "$(dirname "$out")" ] && { [ ! -e "$out" ] || [ -w "$out" ]; } ||
  refuse "$out cannot be written; give --out a file that can"
case $out in
  /*) ;;
  *) out=$PWD/$out ;;
esac

if [ -z "$carried" ] && [ -x "$(dirname "$0")/moesim-execute" ]; then
  carried=$(cd "$(dirname "$0")" && pwd)
fi
if [ -z "$carried" ]; then
  cd "$(dirname "$0")/../.."
  cmake --preset release -DMOESIM_CUDA=on ||
    refuse "it cannot be built here; .ci/install-packages installs what it needs on Debian 12 and
newer, or carry what was built elsewhere (docs/gpu.md)"
  cmake --build build/release --target moesim moesim-execute moesim-execute-carried
  tests/gpu/pack.sh build/release/gpu_check
  carried=build/release/gpu_check
fi
readonly execute=$carried/moesim-execute
[ -x "$execute" ] || refuse "$carried has no moesim-execute; make it with tests/gpu/pack.sh"

for folder in equality attention timing nccl; do
  [ -n "$(ls "$carried/$folder" 2> /dev/null)" ] ||
    refuse "$carried/$folder has no Programs; make it with tests/gpu/pack.sh"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
timeout -k 5 60 "$execute" --gpu-facts > "$work/facts" 2> "$work/error" || code=$?
if [ $code -ne 0 ]; then
  cat "$work/error" >&2
  [ $code -ne 1 ] || exit 77
  echo "$execute --gpu-facts ended with $code" >&2
  exit 1
fi

# A command in the background is waited for, so that an interrupt ends it at once.
child=
interrupted=
trap 'interrupted=yes; [ -z "$child" ] || kill "$child" 2> /dev/null || true' INT TERM HUP

# As a JSON string, in one line. What is no UTF-8, or was cut off within a character, is left out.
json() {
  printf '"%s"' "$(iconv -c -f UTF-8 -t UTF-8 | tr '\n\t' '  ' |
    sed 's/[[:cntrl:]]//g; s/\\/\\\\/g; s/"/\\"/g; s/ *$//')"
}

# The items of a list, a file each.
list() {
  separator=
  for item in "$@"; do
    [ -s "$item" ] || continue
    printf '%s' "$separator"
    cat "$item"
    separator=,
  done
}

count() { echo $#; }

now() { date +%s; }
left() { echo $((part_end - $(now))); }

begin() {  # NAME BUDGET PLANNED
  part=$1
  part_budget=$2
  part_planned=$3
  part_begin=$(now)
  part_end=$((part_begin + part_budget))
  part_status=DONE
  part_message=
  echo "$part, at most $2 s ..." >&2
}

worse() {  # STATUS MESSAGE: the first message stays
  [ "$part_status" = FAILED ] || part_status=$1
  [ -n "$part_message" ] || part_message=$2
}

# What the command said on standard error. Open MPI puts a block between lines of dashes around what
# it has to say itself, before or behind what its processes say: it counts where there is nothing
# else.
said() {
  sed '/^----*$/,/^----*$/d' "$work/error" > "$work/said"
  [ -s "$work/said" ] || cp "$work/error" "$work/said"
  head -c 300 "$work/said"
}

# Runs a command within what is left of the part; false where it did not end well, for the reason in
# run_message. has_failed: it ended by itself, and not well; what was cut off has no result.
run() {
  run_message=
  has_failed=false
  if [ -n "$interrupted" ]; then
    run_message="interrupted"
    worse CUT_OFF "$run_message"
    return 1
  fi
  seconds=$(left)
  if [ "$seconds" -le 0 ]; then
    run_message="cut off after $part_budget s"
    worse CUT_OFF "$run_message"
    return 1
  fi
  code=0
  # A driver that hangs may keep a process from ending at the first signal.
  timeout -k 5 "$seconds" "$@" > "$work/output" 2> "$work/error" &
  child=$!
  wait "$child" || code=$?
  if [ -n "$interrupted" ]; then
    wait "$child" || true
    code=1
    run_message="interrupted"
    worse CUT_OFF "$run_message"
  elif [ $code -eq 77 ]; then
    run_message=$(head -c 300 "$work/error")
    worse SKIPPED "$run_message"
  elif [ $code -eq 124 ] || { [ $code -eq 137 ] && [ "$(left)" -le 0 ]; }; then
    run_message="cut off after $part_budget s"
    worse CUT_OFF "$run_message"
  elif [ $code -ne 0 ]; then
    run_message="exit code $code: $(said)"
    has_failed=true
    worse FAILED "$run_message"
  fi
  child=
  return $code
}

end() {
  num_parts=$((num_parts + 1))
  {
    printf '{"name": "%s", "status": "%s", "seconds": %d, "budget_seconds": %d, ' \
      "$part" "$part_status" "$(($(now) - part_begin))" "$part_budget"
    printf '"num_planned": %d' "$part_planned"
    [ -z "$part_message" ] || printf ', "message": %s' "$(printf '%s\n' "$part_message" | json)"
    printf '}'
  } > "$work/part_$num_parts"
  [ "$part_status" = DONE ] || [ "$part_status" = SKIPPED ] || all_done=false
  echo "$part: $part_status${part_message:+: $part_message}" >&2
}

num_parts=0
all_done=true

# Compares a Program's results with those of the CPU backend: an entry of a list of the file.
compare() {  # LIST PROGRAM COMMAND...
  compared=$1
  program=$2
  shift 2
  name=$(basename "$program" .json)
  entry=$work/${compared}_$name
  printf '{"program": "%s", "num_ranks": %d' "${name#*_}" "${name%%_*}" > "$entry"
  : > "$work/gpu"  # what is not written is different
  if run "$@" "$program" --data integer --rounding exact --results "$work/gpu" --backend cuda &&
     run "$execute" "$program" --data integer --rounding exact --results "$work/cpu"; then
    different=$(diff "$work/cpu" "$work/gpu" | grep -c '^<' || true)
    printf ', "num_buffers": %d, "num_different": %d}' "$(grep -c . "$work/cpu")" "$different" \
      >> "$entry"
    [ "$different" -eq 0 ] || worse FAILED "$name: $different buffers differ from the CPU's"
  elif $has_failed; then
    printf ', "failure": %s}' "$(printf '%s\n' "$run_message" | json)" >> "$entry"
  else
    rm "$entry"
  fi
}

begin equality 80 "$(count "$carried"/equality/*.json)"
for program in "$carried"/equality/*.json; do
  compare equality "$program" "$execute"
done
end

begin probes 145 1
run "$execute" --gpu-probes "$work/probes_all" --budget 125 || true
end

begin queues 20 1
run "$execute" --gpu-probes "$work/probes_queues" --probe-set queues --hardware-queues 1 \
  --budget 14 || true
end

# In BF16, so that it is near to products and not equal.
begin attention 20 "$(count "$carried"/attention/*.txtpb)"
for program in "$carried"/attention/*.txtpb; do
  entry=$work/attention_$(basename "$program" .txtpb)
  if ! run "$execute" "$program" --backend cuda --compare-attention "$entry" &&
     $has_failed && [ ! -s "$entry" ]; then
    printf '{"program": "%s", "failure": %s}' "$(basename "$program" .txtpb)" \
      "$(printf '%s\n' "$run_message" | json)" > "$entry"
  fi
done
end

# Four ranks before eight, and probes before the schedules that are predicted from them: what is
# measured before it is cut off can be compared.
begin schedules 150 "$(count "$carried"/timing/*.json)"
for program in "$carried"/timing/4_probe_*.json "$carried"/timing/4_*.json \
  "$carried"/timing/8_probe_*.json "$carried"/timing/8_*.json; do
  name=$(basename "$program" .json)
  [ -e "$program" ] && [ ! -e "$work/program_$name" ] || continue
  run "$execute" "$program" --backend cuda --storage bf16 --warmup 1 --repeat 3 \
    --record "$work/program_$name" || true
done
end

readonly in_processes=$carried/moesim-execute-mpi

# Why two processes cannot be started here; nothing where they can.
reason_without_mpi() {
  if ! timeout -k 5 5 mpirun --version 2> /dev/null | grep -q 'Open MPI'; then
    echo 'no mpirun of Open MPI: install it to have two processes on the GPU'
  elif [ ! -x "$in_processes" ]; then
    echo "$carried has no moesim-execute-mpi: pack it where Open MPI is installed"
  elif ! timeout -k 5 5 "$in_processes" --version > /dev/null 2> "$work/error"; then
    echo "moesim-execute-mpi does not start: $(head -c 300 "$work/error")"
  fi
}

# Two processes share the GPU, which takes turns with them: NCCL runs, how fast says nothing. Last,
# since nothing else has to wait where it hangs. They see the first GPU alone, or each would take
# one of its own; --host keeps both on this machine, also in a job of several; each has a time
# limit, since mpirun puts them into process groups that outlive it where it is killed.
begin nccl 30 "$(count "$carried"/nccl/*.json)"
reason=$(reason_without_mpi)
if [ -n "$reason" ]; then
  worse SKIPPED "$reason"
else
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  visible=${CUDA_VISIBLE_DEVICES-0}
  export CUDA_VISIBLE_DEVICES="${visible%%,*}"
  for program in "$carried"/nccl/*.json; do
    compare nccl "$program" mpirun -np 2 --host localhost:2 --oversubscribe --bind-to none \
      timeout -k 5 "$(left)" "$in_processes" --transport mpi
  done
fi
end

rm -f "$work"/*.tmp  # of a file that was being written when its program was ended
{
  printf '{"version": %s,\n' "$("$execute" --version | sed 's/.* //' | json)"
  printf '"date": "%s",\n"environment": [' "$(date -u '+%Y-%m-%d %H:%M UTC')"
  separator=
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    printf '%s%s' "$separator" "$(printf '%s\n' "$line" | json)"
    separator=', '
  done < "$work/facts"
  printf '%s%s' "$separator" "$(uname -srm | json)"
  printf '],\n"parts": [%s],\n' "$(list "$work"/part_*)"
  printf '"equality": [%s],\n' "$(list "$work"/equality_*)"
  printf '"probes": ['
  list "$work"/probes_*
  printf '],\n"attention": ['
  list "$work"/attention_*
  printf '],\n"programs": ['
  list "$work"/program_*
  printf '],\n"nccl": ['
  list "$work"/nccl_*
  printf ']}\n'
} > "$work/result"
# Whole or not at all; what is no file cannot be replaced.
write_out() {
  if [ -e "$out" ] && [ ! -f "$out" ]; then
    cat "$work/result" > "$out"
  else
    cp "$work/result" "$out.new" && mv "$out.new" "$out"
  fi
}
if ! write_out; then
  rm -f "$out.new"
  trap - EXIT
  echo "$out cannot be written; what was measured is in $work/result" >&2
  exit 1
fi
echo "$out: where this was built, in the repository's root, build/release/moesim validate gpu says
what it means" >&2
$all_done
