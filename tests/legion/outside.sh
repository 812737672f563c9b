# sh outside.sh GROMA PROGRAM FIRST LAST: drawn programs of conformance_test.cc, handed over by
# `groma run --map` instead of by the test program itself.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for number in $(seq "$3" "$4"); do
  GROMA_TEST_WRITE=$number "$2" >"$folder/drawn.mapper"
  GROMA_TEST_OUTSIDE=$number "$1" run --map "$folder/drawn.mapper" -- "$2" \
    --gtest_filter="*/$((number - 1))" -ll:cpu 2 -ll:io 2 -ll:rsize 64 -ll:nsize 64 \
    >"$folder/output" 2>&1 && grep -q 'PASSED.* 1 test' "$folder/output" || {
    cat "$folder/drawn.mapper" "$folder/output"
    exit 1
  }
done
