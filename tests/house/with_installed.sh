#!/usr/bin/env bash
# Runs a command with the build installed into a scratch prefix: tare on PATH, pkg-config finding it.
#   with_installed.sh BUILD_ROOT COMMAND...
set -euo pipefail
build_root=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DESTDIR=$scratch meson install -C "$build_root" --no-rebuild --quiet
PKG_CONFIG_PATH=$(dirname "$(find "$scratch" -name tare.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$scratch" -name libtare.so)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
"$@"
