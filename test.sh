#!/usr/bin/env bash
# Installs what is missing, builds a release and runs every test. Arguments go to ctest:
#   ./test.sh -L unit        ./test.sh -R Verifier
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

.ci/install-packages
cmake --preset release --log-level=WARNING
cmake --build --preset release --parallel "$(nproc)"
ctest --preset release --parallel "$(nproc)" "$@"
