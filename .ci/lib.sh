# shellcheck shell=bash
# What .ci/run and .ci/full share: stages with banners, the tree's own files, the checks themselves.
# Sourced by bash from the root of the tree.

cores=$(nproc)
started=$SECONDS
stage_name=
stage_started=$SECONDS

# The names of the stages that ended with kUnfinished, quoted for a shell.
unfinished=
kUnfinished=75 # EX_TEMPFAIL of sysexits.h

# stage NAME COMMAND...: runs it under a banner. The first failure ends the run. A stage that ends with
# kUnfinished wants to be run again; the run goes on with the next stage.
stage() {
  local status
  stage_name=$1
  stage_started=$SECONDS
  shift
  printf '\n======== %s\n' "$stage_name"
  set +e
  (
    set -e
    "$@" </dev/null
  )
  status=$?
  set -e
  case $status in
    0) printf -- '-------- %s: passed in %d s\n' "$stage_name" $((SECONDS - stage_started)) ;;
    "$kUnfinished")
      unfinished+=" $(printf %q "$stage_name")"
      printf -- '-------- %s: not finished after %d s, run it again\n' "$stage_name" \
        $((SECONDS - stage_started))
      ;;
    *) exit "$status" ;;
  esac
}

on_exit() {
  local status=$? what=FAILED
  case $status in
    0 | "$kUnfinished") exit "$status" ;;
    130) what="BROKEN OFF" ;;
  esac
  printf '\n######## %s in: %s (after %d s)\n' "$what" "${stage_name:-start}" $((SECONDS - started)) >&2
  exit "$status"
}
trap on_exit EXIT
trap 'exit 130' INT

# Our own C++ files: what git knows or would take, else all outside build/.
own_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' | sort -u
  else
    find . -path ./build -prune -o \( -name '*.h' -o -name '*.cc' \) -print | sed 's|^\./||' | sort
  fi | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
  done
}

check_format() {
  own_files | xargs clang-format --dry-run -Werror >/dev/null 2>&1 || {
    echo "clang-format -i would change:"
    own_files | xargs -n 1 sh -c 'clang-format --dry-run -Werror "$0" >/dev/null 2>&1 || echo "  $0"'
    return 1
  }
}

# build_and_test PRESET [OPTION...]: options of cmake
build_and_test() {
  cmake --preset "$@"
  cmake --build --preset "$1" -j "$cores"
  ctest --preset "$1" -j "$cores"
}

# The release build's tests have Legion programs among them (a skipped one fails: tests/legion).
has_legion_tests() {
  local count
  count=$(ctest --test-dir build/release -L legion -N | sed -n 's/^Total Tests: //p')
  printf '%d tests\n' "$count"
  [ "$count" -gt 0 ]
}

# make_venv NAME REQUIREMENTS: a virtual environment in build/NAME with the packages of the file.
make_venv() {
  python3 -m venv "build/$1"
  "build/$1/bin/pip" install --quiet --requirement "$2"
}

# llama.cpp's own server, with a model of random weights.
test_with_llama() {
  make_venv llama tests/support/llama.txt
  cmake --preset release "-DGROMA_LLAMA_PYTHON=$PWD/build/llama/bin/python"
  cmake --build --preset release --target groma_llama_test -j "$cores"
  ctest --preset release -R '^llama\.'
  cmake --preset release -DGROMA_LLAMA_PYTHON=
}

# Files that clang-tidy reads: the library's and the command's, tests only when asked for all.
tidy_units() {
  own_files | grep -E '^(lib|examples)/.*\.cc$'
}

# The units that the last $1 commits (and the working tree) changed; for a changed header the unit of
# its name or one that includes it. All of them where history does not reach back that far.
changed_units() {
  local base
  base=$(git rev-parse --quiet --verify "HEAD~$1" 2>/dev/null) || {
    tidy_units
    return
  }
  local file include
  { git diff --name-only "$base"; git ls-files --others --exclude-standard; } | while read -r file; do
    case $file in
      lib/*.cc | examples/*.cc) echo "$file" ;;
      lib/*.h | include/*.h)
        include=${file#lib/}
        include=${include#include/}
        { tidy_units | xargs grep -lF "\"$include\"" || true; } |
          awk -v own="/$(basename "$file" .h).cc" \
            '!first {first = $0} index($0, own) {mine = $0} END {print mine ? mine : first}'
        ;;
    esac
  done | sort -u | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
  done
}

# tidy: reads the names of units, which clang compiles on the way; its warnings count, too. .ci/full builds
# everything with clang.
tidy() {
  local units status=0
  units=$(cat)
  if [ -z "$units" ]; then
    echo "nothing changed"
    return
  fi
  cmake --preset clang >/dev/null
  cmake --build --preset clang --target groma_generated >/dev/null
  xargs -n 1 -P "$cores" clang-tidy --quiet --warnings-as-errors='*' -p build/clang \
    <<<"$units" >build/clang/tidy.log 2>&1 || status=$?
  grep -v 'warnings\? generated\.$\|^Suppressed \|^Use -header-filter' build/clang/tidy.log || true
  printf '%d files\n' "$(wc -l <<<"$units")"
  return "$status"
}
