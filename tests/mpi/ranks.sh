#!/usr/bin/env bash
# ranks.sh RANKS: a rank on each process, with an executor of its own kind.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
"$here/mpirun.sh" 1 true || exit $?  # 77 without mpirun

output=$("$here/mpirun.sh" 3 "$1" run 2>&1)
echo "$output"
grep -q "^3 spans" <<< "$output"
# Rank 0 said 100; the latest of the three ends at 1002 ps, as all are told.
for rank in 0 1 2; do
  grep -q "rank $rank has 10$rank" <<< "$output"
  grep -q "place $rank of 3" <<< "$output"
done
# Each heard all, whose words are of different lengths, one empty.
[[ $(grep -c "here: ()(x)(xx)$" <<< "$output") -eq 3 ]]
[[ $(grep -c "end 1002 ps" <<< "$output") -eq 6 ]]
[[ $(grep -c "closed" <<< "$output") -eq 6 ]]  # two Programs

# ends CODE TEXT PROCESSES MODE: all end with the code, and the text is said.
ends() {
  local code=0
  output=$("$here/mpirun.sh" "$3" "$ranks" "$4" 2>&1) || code=$?
  echo "$output"
  [[ $code -eq $1 ]]
  grep -q "$2" <<< "$output"
}
ranks=$1
ends 1 "instance 0 (ranks 0, 1, 2): rank 2 did not arrive" 3 hang
ends 1 "rank 2 has a broken link" 3 fail
ends 2 "each of which needs a process; start 3 of them" 2 run
