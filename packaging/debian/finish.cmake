# CPack runs this before it makes packages of the installed files: compresses manual pages and lists of
# changes as Debian wants it, without a date, and strips the static libraries.
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)
file(GLOB_RECURSE texts "${CPACK_TEMPORARY_DIRECTORY}/groma*.1" "${CPACK_TEMPORARY_DIRECTORY}/changelog.Debian")
foreach(text IN LISTS texts)
  execute_process(COMMAND "${gzip}" -9nf "${text}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE libraries "${CPACK_TEMPORARY_DIRECTORY}/libgroma_*.a")
foreach(library IN LISTS libraries)
  execute_process(
    COMMAND "${strip}" --strip-debug --enable-deterministic-archives --remove-section=.comment
            --remove-section=.note "${library}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
