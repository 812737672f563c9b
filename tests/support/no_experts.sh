#!/bin/sh
# sh no_experts.sh SOURCE_DIR DSL_LIBRARY LIBRARY...: fails where a library holds text of a mapper of
# dsl/mappers; the first must, or this would look for the wrong thing.
set -eu
mappers=$1/dsl/mappers
with=$2
shift 2
found=0
for mapper in "$mappers"/*.mapper; do
  # Its lines, comments too, that no other kind of text has.
  lines=$(grep -E '^(# .{30}|  return .{25}|  [a-z]+ = .{30})' "$mapper" | head -n 5)
  first=$(printf '%s\n' "$lines" | head -n 1)
  [ -n "$first" ] || { echo "no line of $mapper is told from others"; exit 1; }
  grep -qaF -e "$first" "$with" || { echo "$with lacks $mapper"; exit 1; }
  for library in "$@"; do
    if printf '%s\n' "$lines" | grep -v '^$' | while IFS= read -r line; do
      if grep -qaF -e "$line" "$library"; then echo "$library holds: $line"; fi
    done | grep .; then found=1; fi
  done
done
exit $found
