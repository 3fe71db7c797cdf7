#!/usr/bin/env bash
# hang.sh HANGING: a hang ends all processes with 1 and names the collective and who is missing.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
"$here/mpirun.sh" 1 true || exit $?  # 77 without mpirun
code=0
output=$("$here/mpirun.sh" 4 "$1" 2>&1) || code=$?
echo "$output"
echo "ended with $code"
[[ $code -eq 1 ]]
grep -q "collective 'lonely0' of group 'all', instance 0 (ranks 0, 1, 2, 3)" <<< "$output"
grep -q "rank 2, 3 did not arrive" <<< "$output"
