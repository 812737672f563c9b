# sh arguments.sh PROGRAM: what a benchmark program does with arguments that are not its own.
program=$1
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$program: $1"
  exit 1
}

for help in --help -h; do
  timeout 20 "$program" $help >out || fail "$help ends with $?"
  grep -q "$(basename "$program")" out || fail "$help does not say how the program is called"
done
for wrong in --nonsense "--seeds=3" "nonsense=3" "x evaluations=many" "x y=1"; do
  # shellcheck disable=SC2086 # several words
  timeout 20 "$program" $wrong >out 2>err
  code=$?
  [ $code -eq 2 ] || fail "\`$wrong\` ends with $code"
  grep -q "$(basename "$program")" err || fail "\`$wrong\` does not say how the program is called"
done
rm out err
[ -z "$(ls -A)" ] || fail "leaves $(ls -A)"
