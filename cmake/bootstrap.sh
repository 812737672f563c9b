#!/bin/sh
# From a fresh clone to something that runs, on a bare Debian 12:
#
#   sh cmake/bootstrap.sh demo             builds the command, maps the examples
#   sh cmake/bootstrap.sh test             builds all but the benchmarks, runs the tests but the slow ones
#   sh cmake/bootstrap.sh legion           puts the Legion of the tests in place, nothing else
#   sh cmake/bootstrap.sh packages GROUP.. installs groups of cmake/packages.txt, nothing else
#
# Installs only packages that are missing. May be run again; what is done stays done.
#
# `test` wants Legion: yours when Legion_ROOT names it, else the package of cmake/legion.txt, which is
# kept in ~/.cache/groma (110 MB). GROMA_WITH_LEGION=OFF goes without.
set -eu
cd "$(dirname "$0")/.."
folder=build/release

say() { printf '\n== %s\n' "$*"; }
die() {
  printf 'bootstrap: %s\n' "$*" >&2
  exit 1
}

packages_of() { sed -n "s/^$1: *//p" cmake/packages.txt; }

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    die "these packages are missing:$missing
Install them as root, or install sudo, then run this again."
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" \
    apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

# install_packages GROUP...
install_packages() {
  wanted=
  for group in "$@"; do
    [ -n "$(packages_of "$group")" ] || die "cmake/packages.txt has no group '$group'"
    wanted="$wanted $(packages_of "$group")"
  done
  if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
    for tool in cmake ninja c++; do
      command -v "$tool" >/dev/null 2>&1 ||
        die "there is no '$tool' and no apt-get to install it with. Groma needs what these Debian
packages hold:$wanted"
    done
    say "no apt-get here; going on with what there is. Debian's names of what is needed:$wanted"
    return
  fi
  missing=
  for package in $wanted; do
    is_installed "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  say "installing:$missing"
  apt_get update
  # shellcheck disable=SC2086  # a list of words
  apt_get install -y --no-install-recommends $missing
}

# From the wheel $1 into the folder $2: the headers and the two libraries, a third of what is in it.
unpack_legion() {
  python3 -c '
import re, sys, zipfile
wanted = r"legate/(include/legate/deps/.*[^/]|lib64/lib(legion|realm)-legate[.]so[.][0-9]+)"
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if re.fullmatch(wanted, name):
            wheel.extract(name, sys.argv[2])
' "$1" "$2"
}

# Where there is no Legion yet, fetches the package of cmake/legion.txt to where
# cmake/GromaLegion.cmake looks. pip takes the index from its own settings and checks the hashes; the
# tags are those of the file's name and matter to Python alone.
install_legion() {
  [ -z "${Legion_ROOT:-}" ] || return 0
  version=$(sed -n 's/^legate==\([0-9.]*\).*/\1/p' cmake/legion.txt)
  cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/groma
  [ ! -d "$cache/legion-$version" ] || return 0
  install_packages legion
  say "fetching Legion (the package legate $version, 87 MB) to $cache/legion-$version"
  mkdir -p "$cache"
  fetched=$(mktemp -d "$cache/fetched-XXXXXX")
  trap 'rm -rf "$fetched"' EXIT
  python3 -m pip download --no-input --no-deps --only-binary=:all: --require-hashes \
    --python-version 3.11 --implementation cp --abi cp311 --platform "manylinux_2_28_$(uname -m)" \
    --dest "$fetched" --requirement cmake/legion.txt </dev/null ||
    die "pip could not fetch Legion. Set pip up for your network (pip config set global.index-url ...),
or name a Legion of your own in Legion_ROOT, or go without: GROMA_WITH_LEGION=OFF."
  unpack_legion "$fetched"/*.whl "$fetched"
  # Renamed when it is whole; another run may have been faster.
  mv -T "$fetched/legate" "$cache/legion-$version" 2>/dev/null || [ -d "$cache/legion-$version" ]
  rm -rf "$fetched"
  trap - EXIT
}

# As many compilers as there are cores, with 1 GiB for each.
job_count() {
  cores=$(nproc 2>/dev/null || echo 1)
  kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo 2>/dev/null)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  fit=$((${kib:-1048576} / 1048576))
  case $limit in
    '' | *[!0-9]*) ;;
    *) [ $((limit / 1073741824)) -ge "$fit" ] || fit=$((limit / 1073741824)) ;;
  esac
  [ "$fit" -ge 1 ] || fit=1
  [ "$fit" -le "$cores" ] || fit=$cores
  echo "$fit"
}

# configure OPTION...: warnings stop the build only with the compilers that we build with.
configure() {
  lenient=--compile-no-warning-as-error
  if grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release; then lenient=; fi
  cmake --preset release $lenient "$@"
}

build() { cmake --build "$folder" -j "$(job_count)" "$@"; }

# What `demo` shows: each line a command of groma.
demo_commands() {
  cat <<'END'
check dsl/mappers/block2d.mapper --machine p100x4:nodes=2
place dsl/mappers/block2d.mapper --machine p100x4:nodes=2 --task dgemm --domain 8x8
place dsl/strategies/strategy10.mapper --machine lassen:nodes=2 --task calculate_new_currents --domain 16
END
  for app in circuit stencil pennant cannon summa pumma johnson solomonik cosma; do
    echo "run dsl/mappers/$app.mapper --app $app"
    echo "run --app $app"
  done
  echo "tune --app solomonik --out $folder/tuned"
}

demo() {
  install_packages build
  say "building the command groma"
  if [ -f "$folder/build.ninja" ]; then
    configure
  else
    configure -DGROMA_BUILD_TESTS=OFF -DGROMA_BUILD_BENCHMARKS=OFF -DGROMA_WITH_LEGION=OFF
  fi
  build --target groma
  demo_commands | while read -r line; do
    say "groma $line"
    case $line in
      run*) lines=1 ;;  # the time; what it is made of follows
      tune*)
        lines=1000
        rm -rf "$folder/tuned" # of the demo before
        ;;
      *) lines=1000 ;;
    esac
    # shellcheck disable=SC2086  # the words of a command
    shown=$("$folder/examples/driver/groma" $line </dev/null) || die "groma $line failed"
    printf '%s\n' "$shown" | head -n $lines
  done
  say "the command is $folder/examples/driver/groma"
}

run_tests() {
  install_packages build test
  legion=${GROMA_WITH_LEGION:-ON}
  [ "$legion" = OFF ] || install_legion
  say "building all but the benchmarks"
  configure -DGROMA_BUILD_TESTS=ON -DGROMA_BUILD_BENCHMARKS=OFF "-DGROMA_WITH_LEGION=$legion"
  build
  say "running the tests, without those in tests/slow.txt"
  jobs=$(job_count) # more than cores: many tests wait for programs that they started
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$((jobs + jobs / 2))" \
    -E "$(grep -v '^#' tests/slow.txt | paste -sd '|' -)"
}

main() {
  case "${1:-}" in
    demo) demo ;;
    test) run_tests ;;
    legion) install_legion ;;
    packages)
      shift
      install_packages "$@"
      ;;
    *)
      sed -n 's/^#   //p' cmake/bootstrap.sh >&2
      exit 2
      ;;
  esac
}

# On one line, so that a script which changes while it runs (git pull) does no harm.
main "$@"; exit
