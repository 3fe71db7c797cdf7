#!/usr/bin/env bash
# Installs what is missing, builds moesim, compares all schedules on one scenario and draws the
# simulated iteration: ./quickstart.sh [SCENARIO]
# The first run compiles for some minutes, and uses sudo where packages are missing.
set -euo pipefail
# A relative path is the caller's: settle it before leaving the caller's folder.
scenario=${1:+$(realpath -- "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")"
scenario=${scenario:-scenarios/quickstart.txtpb}

.ci/install-packages
cmake --preset release --log-level=WARNING
cmake --build --preset release --parallel "$(nproc)" --target moesim

out=build/quickstart
mkdir -p "$out"
build/release/moesim compare "$scenario"
echo
build/release/moesim simulate "$scenario" --schedule fsmoe \
  --trace "$out/trace.json" --svg "$out/timeline.svg"
echo
echo "Trace:   $PWD/$out/trace.json (open in https://ui.perfetto.dev)"
echo "Picture: $PWD/$out/timeline.svg (open in a browser)"
