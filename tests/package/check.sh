#!/bin/bash
# Installs Groma, and uses it from outside the tree in every way that we promise: find_package with all
# components and with one, from a prefix that was moved; pkg-config, also for a Legion program; each
# header alone; the example of embedding on its own; add_subdirectory; and find_package again with shared
# libraries.
#
#   bash tests/package/check.sh BUILD [all]
#
# BUILD is a finished build of Groma's (build/release). `all` also builds it statically in a folder.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/groma-package-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -r "$source/tests/package" "$work/consumer"
cp -r "$source/examples/embed" "$work/embed"
cd "$work"

say() { echo "-- package: $*"; }

quietly() {
  "$@" >"$work/log" 2>&1 || {
    cat "$work/log"
    echo "-- package: failed: $*"
    exit 1
  }
}

# consume NAME OPTION...: configures, builds and runs the consumer.
consume() {
  local name=$1
  shift
  say "$name"
  quietly cmake -S consumer -B "$name" -G Ninja "$@"
  quietly cmake --build "$name" -j "$(nproc)"
  quietly ctest --test-dir "$name" --no-tests=error --output-on-failure
}

# install_moved BUILD NAME: into a prefix that is then moved, to show that nothing remembers it.
install_moved() {
  quietly cmake --install "$1" --prefix "$work/before"
  mv "$work/before" "$work/$2"
  "$work/$2/bin/groma" --version >/dev/null
}

check_headers() {
  local prefix=$1 header compiler
  for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    say "each header alone, $compiler"
    for header in "$prefix"/include/groma/*.h; do
      echo "#include \"groma/$(basename "$header")\"" >"$work/alone_$(basename "$header" .h).cc"
    done
    find "$work" -maxdepth 1 -name 'alone_*.cc' -print0 |
      xargs -0 -n 1 -P "$(nproc)" "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
        -Werror -fsyntax-only -I"$prefix/include"
  done
  for header in legion_c starpu; do
    gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -x c - \
      <<<"#include \"groma/$header.h\""
  done
}

check_pkg_config() {
  local prefix=$1 pc
  say "pkg-config"
  pc=$(find "$prefix" -name groma.pc)
  export PKG_CONFIG_PATH=${pc%/*}
  [ "groma $(pkg-config --modversion groma)" = "$("$prefix/bin/groma" --version)" ]
  # shellcheck disable=SC2046  # a list of words
  g++ -std=c++20 consumer/use_inspect.cc -o by_pkg_config $(pkg-config --cflags --libs groma)
  ./by_pkg_config >/dev/null
  # Who uses one component needs nothing that only others need.
  # shellcheck disable=SC2046
  g++ -std=c++20 consumer/use_core.cc -o core_by_pkg_config $(pkg-config --cflags --libs groma-core)
  ./core_by_pkg_config >/dev/null
  if pkg-config --print-requires groma-core | grep -Ev '^fmt'; then
    echo "-- package: failed: groma-core requires more than fmt"
    return 1
  fi
}

# A shared library exports names of Groma only (cmake/exports.map).
check_exports() {
  local library foreign
  say "exported names"
  for library in $(find "$1" -name 'libgroma_*.so' -not -name '*no_driver*' -not -name '*preload*'); do
    if foreign=$(nm -DC --defined-only "$library" | grep -v groma); then
      printf -- '-- package: failed: %s exports\n%s\n' "$library" "$foreign"
      return 1
    fi
  done
}

# Where there is a Legion: the installed command finds the installed libraries.
check_run() {
  local prefix=$1 program=$build/tests/legion/groma_legion_stranger
  [ -x "$program" ] || return 0
  say "groma run --map"
  echo 'm = Machine(CPU); def first(Task task) { return m[0, 0]; } IndexTaskMap moved first;' >my.mapper
  quietly "$prefix/bin/groma" run --same tunable --map my.mapper -- "$program" plain -ll:cpu 2
  grep -q '^moved: 0 0 0 0$' log
}

# The same Legion program as in docs/legion.md, "Linked", without CMake. Only for the package of PyPI.
check_legion_by_pkg_config() {
  local prefix=$1 legion realm
  legion=$(sed -n 's/^Legion_LIBRARY:FILEPATH=//p' "$build/CMakeCache.txt")
  realm=$(sed -n 's/^Legion_REALM_LIBRARY:FILEPATH=//p' "$build/CMakeCache.txt")
  [ -f "$legion" ] && [ -f "$prefix/lib/pkgconfig/groma-legion.pc" ] || return 0
  say "groma-legion by pkg-config"
  # shellcheck disable=SC2046
  g++ -std=c++20 -isystem "${legion%/lib64/*}/include/legate/deps" consumer/use_legion.cc \
    $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs groma-legion) "$legion" "$realm" \
    -Wl,-rpath,"${legion%/*}" -Wl,--allow-shlib-undefined -o legion_by_pkg_config
  echo 'Task missing CPU;' >my.mapper
  LD_LIBRARY_PATH=$prefix/lib/groma/no_driver quietly ./legion_by_pkg_config -ll:cpu 1 -logfile stderr
  grep -q 'no task .missing. was launched' log
}

install_moved "$build" static
consume find_package -DCMAKE_PREFIX_PATH="$work/static"
consume find_core_without_hwloc -DCMAKE_PREFIX_PATH="$work/static" -DGROMA_WANTED=core \
  -DCMAKE_DISABLE_FIND_PACKAGE_hwloc=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON
check_headers "$work/static"
check_pkg_config "$work/static"
check_run "$work/static"
check_legion_by_pkg_config "$work/static"
say "examples/embed on its own"
quietly cmake -S embed -B embed-build -G Ninja -DCMAKE_PREFIX_PATH="$work/static"
quietly cmake --build embed-build

# Two in one, since both compile the library again: Groma as a folder of the consumer's build, and
# shared libraries, installed from there.
fast=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=)
if [ "${2:-}" = all ]; then # builds the library twice more
  consume add_subdirectory_shared -DGROMA_SOURCE="$source" "${fast[@]}" -DBUILD_SHARED_LIBS=ON \
    -DGROMA_INSTALL=ON -DGROMA_BUILD_DRIVER=ON
  install_moved add_subdirectory_shared shared
  check_exports "$work/shared"
  consume find_package_shared -DCMAKE_PREFIX_PATH="$work/shared" \
    -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwloc=ON \
    -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON
  consume add_subdirectory_static -DGROMA_SOURCE="$source" "${fast[@]}"
fi
say "all ways work"
