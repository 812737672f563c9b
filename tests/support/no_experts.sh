#!/bin/sh
# sh no_experts.sh SOURCE_DIR DSL_LIBRARY LIBRARY...: fails where a library holds a line of a mapper
# of dsl/mappers: its comments and its code, from 20 letters on. The first must hold them all, or
# this would look for the wrong thing.
set -eu
mappers=$1/dsl/mappers
with=$2
shift 2
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
# Of every mapping: how random ones begin (docs/search_space.md), what a guide's rule says of a
# machine, and the head of a function.
shared='^(Task \* GPU, OMP, CPU;|Region \* \* (GPU FBMEM|\* SOCKMEM, SYSMEM);|mgpu = Machine\(GPU\);|def same_point\(Task task\) \{)$'
sed 's/^ *//' "$mappers"/*.mapper | grep -E '^.{20}' | grep -vE "$shared" | sort -u >"$lines"
count=$(wc -l <"$lines")
found=$(grep -aoF -f "$lines" "$with" | sort -u | wc -l)
[ "$count" -gt 100 ] && [ "$found" -eq "$count" ] || {
  echo "$with holds $found of $count lines of $mappers"
  exit 1
}
status=0
for library in "$@"; do
  if grep -aoF -f "$lines" "$library" | sort -u | sed "s|^|$library holds: |" | grep .; then status=1; fi
done
exit $status
