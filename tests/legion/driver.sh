# sh driver.sh PROBE LATE_PROBE DRIVER_FOLDER STAND_IN_FOLDER CACHE: which libcuda.so.1 programs of the
# build folder get. PROBE has our stand-in in its RUNPATH, LATE_PROBE one that believes CACHE to be the
# loader's cache; DRIVER_FOLDER has what passes for a driver.
probe=$1 late=$2 driver=$3 stand_in=$4 cache=$5
unset LD_LIBRARY_PATH
rm -f "$cache"

expect() {
  wanted=$1
  shift
  said=$("$@" 2>&1)
  case $said in
    *"$wanted"*) ;;
    *)
      echo "$*: \`$said\` instead of \`$wanted\`"
      exit 1
      ;;
  esac
}

# Without a driver the program starts, and hears that there is no device. (With one it gets that, or the
# stand-in ends it.)
case $("$probe" 2>&1) in
  "cuInit: 100" | *"now there is one"*) ;;
  *)
    echo "the program did not start"
    exit 1
    ;;
esac
expect "cuInit: 100" "$late"
# One that LD_LIBRARY_PATH names comes first.
expect "cuInit: 0" env LD_LIBRARY_PATH="$driver" "$probe"
# One that was installed since is not hidden.
printf 'libcuda.so.1\0%s/libcuda.so.1\0libfoo.so\0' "$driver" >"$cache"
expect "now there is one, \`$driver/libcuda.so.1\`" "$late"
expect "LD_LIBRARY_PATH=$driver" "$late"
"$late" >/dev/null 2>&1
[ $? -eq 127 ] || exit 1
expect "cuInit: 0" env LD_LIBRARY_PATH="$driver" "$late"
# Who names the stand-in wants it.
expect "cuInit: 100" env LD_LIBRARY_PATH="$stand_in" "$late"
# What is in the cache but gone, or of another kind, is none.
printf '/nonexistent/libcuda.so.1\0%s\0' "$late" >"$cache"
expect "cuInit: 100" "$late"
rm -f "$cache"
