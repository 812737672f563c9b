# sh paper_test.sh CHECK PROGRAM STRATEGY_WRITER: tests groma_paper. CHECK is one of the functions
# without_model, with_model, resume and wrong_input. STRATEGY_WRITER is a script that stands for a model
# (tests/support/write_strategies.sh).
check=$1 program=$2 strategy_writer=$3
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
unset GROMA_API_KEY

fail() {
  echo "$check: $1"
  tail -n 40 out err 2>/dev/null
  exit 1
}

# Runs the program, which must end with the exit code $1.
run() {
  expected=$1
  shift
  "$program" "$@" >out 2>err
  code=$?
  [ $code -eq "$expected" ] || fail "\`$*\` ends with $code, not with $expected"
}

# The last output must have a line that matches.
expect() {
  grep -qE -- "$1" out || fail "no line matches \`$1\`"
}

without_model() {
  run 0 fig4 --apps circuit,solomonik --size small --runs 2 --iterations 3 --svg fig4.svg
  expect '^\| circuit \| [0-9.]+ \|( [0-9.]+ \|){4} - \| - \| [0-9.]+ \| - \| 0\.97 \| 1\.33 \| 1\.34 \|$'
  expect '^\| solomonik \| guided \|( [0-9.]+ \|){3}$'
  expect 'No model was asked'
  grep -q '^</svg>$' fig4.svg || fail "the picture has no end"
  run 0 a1 --apps circuit --size small --runs 2 --iterations 3
  expect '^\| circuit \| trace \| -'
  expect "^\| circuit \| the paper's Trace \| 1.33 \| 0.01 \| 1.31 \| 1.33 \| 1.34 \|"
  run 0 a2 --apps stencil --size small --runs 3 --iterations 2
  expect '^\| stencil \| opentuner \|( [0-9.]+ \|){5}( [0-9]+ \|){2} 0 \|$'
  run 0 fig5 --apps circuit --size small --runs 1 --iterations 12
  expect '^\| 12 \| [0-9.]+ \| [0-9.]+ \| - \|$'
  run 0 fig6 --apps circuit --size small --runs 1 --iterations 2 --svg fig6.svg
  expect '^\| circuit \|( - \|){6} [0-9.]+ \|$'
  run 0 random --apps circuit --size small --json
  expect '"artefact":"random".*"cells":\[\{"subject":"circuit:size=small","method":"random"'
  run 0 table2
  expect '^\| here \| reference mappings \|( pass \|){10} 100 % \|$'
  expect '^\| the paper \| DSL \(single trial\) \|( - \|){10} 80 % \|$'
  [ ! -s err ] || fail "something is on standard error"
}

# Stands for a model that proposes the same change in reply to each question. It keeps its questions.
write_model() {
  mkdir questions
  cat >model.sh <<'END'
cat >"questions/$$"
echo '{"reasoning": "r", "change": "all tasks on GPUs", "suggestion": {"task": "Task * GPU, CPU;"}}'
END
}

