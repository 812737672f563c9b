# Runs demanding.cc under drawn mappings FIRST to LAST. Under each it must compute what it computes without
# a mapping, or be refused with an error that names the statement.
#
#   sh demanding.sh wrapped PROGRAM FIRST LAST           above its mapper, many mappings in a process
#   sh demanding.sh preloaded PROGRAM FIRST LAST GROMA   by `groma run --map`, a process for each
set -u
how=$1 program=$2 seed=$3 last=$4
flags='-ll:cpu 2 -ll:rsize 64 -ll:nsize 64 -lg:safe_mapper'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
same=0 refused=0

fail() {
  printf 'under seed %s: %s\n' "$seed" "$1"
  "$program" draw "$seed"
  cat "$folder/output"
  exit 1
}

# What was said of the last seed is an error with an id, decided by a statement of its mapping.
is_refusal() {
  grep -q 'error: .* \[[a-z-]*\]$' "$folder/output" &&
    grep -q "decided by [^ ]*$1\.mapper:[0-9]" "$folder/output"
}

if [ "$how" = wrapped ]; then
  while [ "$seed" -le "$last" ]; do
    # shellcheck disable=SC2086  # a list of flags
    timeout 100 "$program" wrapped "$seed" "$last" $flags -logfile stderr >"$folder/output" 2>&1
    code=$?
    reached=$(sed -n 's/^seed \([0-9]*\):.*/\1/p' "$folder/output" | tail -n 1)
    seed=${reached:-$seed}
    if grep -q DIFFERENT "$folder/output"; then fail 'another result'; fi
    same=$((same + $(grep -c 'the same$' "$folder/output")))
    if [ $code -ne 0 ]; then
      if [ $code -ne 1 ] || ! is_refusal "seed_$seed"; then fail "exit code $code"; fi
      refused=$((refused + 1))
    fi
    seed=$((seed + 1))
  done
else
  # shellcheck disable=SC2086
  "$program" plain $flags -logfile stderr >"$folder/plain" 2>"$folder/output" || fail 'it does not run'
  while [ "$seed" -le "$last" ]; do
    "$program" draw "$seed" >"$folder/drawn.mapper"
    # shellcheck disable=SC2086
    "$5" run --map "$folder/drawn.mapper" --timeout 60 -- "$program" plain $flags \
      >"$folder/mapped" 2>"$folder/output"
    code=$?
    grep '^[a-z]* -*[0-9.]*$' "$folder/mapped" >"$folder/numbers"
    cat "$folder/mapped" >>"$folder/output"
    if [ $code -eq 0 ]; then
      cmp -s "$folder/plain" "$folder/numbers" || fail 'another result'
      if grep -q 'no space was reserved' "$folder/output"; then fail 'a pool is missing'; fi
      same=$((same + 1))
    elif [ $code -eq 1 ] && is_refusal drawn; then
      refused=$((refused + 1))
    else
      fail "exit code $code"
    fi
    seed=$((seed + 1))
  done
fi
echo "$same the same, $refused refused"
[ "$same" -gt "$refused" ]
