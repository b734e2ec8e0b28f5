#!/bin/sh
# Counts the instructions that a packet-hop takes: engine, link and forwarding, and a tenth of a
# UDP flow. The count does not depend on how busy the machine is. Fails above the limits.
#
#   benches/instructions.sh [PLANNED_LIMIT [ASKED_LIMIT]]
set -eu
cd "$(dirname "$0")/.."
if ! command -v valgrind >/dev/null; then
    echo "skipped: valgrind is not installed"
    exit 0
fi
cargo build --quiet --profile fast -p lasthop-bench --example hops
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints instructions and hops of a run of so many seconds.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" \
        target/fast/examples/hops "$1" "$2" >"$work/hops" 2>"$work/log"
    echo "$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$work/log") $(cat "$work/hops")"
}

# Prints what a hop takes. The difference of two runs is without their set-up.
check() {
    echo "$(count "$1" 1) $(count "$1" 3)" | awk -v queue="$1" -v limit="$2" '{
        each = ($3 - $1) / ($4 - $2)
        printf "%s: %.1f instructions per packet-hop (limit %d)\n", queue, each, limit
        exit each > limit
    }'
}

check planned "${1:-750}"
check asked "${2:-1450}"