with_model() {
  write_model
  # The first reply counts as a run, the others repeat it.
  set -- --apps circuit --size small --runs 2 --iterations 3
  run 0 a1 "$@" --endpoint 'exec:sh model.sh' --record replies.jsonl
  expect '^\| circuit \| trace \|( [0-9.]*[1-9][0-9.]* \| 0.00)( \| [0-9.]*[1-9][0-9.]*){3} \| 2 \| 0 \| 4 \|$'
  cp out recorded
  run 0 a1 "$@" --replay replies.jsonl
  cmp -s out recorded || fail "the replay has other results"
  # Finished searches ask nothing again.
  run 0 a1 "$@" --endpoint 'exec:sh model.sh' --cells paper.cells
  rm questions/*
  run 0 a1 "$@" --endpoint 'exec:sh model.sh' --cells paper.cells
  [ -z "$(ls questions)" ] || fail "finished searches ask again"
  cmp -s out recorded || fail "the resumed table is another one"
  # Replies that cannot be read and empty replies have throughput 0 and count as iterations.
  for useless in 'echo no use' 'cat >rest'; do
    run 0 a1 "$@" --endpoint "exec:$useless"
    expect '^\| circuit \| trace \|( 0.00 \|){5} 0 \| 0 \| 6 \|$'
  done
  # A model that fails ends the program; nothing is counted.
  run 1 a1 "$@" --endpoint 'exec:exit 3' --cells failed.cells
  grep -q '^groma_paper: the model: ' err || fail "the failure of the model is not named"
  run 0 fig6 --apps circuit --size small --runs 1 --iterations 1 --endpoint 'exec:sh model.sh'
  with=$(grep -l 'EXAMPLES: mappings of other' questions/* | wc -l)
  [ "$with" -eq 1 ] || fail "$with questions have examples, not only the one of 5-shot"
  run 0 table2 --iterations 2 --endpoint "exec:sh '$strategy_writer'"
  expect '^\| here \| DSL \(single trial\) \|( none \|){10} 0 % \|$'
  expect '^\| here \| DSL \(iterative refine\) \|( (pass|FAIL) \|){10} 10 % \|$'
}

# Waits until the file of cells has some cells, but ends at once if the program has ended.
wait_for_cells() {
  while kill -0 "$1" 2>/dev/null; do
    [ -e paper.cells ] && [ "$(wc -l <paper.cells)" -ge 4 ] && return
    sleep 0.02
  done
}

resume() {
  set -- fig4 --apps circuit --size small --runs 4 --iterations 10 --jobs 1
  run 0 "$@"
  cp out uninterrupted
  for signal in KILL TERM; do
    rm -f paper.cells
    "$program" "$@" --cells paper.cells >out 2>err &
    wait_for_cells $!
    kill -$signal $!
    wait $!
    code=$?
    cp paper.cells before
    # A fast computer may have finished.
    [ $code -eq 0 ] || [ $signal = KILL ] || [ $code -eq 130 ] || fail "SIG$signal ends with $code"
    [ $code -ne 130 ] || grep -q 'searches are finished; the same command' err || fail "nothing is said"
    run 0 "$@" --cells paper.cells
    cmp -s out uninterrupted || fail "after SIG$signal the table is another one"
    head -n "$(wc -l <before)" paper.cells | cmp -s - before || fail "finished cells were made again"
  done
  # A second program must not write the same file, and nothing is left beside it.
  set -- paper.cells*
  [ $# -eq 2 ] || fail "files are left: $*"
}

wrong_input() {
  set -- random --apps circuit --size small --runs 2 --cells paper.cells
  run 0 "$@"
  cp paper.cells good.cells
  refused() {
    run 1 "$@"
    grep -q "^groma_paper: \`paper.cells\` line $line: $why" err || fail "line $line: $why is not said"
  }
  line=1 why='the cells were made by other sources of Groma'
  sed '1s/"sources":"[0-9a-f]*"/"sources":"0"/' good.cells >paper.cells
  refused "$@"
  line=1 why='this is not a file of cells'
  echo 'a letter' >paper.cells
  refused "$@"
  line=3 why='`ran` is not a count'
  sed '3s/"ran":[0-9]*/"ran":-1/' good.cells >paper.cells
  refused "$@"
  line=2 why='`improvements` is not'
  sed '2s/"improvements":\[.*\],/"improvements":[[1,0.5],[2,0.4]],/' good.cells >paper.cells
  refused "$@"
  line=3 why='the line does not end'
  head -c -1 good.cells >paper.cells
  refused "$@"
  line=4 why='an earlier line has the same cell'
  (cat good.cells && tail -n 1 good.cells) >paper.cells
  refused "$@"
  for wrong in 'fig4 --apps circuits' 'fig4 --apps circuit,circuit' 'table2 --apps circuit' 'fig7' '' \
    'random --iterations 3' 'fig4 --runs 0' 'fig4 --size huge' 'a1 --record new' 'a1 --money 3' \
    'a2 --cells same --svg same' \
    'a2 --cells -'; do
    # shellcheck disable=SC2086 # several words
    run 2 $wrong
    grep -q '^groma_paper: ' err || fail "\`$wrong\` is not explained"
  done
  [ ! -e same ] || fail "a file is left"
}

case $check in
  without_model | with_model | resume | wrong_input) "$check" ;;
  *) fail "there is no such check" ;;
esac
