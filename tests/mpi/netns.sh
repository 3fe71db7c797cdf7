#!/usr/bin/env bash
# Runs a command across network namespaces of this machine whose links the kernel rate-limits: real
# TCP over a network of a known rate.
#
#   tests/mpi/netns.sh run [--nodes N] [--rate RATE] [--burst SIZE] COMMAND [ARGUMENTS...]
#   tests/mpi/netns.sh clean
#
# `run` makes N namespaces (default 4), joins them by a bridge, limits what each sends to RATE
# (default 100mbit) with a token bucket (tc tbf) of SIZE (default 64kb; take 256kb or more from
# 500mbit on, or timers eat the rate), and starts COMMAND under mpirun as one process in each. It is
# a prefix for moesim-execute:
#
#   tests/mpi/netns.sh run build/release/moesim-execute program.json --transport mpi --trace t.json
#
# Files lie where the command says: namespaces share this machine's disk. Needs root, ip, tc and
# mpirun; without them it says so and exits with 77. Above 1gbit the machine, not the bucket, is the
# limit; messages must be much longer than the bucket to feel the rate.
#
# Only one runs at a time: a second waits. Everything made is removed at the end, whatever ended it;
# what a run left behind that was killed outright (SIGKILL) is removed by the next one, or by
# `clean`.
set -euo pipefail

readonly bridge=moesim-br
readonly prefix=moesim-node
readonly port_prefix=moesim-v
readonly subnet=10.77.0
readonly lock=/run/lock/moesim-netns.lock

nodes=4
rate=100mbit
burst=64kb
scratch=
job=

skip() {
  echo "netns.sh: $1" >&2
  exit 77
}

check_machine() {
  [[ $(id -u) -eq 0 ]] || skip "making network namespaces needs root"
  local tool
  for tool in ip tc mpirun flock; do
    command -v "$tool" > /dev/null || skip "$tool is missing: install openmpi-bin and iproute2"
  done
}

# Before anything else is made.
check_permission() {
  ip netns add "$prefix-probe" 2> /dev/null || skip "this machine allows no network namespaces"
  local enters=true
  ip netns exec "$prefix-probe" true 2> /dev/null || enters=false
  ip netns del "$prefix-probe"
  $enters || skip "no process can enter a network namespace here (/ must be a mount point)"
}

# What this script makes has names of its own, so that it can be found whoever left it behind.
clean() {
  local name pid
  [[ -z $job ]] || kill "$job" 2> /dev/null || true
  for name in $(ip netns list | awk -v prefix="$prefix" 'index($1, prefix) == 1 { print $1 }'); do
    for pid in $(ip netns pids "$name"); do
      kill -KILL "$pid" 2> /dev/null || true
    done
    ip netns del "$name" || true
  done
  # The kernel takes its time to remove what was in a namespace; one end of a pair takes the other
  # along at once.
  for name in $(ip -o link | awk -F '[ :@]+' -v prefix="$port_prefix" \
    'index($2, prefix) == 1 { print $2 }'); do
    ip link del "$name" 2> /dev/null || true
  done
  ip link del "$bridge" 2> /dev/null || true
  [[ -z $scratch ]] || rm -rf "$scratch"
}

add_node() {
  local name=$prefix$1 port=$port_prefix$1
  ip netns add "$name"
  ip link add "$port" mtu 9000 type veth peer name eth0 mtu 9000 netns "$name"
  ip link set "$port" master "$bridge" up
  ip -n "$name" addr add "$subnet.$(($1 + 1))/24" dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" link set lo up
  # A connection that was idle for a while shall not start slowly again: training traffic is bursty.
  ip netns exec "$name" sh -c 'echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle'
  tc -n "$name" qdisc add dev eth0 root tbf rate "$rate" burst "$burst" limit 2mb
}

make_network() {
  ip link add "$bridge" type bridge
  ip addr add "$subnet.254/24" dev "$bridge"
  ip link set "$bridge" up
  local node
  for ((node = 0; node < nodes; ++node)); do
    add_node "$node"
  done
}

# mpirun reaches a node by "agent NODE COMMAND...", as it would with ssh.
write_agent() {
  cat > "$scratch/agent" << 'AGENT'
#!/bin/sh
node=$1
shift
exec ip netns exec "$node" unshare --uts sh -c "hostname $node; $*"
AGENT
  chmod +x "$scratch/agent"
}

start() {
  local hosts="" node
  for ((node = 0; node < nodes; ++node)); do
    hosts+="${hosts:+,}$prefix$node:1"
  done
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  exec mpirun \
    --mca plm rsh --mca plm_rsh_agent "$scratch/agent" --mca plm_rsh_no_tree_spawn 1 \
    --mca oob_tcp_if_include "$subnet.0/24" --mca btl_tcp_if_include "$subnet.0/24" \
    --mca btl tcp,self --mca btl_tcp_sndbuf 65536 --mca btl_tcp_rcvbuf 65536 \
    --mca mpi_yield_when_idle 1 --bind-to none --host "$hosts" -np "$nodes" "$@"
}

run() {
  while [[ ${1:-} == --* ]]; do
    case $1 in
      --nodes) nodes=$2 ;;
      --rate) rate=$2 ;;
      --burst) burst=$2 ;;
      *) usage ;;
    esac
    shift 2
  done
  [[ $# -gt 0 ]] || usage
  check_machine
  exec 9> "$lock"
  flock 9
  clean
  check_permission
  scratch=$(mktemp -d)
  trap clean EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  make_network
  write_agent
  # In the background, so that a signal is acted upon at once.
  start "$@" 9>&- &
  job=$!
  wait "$job"
}

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

case ${1:-} in
  run)
    shift
    run "$@"
    ;;
  clean)
    check_machine
    clean
    ;;
  *) usage ;;
esac
