#!/bin/sh
# Compiles the CUDA kernels of this folder, and checks and times them where there is a GPU:
#
#   sh measure.sh                  compiles for the GPU of this computer, checks, and prints a table
#   sh measure.sh compile ARCH...  only compiles, for each architecture (such as sm_80 sm_90)
#
# Environment: NVCC (nvcc), OUT (a folder for the programs; a temporary one), ROUNDS (5). The versions
# are timed one after the other in each round. Exit code 3: there is no GPU.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -n "${OUT:-}" ]; then
  mkdir -p "$OUT"
  out=$(cd "$OUT" && pwd)
else
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi

# compile ARCH: all programs of the folder, with cuBLAS.
compile() {
  flags="-std=c++17 -O3 -arch=$1 -Xcompiler=-Wall,-Wextra,-Werror"
  # shellcheck disable=SC2086  # a list of words
  "$nvcc" $flags -DGROMA_CUBLAS -c driver.cu -o "$out/driver.o"
  for kernel in matmul matmul_by_hand scaled_matmul; do
    # shellcheck disable=SC2086
    "$nvcc" $flags "$kernel.cu" "$out/driver.o" -lcublas -o "$out/$kernel"
  done
}

# rate PROGRAM OPTION: its geometric mean in GFLOP/s.
rate() { "$out/$1" "$2" | sed -n 's/^GFLOP\/s: //p'; }

if [ "${1:-}" = compile ]; then
  shift
  for architecture in "$@"; do
    compile "$architecture"
    echo "compiled for $architecture"
  done
  exit
fi

nvidia-smi -L >/dev/null 2>&1 || {
  echo "no GPU: nvidia-smi lists none" >&2
  exit 3
}
compile native
for kernel in matmul matmul_by_hand scaled_matmul; do "$out/$kernel" --check >/dev/null; done
round=0
while [ $round -lt "${ROUNDS:-5}" ]; do
  echo "$(rate matmul --time) $(rate matmul_by_hand --time) $(rate matmul --library) $(rate scaled_matmul --time)"
  round=$((round + 1))
done | awk '
  # Returns the quantile of the values, sorted in place.
  function quantile(values, count, part,    i, j, t) {
    for (i = 2; i <= count; ++i) {
      for (j = i; j > 1 && values[j - 1] > values[j]; --j) {
        t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
      }
    }
    return values[int((count - 1) * part + 0.5) + 1]
  }
  function row(name, column,    i, rates, ratios) {
    for (i = 1; i <= NR; ++i) { rates[i] = all[i, column]; ratios[i] = all[i, column] / all[i, 1] }
    printf "| %s | %.0f | ", name, quantile(rates, NR, 0.5)
    if (column == 4) print "| |"
    else printf "%.3g | %.3g to %.3g |\n", quantile(ratios, NR, 0.5), quantile(ratios, NR, 0), quantile(ratios, NR, 1)
  }
  NF != 4 { print "a program printed no rate" > "/dev/stderr"; failed = 1; exit 1 }
  { for (i = 1; i <= 4; ++i) all[NR, i] = $i }
  END {
    if (failed) exit 1
    print "| version | GFLOP/s | times the start | range |\n|---|---|---|---|"
    row("start (`matmul.cu`)", 1)
    row("by hand (`matmul_by_hand.cu`)", 2)
    row("cuBLAS", 3)
    row("scaled fp8 product, start (`scaled_matmul.cu`)", 4)
  }'
