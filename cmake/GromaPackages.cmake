# Debian packages of the installed components, made by `cpack` in a build with the preset `package`:
# groma (the command), libgroma-dev (headers and libraries) and groma-legion (what needs a Legion).
# docs/install.md describes them; `bash packaging/debian/check.sh` makes and tries them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME groma)
set(CPACK_PACKAGE_VENDOR "the authors of Groma")
set(GROMA_PACKAGE_MAINTAINER "Groma <groma@localhost.localdomain>" CACHE STRING
    "Name and address of who publishes the packages")
set(CPACK_PACKAGE_CONTACT "${GROMA_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL runtime)
if(NOT BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL dev)
  if(GROMA_LEGION)
    list(APPEND CPACK_COMPONENTS_ALL legion)
  endif()
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(groma_same_version "${groma_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME groma)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"Maps tasks and data of parallel programs
Groma decides where the tasks and the data of a parallel program go. It checks
mappings, shows what they decide, simulates runs and searches for faster
mappings.

This package has the command groma, its manual pages, the completion of bash,
zsh and fish, and mappings to start from.")

# What a program needs that links the static libraries: find_package(groma) looks for it.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgroma-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "groma (= ${groma_same_version}), libfmt-dev, libhwloc-dev, libre2-dev, libcurl4-openssl-dev | libcurl4-gnutls-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cmake (>= 3.25), pkg-config")
set(CPACK_COMPONENT_DEV_DESCRIPTION
"Maps tasks and data of parallel programs (development files)
Groma decides where the tasks and the data of a parallel program go. A runtime
asks it through the hooks of a mapper.

This package has the headers, the static libraries and the package files for
CMake and pkg-config.")

# The Legion itself comes from the user, since Debian has none.
set(CPACK_DEBIAN_LEGION_PACKAGE_NAME groma-legion)
set(CPACK_DEBIAN_LEGION_PACKAGE_SECTION science)
set(CPACK_DEBIAN_LEGION_PACKAGE_DEPENDS "groma (= ${groma_same_version})")
set(CPACK_DEBIAN_LEGION_PACKAGE_SUGGESTS "libgroma-dev")
if(Legion_LIBRARY)
  cmake_path(GET Legion_LIBRARY PARENT_PATH groma_legion_libraries)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${groma_legion_libraries}")
endif()
set(CPACK_COMPONENT_LEGION_DESCRIPTION
"Runs Legion programs under mappings of Groma
Groma decides where the tasks and the data of a parallel program go.

This package has the libraries that groma run, record and tune load into
programs of Legion ${Legion_VERSION}, and the library to link with such
programs. Legion itself is not part of Debian: install the one
that the programs use.")

# Every package has its own copyright and list of changes, compressed as Debian wants it.
set(CPACK_PRE_BUILD_SCRIPTS "${groma_SOURCE_DIR}/packaging/debian/finish.cmake")
string(TIMESTAMP groma_package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file("${groma_SOURCE_DIR}/packaging/debian/changelog.in" "${groma_BINARY_DIR}/changelog.Debian" @ONLY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(folder "${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  install(FILES "${groma_SOURCE_DIR}/packaging/debian/copyright" "${groma_BINARY_DIR}/changelog.Debian"
          DESTINATION "${folder}" COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
