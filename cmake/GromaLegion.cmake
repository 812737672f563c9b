# Whether to build what needs Legion: GROMA_WITH_LEGION is AUTO (if there is one), ON (it must be there)
# or OFF. Sets GROMA_LEGION to whether there is one. A Legion of the user's wins over the package that
# cmake/bootstrap.sh keeps in the cache folder.
if(PROJECT_IS_TOP_LEVEL)
  set(groma_with_legion AUTO)
else()
  set(groma_with_legion OFF)
endif()
set(GROMA_WITH_LEGION "${groma_with_legion}" CACHE STRING "Build what needs Legion: AUTO, ON, OFF")
set_property(CACHE GROMA_WITH_LEGION PROPERTY STRINGS AUTO ON OFF)

# The folder where bootstrap.sh puts the package.
function(groma_legion_cache out)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(STRINGS "${groma_SOURCE_DIR}/cmake/legion.txt" package REGEX "^legate==")
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)+" version "${package}")
  set(${out} "${cache}/groma/legion-${version}" PARENT_SCOPE)
endfunction()

set(GROMA_LEGION OFF)
if(GROMA_WITH_LEGION)
  # What an earlier run of CMake found in the cache folder may be an earlier version.
  groma_legion_cache(groma_legion_cache)
  if(Legion_INCLUDE_DIR MATCHES "/groma/legion-" AND NOT Legion_INCLUDE_DIR MATCHES
                                                     "^${groma_legion_cache}/")
    unset(Legion_INCLUDE_DIR CACHE)
    unset(Legion_LIBRARY CACHE)
    unset(Legion_REALM_LIBRARY CACHE)
  endif()
  if(NOT TARGET Legion::Legion)
    find_package(Legion QUIET)
  endif()
  if(NOT TARGET Legion::Legion AND NOT Legion_ROOT AND NOT DEFINED ENV{Legion_ROOT})
    set(Legion_ROOT "${groma_legion_cache}")
    find_package(Legion QUIET)
    unset(Legion_ROOT)
  endif()
  if(TARGET Legion::Legion)
    set(GROMA_LEGION ON)
    if(Legion_INCLUDE_DIR)
      message(STATUS "Legion ${Legion_VERSION}: ${Legion_LIBRARY}")
    else()
      message(STATUS "Legion ${Legion_VERSION}: ${Legion_DIR}")
    endif()
  elseif(NOT GROMA_WITH_LEGION STREQUAL "AUTO")
    message(FATAL_ERROR "There is no Legion. `sh cmake/bootstrap.sh legion` fetches one; Legion_ROOT "
                        "names another; GROMA_WITH_LEGION=OFF goes without.")
  endif()
endif()

# Whether the loader finds a libcuda.so.1 by itself. Asked each time, since a driver may come or go, and
# without what LD_LIBRARY_PATH says just now.
set(GROMA_HAS_CUDA_DRIVER OFF)
if(GROMA_LEGION)
  include(CheckCXXSourceRuns)
  set(groma_library_path "$ENV{LD_LIBRARY_PATH}")
  unset(ENV{LD_LIBRARY_PATH})
  unset(GROMA_FOUND_CUDA_DRIVER CACHE)
  set(CMAKE_REQUIRED_LIBRARIES ${CMAKE_DL_LIBS})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_runs(
    "#include <dlfcn.h>
    int main() { return dlopen(\"libcuda.so.1\", RTLD_NOW) == nullptr; }"
    GROMA_FOUND_CUDA_DRIVER)
  unset(CMAKE_REQUIRED_QUIET)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(groma_library_path)
    set(ENV{LD_LIBRARY_PATH} "${groma_library_path}")
  endif()
  if(GROMA_FOUND_CUDA_DRIVER)
    set(GROMA_HAS_CUDA_DRIVER ON)
  endif()
endif()

# groma_starts_without_driver(TARGET): lets a program that Legion is linked to start from the build folder
# where there is no driver. It finds our stand-in for libcuda.so.1 by its RUNPATH, which the loader looks
# at after LD_LIBRARY_PATH; an installed program has no such RUNPATH. lib/legion/no_driver.cc ends the
# program where a driver was installed since.
function(groma_starts_without_driver target)
  if(GROMA_HAS_CUDA_DRIVER)
    return()
  endif()
  target_link_options(${target} PRIVATE LINKER:--enable-new-dtags)
  target_link_libraries(${target} PRIVATE -Wl,--push-state,--no-as-needed groma_no_driver
                                          -Wl,--pop-state)
endfunction()
