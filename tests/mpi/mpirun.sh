#!/usr/bin/env bash
# mpirun.sh N COMMAND...: N processes of this machine, more than it has cores if need be. Exits with
# 77 where there is no mpirun.
set -euo pipefail

if ! command -v mpirun > /dev/null; then
  echo "mpirun is missing: install openmpi-bin" >&2
  exit 77
fi

processes=$1
shift
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# What Open MPI itself keeps until the end is none of our leaks.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
# Only our own code is instrumented.
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}ignore_noninstrumented_modules=1"
exec mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl self,vader \
  --mca btl_vader_single_copy_mechanism none -np "$processes" "$@"
