# Finds hwloc, which has no CMake package of its own: hwloc::hwloc, hwloc_VERSION. Installed beside
# gromaConfig.cmake, since a static groma::io needs it again.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(_hwloc QUIET hwloc)
  set(hwloc_VERSION "${_hwloc_VERSION}")
endif()
find_path(hwloc_INCLUDE_DIR hwloc.h HINTS ${_hwloc_INCLUDE_DIRS})
find_library(hwloc_LIBRARY hwloc HINTS ${_hwloc_LIBRARY_DIRS})
mark_as_advanced(hwloc_INCLUDE_DIR hwloc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  hwloc
  REQUIRED_VARS hwloc_LIBRARY hwloc_INCLUDE_DIR
  VERSION_VAR hwloc_VERSION)

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(
    hwloc::hwloc PROPERTIES IMPORTED_LOCATION "${hwloc_LIBRARY}"
                            INTERFACE_INCLUDE_DIRECTORIES "${hwloc_INCLUDE_DIR}")
endif()
