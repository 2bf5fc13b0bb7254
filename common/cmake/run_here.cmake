# cmake -DPROGRAM=... -DOUTPUT=... -P run_here.cmake
# Runs a chapter program with its defaults and keeps its console text. Where what it needs is not
# there (exit status 77: no GPU, and no embedded device) the text is one line that says so.
# One thread of the CPU, as for the recorded texts: else blocks of the embedded device that wait for
# each other look as often as it takes, and no two texts are alike.
set(ENV{EMU_THREADS} 1)
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
string(STRIP "${errors}" errors)
if(status EQUAL 77)
  set(text "not run here: ${errors}\n")
elseif(status EQUAL 0)
  set(text "$ ./run\n${text}")
else()
  message(FATAL_ERROR "${PROGRAM} ended with status ${status}: ${errors}")
endif()
file(WRITE "${OUTPUT}" "${text}")
