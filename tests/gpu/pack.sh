#!/bin/sh
# Usage: tests/gpu/pack.sh [DIR]
# Puts together what tests/gpu/run.sh needs on a machine with a GPU: moesim-execute, the Programs
# that it runs, and the script itself. After a build with CUDA (docs/gpu.md).
set -eu
case ${1:-} in
  -*)
    sed -n '/^# Usage/,/^set/{/^# /s/^# //p}' "$0"
    exit 2
    ;;
  '' | /*) ;;
  *) set -- "$PWD/$1" ;;
esac
cd "$(dirname "$0")/../.."
readonly build=${BUILD:-build/release}
readonly folder=${1:-$build/gpu_check}
readonly schedules='tutel deepspeed_moe tutel_improved fsmoe_no_iio fsmoe parm_s1 parm_s2 sp_moe'

readonly execute=$build/carried/moesim-execute
if [ ! -x "$execute" ] || [ ! -x "$build/moesim" ]; then
  echo "$build lacks moesim or carried/moesim-execute; cmake --build $build --target moesim" \
    "moesim-execute moesim-execute-carried" >&2
  exit 2
fi
if "$execute" --gpu-facts 2>&1 | grep -q 'no CUDA backend'; then
  echo "$build was built without CUDA; cmake --preset release -DMOESIM_CUDA=on, and build" >&2
  exit 2
fi
# None of an earlier build is left: the check would measure it, and nobody could read the result.
rm -f "$folder/moesim-execute-mpi" "$folder"/equality/*.json "$folder"/timing/*.json \
  "$folder"/nccl/*.json "$folder"/attention/*.txtpb
mkdir -p "$folder/equality" "$folder/attention" "$folder/timing" "$folder/nccl"
cp tests/gpu/attention.txtpb "$folder/attention"
cp "$execute" tests/gpu/run.sh "$folder"
# Processes need Open MPI, which the carried one does without.
if objdump -p "$build/moesim-execute" | grep -q 'NEEDED *libmpi'; then
  cp "$build/moesim-execute" "$folder/moesim-execute-mpi"
fi
for ranks in 4 8; do
  # Two nodes of half the ranks; integer data and small, so that the CPU computes the same at once.
  for schedule in $schedules; do
    "$build/moesim" program scenarios/crosscheck.txtpb --schedule "$schedule" --degree 2 \
      --set "cluster.gpus_per_node=$((ranks / 2))" --out "$folder/equality/${ranks}_$schedule.json"
    "$build/moesim" program "scenarios/gpu_check_$ranks.txtpb" --schedule "$schedule" --degree 2 \
      --out "$folder/timing/${ranks}_$schedule.json"
  done
  mkdir -p "$folder/probes_$ranks"
  "$build/moesim" calibrate "scenarios/gpu_check_$ranks.txtpb" --probes "$folder/probes_$ranks" \
    > /dev/null
  for probe in "$folder/probes_$ranks"/*.json; do
    mv "$probe" "$folder/timing/${ranks}_$(basename "$probe")"
  done
  rmdir "$folder/probes_$ranks"
done
# Two ranks, a process each.
for schedule in deepspeed_moe tutel fsmoe parm_s1 parm_s2 sp_moe; do
  "$build/moesim" program scenarios/crosscheck_raw.txtpb --schedule "$schedule" --degree 2 \
    --profile calibration/profiles/logical_gpu.txtpb --out "$folder/nccl/2_$schedule.json"
done
echo "$folder: $(ls "$folder/equality" "$folder/attention" "$folder/timing" "$folder/nccl" |
  grep -c -e json -e txtpb) Programs"
