#!/usr/bin/env bash
# Runs every example of `tare --help` and of each `tare VERB --help` where the files they name exist.
#   help_examples.sh SOURCE_ROOT BUILD_ROOT
set -uo pipefail
source_root=$1
export PATH=$2:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# What examples call their files.
for name in model other before after; do cp "$source_root/tests/data/nets/ds_cnn/int8.pt2" $name.pt2; done
tare lower model.pt2 --target tosa-1.0+int -o model.tosa >log 2>&1 || cat log
header="{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 49, 10), }"
{
  printf '\x93NUMPY\x01\x00\x76\x00'
  printf '%-117s\n' "$header"
  head -c 490 /dev/zero
} >in_0.npy
tare run model.tosa --input in_0.npy -o out_ >log 2>&1 || cat log

# Lines below `Examples:`, without their indent.
examples() { awk '/^Examples:/ { on = 1; next } on && /^  tare / { print substr($0, 3); next } on { exit }'; }

count=0 failed=0
check() {
  local lines line
  lines=$("$@" --help | examples)
  [ -n "$lines" ] || { echo "$*: no example in its help"; failed=$((failed + 1)); }
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    count=$((count + 1))
    bash -c "$line" >log 2>&1 </dev/null && continue
    echo "$*: exit $? of: $line"
    head -5 log
    failed=$((failed + 1))
  done <<<"$lines"
}

check tare
for verb in $(tare --help | awk '/^Subcommands:/ { on = 1; next } on && /^  [a-z]/ { print $1 } on && /^$/ { exit }'); do
  check tare "$verb"
done
echo "examples $count, failed $failed"
[ "$failed" = 0 ] && [ "$count" -gt 15 ]
