# Runs Legion programs as several processes under mpirun, mapped by Groma in each of the ways that
# docs/legion.md names. Each program checks its own results, and each run has a time limit.
#
#   sh processes.sh HOW PROCESSES GROMA APPS TESTS
#
# HOW: linked   the mapping is linked into the programs
#      around   `groma run --map FILE -- mpirun -n PROCESSES PROGRAM`
#      inside   `mpirun -n PROCESSES groma run --map FILE -- PROGRAM`
#      record   `groma record` in both ways
#      openmp   OpenMP processors in each process
# GROMA is the command, APPS the folder of the programs of examples/legion, TESTS that of tests/legion.
set -u
how=$1 processes=$2 groma=$3 apps=$4 tests=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
output=$folder/output

# Open MPI refuses root and more processes than cores otherwise, and its idle processes keep a core busy.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_mpi_yield_when_idle=1
mpi="mpirun -n $processes"
cpus=$((4 / processes))
programs='circuit johnson stencil'
# As four processes, cannon hangs in Legion 25.06 itself (docs/legion.md, "Known to hang").
[ "$processes" -gt 2 ] || programs="cannon $programs"

fail() {
  printf '%s\n' "$1"
  cat "$output"
  exit 1
}

# runs NAME COMMAND...: the command ends well within its time.
runs() {
  name=$1
  shift
  timeout -k 5 60 "$@" >"$output" 2>&1 </dev/null
  code=$?
  if [ "$code" -ne 0 ]; then fail "$name: exit code $code"; fi
  echo "$name: passed"
}

# says TEXT: the last command printed it.
says() {
  grep -qF -- "$1" "$output" || fail "$name: does not say \`$1\`"
}

# parameters_of PROGRAM: small ones, with work for each process.
parameters_of() {
  case $1 in
    cannon | johnson) echo "-n 64 -nodes $processes" ;;
    circuit) echo "-nodes $processes -gpus 1 -superpiece 2 -npp 100 -wpp 200 -steps 10 -loops 3" ;;
    stencil) echo "-edge 64 -nodes $processes -loops 3" ;;
  esac
}

cat >"$folder/blocks.mapper" <<'END'
# The points of a launch in blocks, one for each node, the last node first: other than by default.
Task * CPU;
Region * * CPU SYSMEM;
def blocks(Task task) {
  m = Machine(CPU);
  return m[m.size[0] - 1 - task.ipoint[0] * m.size[0] / task.ispace[0], 0];
}
IndexTaskMap * blocks;
END
sed 's/Task \* CPU/Task spread OMP/; s/Machine(CPU)/Machine(OMP)/; s/CPU SYSMEM/OMP SYSMEM/' \
  "$folder/blocks.mapper" >"$folder/omp.mapper"
printf 'Task sprad CPU;\n' >"$folder/misspelt.mapper"

# is_spread KIND: each point of `spread` ran and had its data where the function says.
is_spread() {
  point=0
  while [ $point -lt 8 ]; do
    node=$((processes - 1 - point * processes / 8))
    says "point $point: node $node $1 0, SYSMEM of node $node"
    point=$((point + 1))
  done
  says 'sum 192'
}

blocks=$folder/blocks.mapper
case $how in
  linked)
    for program in $programs; do
      # shellcheck disable=SC2046,SC2086  # lists of words
      GROMA_TEST_MAPPING=$blocks runs "$program" $mpi "$tests/groma_legion_linked_$program" \
        $(parameters_of $program) -ll:cpu $cpus -logfile stderr
      says 'elapsed'
    done
    # shellcheck disable=SC2086
    GROMA_TEST_MAPPING=$blocks runs spread $mpi "$tests/groma_legion_linked_spread" -ll:cpu $cpus \
      -logfile stderr
    is_spread CPU
    # shellcheck disable=SC2086
    GROMA_TEST_MAPPING=$folder/misspelt.mapper runs 'unknown name' $mpi \
      "$tests/groma_legion_linked_spread" -ll:cpu 1 -logfile stderr
    says 'no task `sprad` was launched in the first process; did you mean `spread`?'
    [ "$(grep -c sprad "$output")" -eq 1 ] || fail 'an unknown name is told more than once'
    ;;
  around)
    for program in $programs; do
      # shellcheck disable=SC2046,SC2086
      runs "$program" "$groma" run --map "$blocks" --checks never --log "$folder/$program.log" -- \
        $mpi "$apps/$program" $(parameters_of $program) -ll:cpu $cpus
      says "groma: mapped by $blocks"
      says 'elapsed'
      runs "explain $program" "$groma" explain "$blocks" --log "$folder/$program.log"
      says 'blocks.mapper:8:1: IndexTaskMap * blocks'
      if grep -q 'not honoured' "$output"; then fail 'a statement was not honoured'; fi
    done
    # shellcheck disable=SC2086
    runs spread "$groma" run --map "$blocks" --checks always -- $mpi "$tests/groma_legion_spread" \
      -ll:cpu $cpus
    is_spread CPU
    # shellcheck disable=SC2086
    runs profile "$groma" run --map "$blocks" --checks never --profile -- $mpi \
      "$tests/groma_legion_spread" -ll:cpu $cpus
    says "$(printf 'spread        CPU %10d' $((24 / processes)))" # the points of the first process
    ;;
  inside)
    for program in $programs; do
      # shellcheck disable=SC2046,SC2086
      runs "$program" $mpi "$groma" run --map "$blocks" -- "$apps/$program" \
        $(parameters_of $program) -ll:cpu $cpus
      says 'elapsed'
    done
    # shellcheck disable=SC2086
    runs spread $mpi "$groma" run --map "$blocks" -- "$tests/groma_legion_spread" -ll:cpu $cpus
    is_spread CPU
    ;;
  record)
    for program in circuit stencil; do
      # shellcheck disable=SC2046,SC2086
      runs "record $program" "$groma" record --out "$folder/around.json" -- $mpi "$apps/$program" \
        $(parameters_of $program) -ll:cpu $cpus
      # shellcheck disable=SC2046,SC2086
      runs "record $program in each process" $mpi "$groma" record --out "$folder/inside.json" -- \
        "$apps/$program" $(parameters_of $program) -ll:cpu $cpus
      for recording in around inside; do
        runs "run $program, recorded $recording" "$groma" run "$blocks" \
          --app "$folder/$recording.json" --machine "nodes=$processes,gpu=0,cpu=$cpus"
      done
    done
    ;;
  openmp)
    # shellcheck disable=SC2086
    runs spread "$groma" run --map "$folder/omp.mapper" --checks never -- $mpi \
      "$tests/groma_legion_spread" -ll:cpu 1 -ll:ocpu 1 -ll:othr 2
    is_spread OMP
    ;;
esac
