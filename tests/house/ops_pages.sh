#!/usr/bin/env bash
# docs/ops.md and docs/ops/ are what `tare ops --markdown` makes of the rows.
#   ops_pages.sh SOURCE_ROOT BUILD_ROOT
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$2/tare" ops --markdown -o "$scratch" || exit 1
if ! { diff "$1/docs/ops.md" "$scratch/ops.md" && diff -r "$1/docs/ops" "$scratch/ops"; } >"$scratch/diff"; then
  head -20 "$scratch/diff"
  echo "docs/ops.md is not what the rows give; run: ninja -C build docs"
  exit 1
fi
