# What a chapter's CMakeLists.txt includes, after its project(). It works inside the whole book and
# for the chapter's folder alone.
include("${CMAKE_CURRENT_LIST_DIR}/cmake/toolkit.cmake")
enable_language(CUDA)
include("${CMAKE_CURRENT_LIST_DIR}/cmake/settings.cmake")
if(NOT TARGET book)
  add_subdirectory("${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_BINARY_DIR}/common")
endif()

# add_chapter(NAME [LIBRARIES library...] [DEBUG_SOURCES file.cu...])
#
# NAME_program  builds chapters/NAME/NAME in the build folder from main.cu; part of `all`
# NAME          builds it, and where no GPU is the embedded device's runtime, and leaves the link `run`
#               pointing at it, also when it was up to date
#
# LIBRARIES are linked as well: book::cub, for a chapter that uses CUB or WholeSum.
# DEBUG_SOURCES are compiled with -G: device code without optimisation, for chapter00 to show.
function(add_chapter name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;DEBUG_SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_chapter(${name}): doesn't know ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(program ${name}_program)
  add_executable(${program} main.cu)
  target_link_libraries(${program} PRIVATE book::book book_settings ${arg_LIBRARIES})
  target_compile_options(${program} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${BOOK_CUDA_OPTIONS}>")
  set_target_properties(${program} PROPERTIES
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/chapters/${name}")

  if(arg_DEBUG_SOURCES)
    # Objects of their own: -G and -lineinfo don't go together.
    add_library(${name}_debug OBJECT ${arg_DEBUG_SOURCES})
    target_link_libraries(${name}_debug PRIVATE book::book book_settings)
    target_compile_options(${name}_debug PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-G>)
    target_link_libraries(${program} PRIVATE ${name}_debug)
  endif()

  # Made in the top folder: in a chapter's own, Ninja takes NAME for the program's file instead.
  cmake_language(EVAL CODE "
    cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _add_run_target ${name})")
endfunction()

function(_add_run_target name)
  add_custom_target(${name}
    COMMAND ${CMAKE_COMMAND} -E create_symlink chapters/${name}/${name} "${CMAKE_BINARY_DIR}/run"
    VERBATIM)
  add_dependencies(${name} ${name}_program)
  if(TARGET embedded_runtime AND NOT BOOK_GPUS)
    add_dependencies(${name} embedded_runtime)  # where the program will run
  endif()
endfunction()
