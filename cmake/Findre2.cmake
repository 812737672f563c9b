# Finds RE2: re2::re2. Newer releases have a CMake package of their own, Debian 12's has none.
# Installed beside gromaConfig.cmake, since a static groma::guide needs it again.
find_package(re2 CONFIG QUIET)
if(NOT re2_FOUND)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(_re2 QUIET re2)
  endif()
  find_path(re2_INCLUDE_DIR re2/re2.h HINTS ${_re2_INCLUDE_DIRS})
  find_library(re2_LIBRARY re2 HINTS ${_re2_LIBRARY_DIRS})
  mark_as_advanced(re2_INCLUDE_DIR re2_LIBRARY)

  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(re2 REQUIRED_VARS re2_LIBRARY re2_INCLUDE_DIR)

  if(re2_FOUND AND NOT TARGET re2::re2)
    find_package(Threads REQUIRED)
    add_library(re2::re2 UNKNOWN IMPORTED)
    set_target_properties(
      re2::re2 PROPERTIES IMPORTED_LOCATION "${re2_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${re2_INCLUDE_DIR}"
                          INTERFACE_LINK_LIBRARIES Threads::Threads)
  endif()
endif()
