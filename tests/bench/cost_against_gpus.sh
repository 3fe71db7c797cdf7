#!/bin/bash
# What simulating costs against the number of GPUs: CPU time and memory of whole processes, from 64
# to 65,536 GPUs of DGX H100 nodes on a rail-optimised fat tree (SPRAY), folded, all NICs alike or
# one at half rate. Writes cost_against_gpus.csv and .svg. Needs GNU time (package time).
#
#   tests/bench/cost_against_gpus.sh [FOLDER]    # default: docs
set -euo pipefail
cd "$(dirname "$0")/../.."
out="${1:-docs}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cp topologies/dgx_h100.txtpb "$work/alike.txtpb"
{
  cat topologies/dgx_h100.txtpb
  echo 'changes { at: "node:5/nic:2" kind: NETWORK rate_factor: 0.5 }'
} > "$work/slow.txtpb"

# Mixtral-8x7B is the quickstart's model with all its layers; the other has DeepSeek-V3's sizes
# (arXiv 2412.19437, section 4.2) without its dense layers, shared expert and latent attention.
declare -A model=(
  [mixtral]="--set model.layers=32 --set parallel.ep=8"
  [deepseek]="--set model.layers=58 --set model.embedding=7168 --set model.hidden=2048
    --set model.heads=128 --set model.kv_heads=128 --set model.experts=256 --set model.top_k=8
    --set parallel.ep=64"
)
declare -A ep=([mixtral]=8 [deepseek]=64)

csv="$out/cost_against_gpus.csv"
echo "model,schedule,nics,gpus,classes,cpu_seconds,peak_megabytes" > "$csv"
for name in mixtral deepseek; do
  for schedule in fsmoe tutel; do
    for nics in alike slow; do
      for gpus in 64 256 1024 4096 16384 65536; do
        # shellcheck disable=SC2086
        /usr/bin/time -f '%U %S %M' -o "$work/time" build/release/moesim simulate \
          scenarios/quickstart.txtpb --cluster "$work/$nics.txtpb" --schedule "$schedule" \
          --degree 2 --set cluster.num_nodes=$((gpus / 8)) --set parallel.mp=1 \
          --set parallel.esp=1 --set parallel.edp=$((gpus / ep[$name])) ${model[$name]} \
          --json > "$work/result.json"
        read -r user system kilobytes < "$work/time"
        classes="$(sed -n 's/.*"num_classes": \([0-9]*\).*/\1/p' "$work/result.json")"
        awk -v row="$name,$schedule,$nics,$gpus,$classes" -v user="$user" -v sys="$system" \
          -v kb="$kilobytes" 'BEGIN { printf "%s,%.2f,%.0f\n", row, user + sys, kb / 1000 }' |
          tee -a "$csv" >&2
      done
    done
  done
done
awk -f tests/bench/cost_against_gpus.awk "$csv" > "$out/cost_against_gpus.svg"
