// The program that a worker's shell runs (worker_shell.h). POSIX sh: it runs in dash, bash, busybox
// and whatever else is `sh` on the worker.
#pragma once

namespace groma::tuning {

// The first lines; a line `groma_nonce=...` stands before them.
//
// The shell makes a temporary folder, answers "NONCE ready FOLDER", and then runs each line that it
// reads. A command runs in the background (groma_run), so that the shell can read `groma_kill`
// meanwhile, and notices the end of its input. It then ends the command and removes its folder.
//
// Even if the shell is killed, its folder is removed and its command is ended: a second shell waits
// for the end of the pipe `life`, which only the first one can write to.
//
// groma_job NONCE SECONDS WORDS... runs the words. A pipe with `head` and `tail` keeps the
// beginning and the end of each output, so that output without end fills no disk. It answers
//   NONCE started
//   NONCE end EXIT_CODE BEGIN_S END_S BYTES BYTES BYTES BYTES
// and then the bytes: beginning and end of standard output, beginning and end of standard error.
// "NONCE done" follows. The command does not know NONCE, and its output never reaches the shell's
// standard output in another way. `timeout` ends a command after SECONDS if nobody else does,
// because the connection was lost without a word.
inline constexpr const char* kWorkerScript = R"sh(
unset GROMA_API_KEY
nl='
'
groma_runner=
groma_say() { printf '%s %s\n' "$groma_nonce" "$*"; }
for groma_tool in mktemp mkdir mkfifo head tail cat wc rm date sleep; do
  command -v "$groma_tool" >/dev/null 2>&1 || { groma_say "missing $groma_tool"; exit 1; }
done
groma_dir=$(mktemp -d "${TMPDIR:-/tmp}/groma-XXXXXX") && groma_dir=$(cd "$groma_dir" && pwd) ||
  { groma_say "missing temporary folder"; exit 1; }
groma_remove() {
  rm -rf -- "$1" 2>/dev/null || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; } 2>/dev/null
}
groma_kill() {
  : >"$groma_dir/stop"
  groma_pid=
  [ -s "$groma_dir/pid" ] && read -r groma_pid <"$groma_dir/pid"
  [ -n "$groma_pid" ] || return 0
  kill -KILL "-$groma_pid" 2>/dev/null || kill -KILL "$groma_pid" 2>/dev/null
}
groma_end() {
  trap '' HUP INT TERM PIPE
  [ -z "$groma_runner" ] || kill -KILL "$groma_runner" 2>/dev/null
  groma_kill
  for groma_try in 1 2 3 4 5 6 7 8 9; do
    groma_remove "$groma_dir"
    [ -e "$groma_dir" ] || break
    sleep 1
  done
}
trap groma_end EXIT
trap 'exit 1' HUP INT TERM PIPE
groma_group=
command -v setsid >/dev/null 2>&1 && groma_group=setsid
groma_limit=
timeout -s KILL 9 true >/dev/null 2>&1 && groma_limit=timeout
mkfifo "$groma_dir/life" || { groma_say "missing mkfifo"; exit 1; }
$groma_group sh -c 'trap "" HUP INT TERM
  read -r pid <"$1/life"
  pid=
  [ -s "$1/pid" ] && read -r pid <"$1/pid"
  [ -z "$pid" ] || kill -KILL "-$pid"
  for i in 1 2 3 4 5 6 7 8 9; do
    rm -rf -- "$1"
    [ -e "$1" ] || exit 0
    chmod -R u+rwx -- "$1"
    sleep 1
  done' sh "$groma_dir" </dev/null >/dev/null 2>&1 &
exec 7>"$groma_dir/life"
groma_now() { date +%s.%N; }
case $(date +%N) in *[!0-9]*|'') groma_now() { date +%s; } ;; esac
groma_job() {
  exec 7>&-
  groma_nonce=$1; groma_seconds=$2; shift 2
  groma_r=$groma_dir/run
  groma_remove "$groma_r"
  mkdir "$groma_r" && mkfifo "$groma_r/out" "$groma_r/err" || { groma_say broken; return; }
  for groma_o in out err; do
    { head -c 524288 >"$groma_r/$groma_o.1"; tail -c 524288 >"$groma_r/$groma_o.2"
      : >"$groma_r/$groma_o.all"; } <"$groma_r/$groma_o" 2>/dev/null &
  done
  exec 8>"$groma_r/out" 9>"$groma_r/err"
  [ -n "$groma_group" ] || set -m 2>/dev/null
  [ -z "$groma_limit" ] || set -- timeout -s KILL "$groma_seconds" "$@"
  groma_say started
  groma_t0=$(groma_now)
  $groma_group "$@" </dev/null >&8 2>&9 8>&- 9>&- &
  groma_pid=$!
  echo "$groma_pid" >"$groma_dir/pid"
  [ ! -e "$groma_dir/stop" ] || groma_kill
  exec 8>&- 9>&-
  wait "$groma_pid" 2>/dev/null
  groma_code=$?
  groma_t1=$(groma_now)
  kill -KILL "-$groma_pid" 2>/dev/null
  : >"$groma_dir/pid"
  for groma_try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e "$groma_r/out.all" ] && [ -e "$groma_r/err.all" ] && break
    sleep 0.02 2>/dev/null || sleep 1
  done
  set --
  for groma_o in out.1 out.2 err.1 err.2; do
    [ -e "$groma_r/$groma_o" ] || : >"$groma_r/$groma_o"
    set -- "$@" $(wc -c <"$groma_r/$groma_o")
  done
  groma_say "end $groma_code $groma_t0 $groma_t1 $*"
  for groma_o in out.1 out.2 err.1 err.2; do
    head -c "$1" "$groma_r/$groma_o"
    shift
  done
  groma_say done
}
groma_run() {
  [ -z "$groma_runner" ] || wait "$groma_runner" 2>/dev/null
  rm -f "$groma_dir/stop" "$groma_dir/pid"
}
groma_say "ready $groma_dir"
while IFS= read -r groma_line; do eval "$groma_line"; done
)sh";

// The bytes that the script keeps of the beginning and of the end of each output.
inline constexpr int kWorkerOutputHalf = 524288;

}  // namespace groma::tuning
