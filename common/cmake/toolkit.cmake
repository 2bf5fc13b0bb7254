# Finds nvcc and decides which GPU architectures to build for. Include it after project() and before
# enable_language(CUDA): CMake looks for nvcc in PATH alone, and by then it is too late to help.
#
#   CMAKE_CUDA_COMPILER       nvcc, from -DCMAKE_CUDA_COMPILER, CUDACXX, CUDA_HOME, PATH,
#                             /usr/local/cuda, or NVIDIA's wheels in this repository's .venv
#   CMAKE_CUDA_ARCHITECTURES  yours (-DCMAKE_CUDA_ARCHITECTURES or CUDAARCHS), else PTX for 75 and
#                             90, and machine code for the GPU that answers
include_guard(GLOBAL)

function(_find_nvcc)
  if(CMAKE_CUDA_COMPILER)
    return()
  endif()
  if(DEFINED ENV{CUDACXX})
    find_program(nvcc NAMES "$ENV{CUDACXX}" NO_CACHE)
    if(NOT nvcc)
      message(FATAL_ERROR "CUDACXX names \"$ENV{CUDACXX}\", which is not there.\n"
                          "Fix: set CUDACXX to an nvcc that exists, or unset it.")
    endif()
  else()
    file(GLOB wheel "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../.venv/lib/python3*/site-packages/nvidia/cu13/bin")
    set(places $ENV{PATH})
    cmake_path(CONVERT "${places}" TO_CMAKE_PATH_LIST places)
    find_program(nvcc NAMES nvcc NO_CACHE NO_DEFAULT_PATH
      PATHS "$ENV{CUDA_HOME}/bin" ${places} /usr/local/cuda/bin ${wheel})
    if(NOT nvcc)
      message(FATAL_ERROR
        "No CUDA compiler: looked for nvcc in CUDACXX, CUDA_HOME/bin, PATH, /usr/local/cuda/bin and .venv.\n"
        "Fix: run tools/setup (it fetches NVIDIA's compiler into .venv), "
        "or set CUDACXX to your nvcc.")
    endif()
  endif()
  set(CMAKE_CUDA_COMPILER "${nvcc}" CACHE FILEPATH "CUDA compiler")
  message(STATUS "CUDA compiler: ${nvcc}")
endfunction()

function(_decide_architectures)
  if(DEFINED ENV{CUDAARCHS} AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "$ENV{CUDAARCHS}" CACHE STRING "CUDA architectures")
  endif()
  if(CMAKE_CUDA_ARCHITECTURES)
    set(message "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES} (as asked)")
    if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)([0-9]+[af]?(-virtual)?|all|all-major|native)(;|$)")
      string(APPEND message "; no PTX among them, so the embedded device can't run these programs")
    endif()
    message(STATUS "${message}")
    return()
  endif()

  # 75 is the oldest that CUDA 13 knows; the recorded runs and the embedded device use 90.
  set(list 75-virtual 90-virtual)
  file(REAL_PATH "${CMAKE_CUDA_COMPILER}" nvcc)
  cmake_path(GET nvcc PARENT_PATH bin)
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code
    OUTPUT_VARIABLE known ERROR_QUIET)
  if(known MATCHES "sm_61")  # CUDA 12 or older: GTX 10xx cards are built for as well
    list(APPEND list 61-real)
  endif()
  # Asks the driver; fails where there is none. `native` can't be combined with other values.
  execute_process(COMMAND "${bin}/__nvcc_device_query"
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    string(REGEX MATCHALL "[0-9]+" gpus "${answer}")
    foreach(gpu IN LISTS gpus)
      if(known MATCHES "sm_${gpu}[^0-9]")
        list(APPEND list ${gpu}-real)
      else()
        message(WARNING "This toolkit can't build for the GPU here (sm_${gpu}).\n"
                        "A GTX 10xx card (sm_61) needs CUDA 12; a card newer than the toolkit "
                        "runs the PTX of compute_90.")
      endif()
    endforeach()
    set(why "this machine's GPU included")
  else()
    set(why "no GPU here")
  endif()
  list(REMOVE_DUPLICATES list)
  set(CMAKE_CUDA_ARCHITECTURES "${list}" CACHE STRING "CUDA architectures")
  message(STATUS "CUDA architectures: ${list} (${why})")
endfunction()

_find_nvcc()
_decide_architectures()
