#!/bin/sh
# Usage: tests/gpu/pack.sh [DIR]
# Puts together what tests/gpu/run.sh needs on a machine with a GPU: moesim-execute, the Programs
# that it runs, and the script itself. In the repository's root, after a build with CUDA
# (docs/gpu.md).
set -eu
readonly build=${BUILD:-build/release}
readonly folder=${1:-$build/gpu_check}
readonly schedules='tutel deepspeed_moe tutel_improved fsmoe_no_iio fsmoe parm_s1 parm_s2 sp_moe'

mkdir -p "$folder/equality" "$folder/attention" "$folder/timing"
cp tests/gpu/attention.txtpb "$folder/attention"
cp "$build/carried/moesim-execute" tests/gpu/run.sh "$folder"
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
echo "$folder: $(ls "$folder/equality" "$folder/attention" "$folder/timing" |
  grep -c -e json -e txtpb) Programs"
