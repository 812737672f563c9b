# Finds Legion: the target Legion::Legion, Legion_VERSION. Legion_ROOT names where it lies, in one of
# two forms:
#
# - the package `legate` of PyPI, unpacked: Legion_ROOT is its folder `legate`;
# - an installation from source, which brings LegionConfig.cmake.
#
# The package is tried first, by a path that nothing else has: it holds a LegionConfig.cmake too, which
# stops CMake where there is no CUDA toolkit.
#
# Legion 25.06 is the oldest that Groma is built with; an older one is not found.
set(Legion_OLDEST 25.06)
find_path(Legion_INCLUDE_DIR legate/deps/legion.h PATH_SUFFIXES include)
find_library(Legion_LIBRARY NAMES liblegion-legate.so.1 PATH_SUFFIXES lib64)
find_library(Legion_REALM_LIBRARY NAMES librealm-legate.so.25 PATH_SUFFIXES lib64)
mark_as_advanced(Legion_INCLUDE_DIR Legion_LIBRARY Legion_REALM_LIBRARY)

include(FindPackageHandleStandardArgs)
if(NOT Legion_INCLUDE_DIR)
  find_package(Legion CONFIG QUIET)
  if(Legion_FOUND AND Legion_VERSION AND Legion_VERSION VERSION_LESS Legion_OLDEST)
    message(WARNING "Legion ${Legion_VERSION} in ${Legion_DIR} is older than ${Legion_OLDEST}")
    set(Legion_FOUND OFF)
    return()
  endif()
  if(Legion_FOUND)
    find_package_handle_standard_args(Legion CONFIG_MODE)
    return()
  endif()
endif()

if(Legion_INCLUDE_DIR)
  file(STRINGS "${Legion_INCLUDE_DIR}/legate/deps/legion_defines.h" Legion_VERSION
       REGEX "define LEGION_VERSION ")
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)+" Legion_VERSION "${Legion_VERSION}")
endif()
find_package_handle_standard_args(
  Legion
  REQUIRED_VARS Legion_LIBRARY Legion_REALM_LIBRARY Legion_INCLUDE_DIR
  VERSION_VAR Legion_VERSION)

if(Legion_FOUND AND NOT TARGET Legion::Legion)
  add_library(Legion::Legion UNKNOWN IMPORTED)
  set_target_properties(
    Legion::Legion
    PROPERTIES IMPORTED_LOCATION "${Legion_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${Legion_INCLUDE_DIR}/legate/deps"
               INTERFACE_COMPILE_FEATURES cxx_std_17
               INTERFACE_LINK_LIBRARIES "${Legion_REALM_LIBRARY}"
               # Both libraries name libcuda.so.1, which only a machine with a driver has.
               INTERFACE_LINK_OPTIONS LINKER:--allow-shlib-undefined)
endif()
