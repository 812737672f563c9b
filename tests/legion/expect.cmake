# Runs PROGRAM with MAPPING under Legion and wants exit code CODE and TEXT on standard error:
#   cmake -DPROGRAM=... -DMAPPING=... -DHOW=single -DCODE=1 -DTEXT=... -P expect.cmake
execute_process(
  COMMAND "${PROGRAM}" "${MAPPING}" -as "${HOW}" -ll:cpu 2 -ll:rsize 4 -logfile stderr
  RESULT_VARIABLE code
  ERROR_VARIABLE text
  TIMEOUT 60)
string(FIND "${text}" "${TEXT}" found)
if(NOT code STREQUAL CODE OR found EQUAL -1)
  message(FATAL_ERROR "exit code ${code}, expected ${CODE}; not there: ${TEXT}\n${text}")
endif()
