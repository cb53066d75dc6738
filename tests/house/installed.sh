#!/usr/bin/env bash
# Installs the build into a scratch prefix and builds consumers against it: with pkg-config, shared and
# static, and with Meson. Checks that the shared library exports the public names only.
#   installed.sh SOURCE_ROOT BUILD_ROOT
set -euo pipefail
source_root=$1 build_root=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$source_root/tests/data/nets/ds_cnn/train.pt2
consumer=$source_root/tests/house/consumer

DESTDIR=$scratch/root meson install -C "$build_root" --no-rebuild --quiet
pc=$(find "$scratch/root" -name tare.pc)
prefix=$(cd "$(dirname "$pc")" && cd "$(pkg-config --with-path="$(dirname "$pc")" --variable=prefix tare 2>/dev/null)" && pwd)
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$pc")
libdir=$(dirname "$(find "$scratch/root" -name libtare.so)")
export LD_LIBRARY_PATH=$libdir

echo "--- the command"
"$prefix/bin/tare" --version

echo "--- exported names"
others=$(nm -DC --defined-only "$libdir/libtare.so" | awk '{ $1 = $2 = ""; print }' |
  grep -Ev '^ +(tare::|tare_|(vtable|typeinfo|typeinfo name|VTT|guard variable) for tare::|TARE_)' || true)
[ -z "$others" ] || { echo "exported beside the public API:"; echo "$others" | head -20; exit 1; }
[ -z "$(find "$prefix/include" -name '*_internal.h')" ]

echo "--- C++, shared"
flags="-std=c++20 -Wall -Wextra -Werror"
# shellcheck disable=SC2046
c++ $flags "$consumer/consumer.cc" -o "$scratch/shared" $(pkg-config --cflags --libs tare)
"$scratch/shared" "$program"
ldd "$scratch/shared" | grep libtare.so >/dev/null  # all of it is read: who writes must not find the pipe closed

echo "--- C++, static"
# shellcheck disable=SC2046
c++ $flags "$consumer/consumer.cc" -o "$scratch/static" \
  $(pkg-config --cflags --libs --static tare | sed 's/-ltare\b/-l:libtare.a/')
env -u LD_LIBRARY_PATH "$scratch/static" "$program"
if ldd "$scratch/static" | grep libtare.so >/dev/null; then exit 1; fi

echo "--- C"
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$consumer/consumer.c" -o "$scratch/c" $(pkg-config --cflags --libs tare)
"$scratch/c" "$program"

echo "--- every public header compiles alone"
for header in $(cd "$prefix/include" && find tare -name '*.h'); do
  # shellcheck disable=SC2046
  echo "#include \"$header\"" | c++ $flags -fsyntax-only -x c++ - $(pkg-config --cflags tare)
done

echo "--- Meson"
meson setup "$scratch/meson" "$consumer" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
ninja -C "$scratch/meson" --quiet
"$scratch/meson/consumer_cpp" "$program"
