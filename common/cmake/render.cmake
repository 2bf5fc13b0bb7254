# cmake -DPYTHON=... -DDOCS=... -DDOCTREES=... -DOUTPUT=... -P render.cmake
# Renders the guide; any warning is an error. Sphinx forgets the warnings of a page that it has read
# once, so after a failure it must read everything again.
execute_process(COMMAND "${PYTHON}" -m sphinx -b html -n -W --keep-going -q -d "${DOCTREES}"
  "${DOCS}" "${OUTPUT}"
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE_RECURSE "${DOCTREES}")
  message(FATAL_ERROR "Sphinx ended with status ${status}: its warnings are above")
endif()
