#!/bin/bash
# Makes each kind of package and uses it as its users do:
#
#   bash packaging/check.sh [debian] [conan] [spack] [container]      all of them without arguments
#
# debian: with cpack, lintian and apt, as root in a bare Debian 12 (debootstrap, or GROMA_BARE names one).
# conan: with Conan 2 from PyPI (packaging/conan/requirements.txt) and the libraries of Debian.
# spack: with the Spack that SPACK_ROOT names, and the libraries of Debian; skipped without one.
# container: with buildah. GROMA_BASE_IMAGE names a Debian 12 where Docker's registry cannot be reached.
#
# Everything is made below build/. GROMA_PACKAGES_BUILT=1 takes the programs that are in build/package.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD

say() { printf -- '-- packages: %s\n' "$*"; }

# The tags that only packages for Debian's own archive can do without: an address of a maintainer, and
# the number of the bug that asks for the package.
kForeignTags=bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs

# The commands that a user of the installed packages types. They run in the bare system.
use_packages() {
  cat <<'END'
set -eux
export DEBIAN_FRONTEND=noninteractive
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
cd /root
apt-get -q update
apt-get -qy install --no-install-recommends ./groma_*.deb
groma --version
groma check /usr/share/groma/mappers/cannon.mapper
groma run --app cannon | head -3
test -s /usr/share/man/man1/groma-check.1.gz
. /usr/share/bash-completion/completions/groma
COMP_LINE='groma gu' COMP_POINT=8 COMP_WORDS=(groma gu) COMP_CWORD=1
_groma
test "${COMPREPLY[*]}" = guide
apt-get -qy install --no-install-recommends ./libgroma-dev_*.deb g++ cmake make pkg-config
cmake -S use -B use/build -DCMAKE_BUILD_TYPE=Release
cmake --build use/build
use/build/use_groma
g++ -std=c++20 use/use_core.cc -o by_pkg_config $(pkg-config --cflags --libs groma-core)
./by_pkg_config
if ls ./groma-legion_*.deb; then
  apt-get -qy install --no-install-recommends ./groma-legion_*.deb
  ls /usr/lib/*/groma/libgroma_preload.so
fi
apt-get -qy purge '*groma*'
! command -v groma
test ! -e /usr/share/groma
END
}

debian() {
  local bare=${GROMA_BARE:-} library
  if [ "${GROMA_PACKAGES_BUILT:-}" = "" ]; then
    cmake --preset package >/dev/null
    cmake --build --preset package
  fi
  (cd build/package && rm -f ./*.deb && cpack -G DEB)
  lintian --fail-on error,warning --suppress-tags "$kForeignTags" build/package/*.deb
  if [ "$(id -u)" -ne 0 ]; then
    say "not installed: a bare Debian needs root"
    return
  fi
  if [ -z "$bare" ]; then
    bare=$(mktemp -d "${TMPDIR:-/var/tmp}/groma-packages-XXXXXX")
    # shellcheck disable=SC2064  # the folder's name now
    trap "rm -rf --one-file-system '$bare'" EXIT
  fi
  [ -e "$bare/etc/debian_version" ] || bash .ci/bare_debian "$bare" true
  rm -rf "$bare"/root/use "$bare"/root/*.deb
  mkdir -p "$bare/root/use"
  cp build/package/*.deb "$bare/root/"
  cp packaging/conan/test_package/CMakeLists.txt tests/package/use_core.cc "$bare/root/use/"
  sed -i 's|\.\./.*/use_core|use_core|' "$bare/root/use/CMakeLists.txt"
  use_packages >"$bare/root/use_packages"
  bash .ci/bare_debian "$bare" "bash /root/use_packages"
  say "the Debian packages work"
}

conan() {
  local conan=build/conan/venv/bin/conan
  python3 -m venv build/conan/venv
  build/conan/venv/bin/pip install --quiet --requirement packaging/conan/requirements.txt
  export CONAN_HOME=$source/build/conan/home
  "$conan" profile detect --force >/dev/null
  sed -i 's/^compiler.cppstd=.*/compiler.cppstd=gnu20/' "$CONAN_HOME/profiles/default"
  "$conan" create packaging/conan -o 'groma/*:system_libraries=True' --no-remote \
    -c tools.cmake.cmaketoolchain:generator=Ninja -c tools.cmake.cmaketoolchain:user_presets= \
    -c tools.cmake.cmake_layout:test_folder="$source/build/conan/test"
  say "the Conan package works"
}

spack() {
  if [ ! -x "${SPACK_ROOT:-}/bin/spack" ]; then
    say "skipped: SPACK_ROOT names no Spack"
    return
  fi
  local spack=$SPACK_ROOT/bin/spack
  export SPACK_DISABLE_LOCAL_CONFIG=1 SPACK_USER_CACHE_PATH=$source/build/spack
  set -- -C "$source/packaging/spack/debian" -c "repos:[$source/packaging/spack]"
  "$spack" "$@" compiler find >/dev/null
  "$spack" "$@" audit packages groma
  "$spack" "$@" spec "groma@main dev_path=$source"
  "$spack" "$@" install --fail-fast "groma@main dev_path=$source"
  "$("$spack" "$@" location -i groma)/bin/groma" --version
  say "the Spack package works"
}

container() {
  if ! command -v buildah >/dev/null; then
    say "skipped: there is no buildah"
    return
  fi
  buildah build --isolation chroot ${GROMA_BASE_IMAGE:+--build-arg "BASE=$GROMA_BASE_IMAGE"} \
    -f packaging/Containerfile -t groma .
  local container
  container=$(buildah from groma)
  buildah run --isolation chroot "$container" -- groma --version
  buildah rm "$container" >/dev/null
  say "the container works"
}

[ $# -gt 0 ] || set -- debian conan spack container
for kind in "$@"; do
  case $kind in
    debian | conan | spack | container) "$kind" ;;
    *)
      sed -n 's/^#   //p' "$0" >&2
      exit 2
      ;;
  esac
done
