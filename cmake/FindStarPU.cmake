# Finds StarPU by pkg-config: StarPU::StarPU, StarPU_VERSION, StarPU_PC_NAME (of its .pc file). Installed beside gromaConfig.cmake, since a
# static groma::starpu needs it again. The newest of the versions that Groma knows is taken.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_search_module(_starpu QUIET starpu-1.4 starpu-1.3)
  set(StarPU_VERSION "${_starpu_VERSION}")
  set(StarPU_PC_NAME "${_starpu_MODULE_NAME}")
endif()
find_path(StarPU_INCLUDE_DIR starpu.h HINTS ${_starpu_INCLUDE_DIRS})
find_library(StarPU_LIBRARY NAMES starpu-1.4 starpu-1.3 HINTS ${_starpu_LIBRARY_DIRS})
mark_as_advanced(StarPU_INCLUDE_DIR StarPU_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  StarPU
  REQUIRED_VARS StarPU_LIBRARY StarPU_INCLUDE_DIR
  VERSION_VAR StarPU_VERSION)

if(StarPU_FOUND AND NOT TARGET StarPU::StarPU)
  add_library(StarPU::StarPU UNKNOWN IMPORTED)
  set_target_properties(
    StarPU::StarPU PROPERTIES IMPORTED_LOCATION "${StarPU_LIBRARY}"
                              INTERFACE_INCLUDE_DIRECTORIES "${StarPU_INCLUDE_DIR}")
endif()
