#!/usr/bin/env bash
# Builds a project that has tare as a Meson subproject: dependency('tare') through a wrap file.
#   subproject.sh SOURCE_ROOT
set -euo pipefail
source_root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$source_root/tests/house/consumer" "$scratch/consumer"
mkdir "$scratch/consumer/subprojects"
ln -s "$source_root" "$scratch/consumer/subprojects/tare"
cat >"$scratch/consumer/subprojects/tare.wrap" <<'WRAP'
[wrap-file]
directory = tare

[provide]
dependency_names = tare
WRAP
meson setup "$scratch/build" "$scratch/consumer" --buildtype=plain >"$scratch/log" || { cat "$scratch/log"; exit 1; }
ninja -C "$scratch/build" --quiet consumer_cpp consumer_c
"$scratch/build/consumer_cpp" "$source_root/tests/data/nets/ds_cnn/train.pt2"
"$scratch/build/consumer_c" "$source_root/tests/data/nets/ds_cnn/train.pt2"
