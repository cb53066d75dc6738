#!/bin/sh
# Installs C++ headers below include/tare, their includes made to start there: "ir/graph.h" of the
# source tree is "tare/ir/graph.h" for a user.
#   install_headers.sh INCLUDEDIR HEADER...
set -eu
target=$MESON_INSTALL_DESTDIR_PREFIX/$1/tare
shift
for header in "$@"; do
  name=${header##*/src/}
  name=${name##*/include/tare/}
  mkdir -p "$target/$(dirname "$name")"
  sed 's#^\#include "\(ir\|meta\|passes\|formats\)/#\#include "tare/\1/#' "$header" >"$target/$name"
  chmod 644 "$target/$name"
done
