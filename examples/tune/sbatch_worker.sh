#!/bin/sh
# Makes a batch job of Slurm a worker of `groma tune`, where `srun` cannot be used. The arguments
# are options of sbatch:
#
#     groma tune ... --workers 'examples/tune/sbatch_worker.sh --gres=gpu:1 --time=2:00:00'
#
# This script and the job exchange bytes through files in a folder that both computers see: a new
# folder in $GROMA_SHARED, or in the current folder. The job runs a shell that reads `in` and writes
# `out`. It ends when the input of this script ends, or a minute after this script has died.
set -u
d=$(mktemp -d "${GROMA_SHARED:-$PWD}/groma-job-XXXXXX") || exit 1
beat=${GROMA_BEAT:-10}
: >"$d/in"
: >"$d/out"
: >"$d/err"
echo 0 >"$d/alive"

# The job. Its last lines end it when `alive` has not changed for six beats.
cat >"$d/job.sh" <<END
#!/bin/sh
d='$d'
( last=; same=0
  while sleep $beat; do
    now=\$(cat "\$d/alive" 2>/dev/null)
    if [ "\$now" = "\$last" ]; then same=\$((same + 1)); else same=0; fi
    last=\$now
    [ \$same -lt 6 ] || break
  done
  kill "\$(cat "\$d/tail")" "\$(cat "\$d/shell")" ) 2>/dev/null &
watch=\$!
sh -c 'echo \$\$ >"\$1/tail"; exec tail -s 0.2 -c +1 -f "\$1/in"' sh "\$d" | {
  sh -c 'echo \$\$ >"\$1/shell"; exec sh' sh "\$d" >>"\$d/out" 2>>"\$d/err"
  kill "\$(cat "\$d/tail")"
}
kill \$watch
END

trap ': >"$d/in.over"' HUP INT TERM
exec 3<&0
{ sbatch --wait --parsable "$@" "$d/job.sh" >"$d/id" 2>>"$d/err"; : >"$d/batch.over"; } </dev/null &
{ cat <&3 >>"$d/in"; : >"$d/in.over"; } &
tail -s 0.2 -c +1 -f "$d/out" &
out=$!
n=0
until [ -e "$d/batch.over" ] || [ -e "$d/in.over" ]; do
  sleep 0.2
  n=$((n + 1))
  [ $((n % 20)) -ne 0 ] || echo $n >"$d/alive"
done

# The input has ended: the shell of the job is asked to end, and the job is cancelled if it does not.
trap '' HUP INT TERM
if [ ! -e "$d/batch.over" ]; then
  printf '\nexit\n' >>"$d/in"
  for n in 1 2 3 4 5 6 7 8 9 10; do
    [ ! -e "$d/batch.over" ] || break
    sleep 0.2
  done
  [ -e "$d/batch.over" ] || [ ! -s "$d/id" ] || scancel "$(cut -d ';' -f 1 "$d/id")"
fi
sleep 0.5
kill $out
cat "$d/err" >&2
rm -rf -- "$d"
echo "the batch job has ended" >&2
exit 1
