# Install rules: headers, one export and one .pc file for each component, the package file with its
# version, the language's data, the command.
include(CMakePackageConfigHelpers)

set(groma_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/groma")
set(groma_data_dir "${CMAKE_INSTALL_DATADIR}/groma")
get_property(groma_components GLOBAL PROPERTY GROMA_COMPONENTS)

# What is installed belongs to one of the components runtime (the command and its data), dev (headers,
# libraries, package files), legion (what Legion programs load), starpu (what StarPU programs load),
# programs (Legion programs) and license. GromaPackages.cmake makes packages of the first three.
set(GROMA_ZSH_COMPLETIONS_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
    CACHE STRING "Where the completion of zsh is installed")
install(DIRECTORY "${groma_SOURCE_DIR}/include/groma" TYPE INCLUDE COMPONENT dev)
install(DIRECTORY "${groma_SOURCE_DIR}/dsl/" DESTINATION "${groma_data_dir}" COMPONENT runtime)
install(FILES "${groma_SOURCE_DIR}/LICENSE" TYPE DOC COMPONENT license)
if(TARGET groma)
  install(TARGETS groma COMPONENT runtime)
  install(DIRECTORY "${groma_BINARY_DIR}/manual/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
          COMPONENT runtime OPTIONAL)
  set(completion "${groma_SOURCE_DIR}/packaging/completion")
  install(FILES "${completion}/groma.bash" RENAME groma COMPONENT runtime
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${completion}/groma.zsh" RENAME _groma COMPONENT runtime
          DESTINATION "${GROMA_ZSH_COMPLETIONS_DIR}")
  install(FILES "${completion}/groma.fish" COMPONENT runtime
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
if(TARGET groma_preload) # the command looks for it there
  install(TARGETS groma_preload groma_preload_mapper COMPONENT legion
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/groma")
  install(TARGETS groma_no_driver COMPONENT legion
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/groma/no_driver" NAMELINK_SKIP)
endif()
if(TARGET groma_starpu_preload)
  install(TARGETS groma_starpu_preload groma_starpu_preload_policy COMPONENT starpu
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/groma")
endif()

get_property(groma_programs GLOBAL PROPERTY GROMA_PROGRAMS)
if(groma_programs) # so does it for these
  install(TARGETS ${groma_programs} COMPONENT programs
          RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/groma/apps")
endif()

# Where FindLegion.cmake is to look when it is told nothing.
set(groma_legion_root "")
if(GROMA_LEGION AND Legion_INCLUDE_DIR)
  cmake_path(GET Legion_INCLUDE_DIR PARENT_PATH groma_legion_root)
elseif(GROMA_LEGION)
  set(groma_legion_root "${Legion_DIR}")
endif()

# The prefix is found from where the .pc file lies, so that an installed tree may be moved.
file(RELATIVE_PATH groma_pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
     "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" groma_pc_prefix "${groma_pc_prefix}")
file(RELATIVE_PATH groma_pc_libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH groma_pc_includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
file(RELATIVE_PATH groma_pc_datadir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_DATADIR}")

# Installs NAME.pc with the component `part`. It requires the .pc files in ARGN.
function(groma_install_pc name part description libs)
  set(groma_pc_name ${name})
  set(groma_pc_description "${description}")
  set(groma_pc_libs "${libs}")
  list(JOIN ARGN ", " groma_pc_requires)
  configure_file("${groma_SOURCE_DIR}/cmake/groma.pc.in" "${groma_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${groma_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
          COMPONENT ${part})
endfunction()

set(groma_config_table "")
set(groma_pc_components "")
foreach(component IN LISTS groma_components)
  set(part dev)
  if(component MATCHES "^(legion|starpu)$")
    set(part ${component})
  endif()
  # The command needs the shared libraries, but not the links that a linker follows.
  install(TARGETS groma_${component} EXPORT groma_${component}
          LIBRARY COMPONENT runtime NAMELINK_COMPONENT ${part}
          ARCHIVE COMPONENT ${part})
  install(EXPORT groma_${component} NAMESPACE groma:: FILE groma_${component}.cmake
          DESTINATION "${groma_package_dir}" COMPONENT ${part})

  get_property(components GLOBAL PROPERTY GROMA_COMPONENTS_OF_${component})
  get_property(packages GLOBAL PROPERTY GROMA_PACKAGES_OF_${component})
  if(BUILD_SHARED_LIBS)
    set(packages "") # the shared library brings them itself
  endif()
  string(APPEND groma_config_table "set(_groma_components_of_${component} ${components})\n"
                                   "set(_groma_packages_of_${component} ${packages})\n")

  set(requires ${components})
  list(TRANSFORM requires PREPEND groma-)
  list(APPEND requires ${packages})
  list(REMOVE_ITEM requires Legion) # has no .pc file
  list(TRANSFORM requires REPLACE "^CURL$" libcurl)
  list(TRANSFORM requires REPLACE "^StarPU$" "${StarPU_PC_NAME}")
  groma_install_pc(groma-${component} ${part} "${groma_DESCRIPTION} (component ${component})"
                   "-L\${libdir} -lgroma_${component}" ${requires})
  if(part STREQUAL "dev") # the others may not be installed
    list(PREPEND groma_pc_components groma-${component})
  endif()
endforeach()
groma_install_pc(groma dev "${groma_DESCRIPTION} (all components, without legion and starpu)" "" ${groma_pc_components})

configure_package_config_file(
  "${groma_SOURCE_DIR}/cmake/gromaConfig.cmake.in" "${groma_BINARY_DIR}/gromaConfig.cmake"
  INSTALL_DESTINATION "${groma_package_dir}"
  PATH_VARS groma_data_dir
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${groma_BINARY_DIR}/gromaConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${groma_BINARY_DIR}/gromaConfig.cmake"
              "${groma_BINARY_DIR}/gromaConfigVersion.cmake"
              "${groma_SOURCE_DIR}/cmake/FindLegion.cmake"
              "${groma_SOURCE_DIR}/cmake/FindStarPU.cmake"
              "${groma_SOURCE_DIR}/cmake/Findhwloc.cmake"
              "${groma_SOURCE_DIR}/cmake/Findre2.cmake" DESTINATION "${groma_package_dir}"
        COMPONENT dev)
