#!/bin/sh
# The same bytes from every build: runs random scenarios with other optimisation levels and with another C library, and compares
# the digests of their tables. `tests/same_bytes.sh [COUNT]`, 50 by default. What cannot be built here is left out, and said.
set -eu
cd "$(dirname "$0")/.."
count=${1:-50}
out=target/same-bytes
mkdir -p "$out"

# NAME and the arguments of cargo: the digests, into a file of that name.
digests() {
    name=$1
    shift
    echo "$name" >&2
    cargo run --quiet -p lasthop-core --example digests "$@" -- "$count" >"$out/$name"
}

digests released --profile fast
# Without debug assertions: what they keep beside a flow counts in its `state_bytes`.
digests unoptimised --profile dev --config profile.dev.debug-assertions=false
set -- unoptimised
target=x86_64-unknown-linux-musl
if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    digests musl --profile fast --target "$target"
    set -- "$@" musl
else
    echo "left out: musl (rustup target add $target)" >&2
fi
for other in "$@"; do
    diff "$out/released" "$out/$other"
done
echo "$count scenarios: the same bytes in $# other builds ($*)"
