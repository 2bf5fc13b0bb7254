# Finds nvcc and the GPUs, and decides which architectures to build for. Include it after project()
# and before enable_language(CUDA): CMake looks for nvcc in PATH alone, and by then it is too late to
# help. What is decided once stays; a GPU that comes later needs a fresh build folder.
#
#   CMAKE_CUDA_COMPILER       nvcc, from -DCMAKE_CUDA_COMPILER, CUDACXX, CUDA_HOME, PATH,
#                             /usr/local/cuda, or NVIDIA's wheels in this repository's .venv
#   BOOK_GPUS                 compute capabilities of the GPUs that answer and can run what this
#                             toolkit builds, e.g. 86;90; empty for none. Yours with -DBOOK_GPUS=...
#   CMAKE_CUDA_ARCHITECTURES  yours (-DCMAKE_CUDA_ARCHITECTURES or CUDAARCHS), else machine code for
#                             those GPUs and PTX for 90; where there is none, PTX for 90 alone
#
# PTX for 90, whichever GPU there is: it is what the recorded counts were compiled from, the embedded
# device takes the highest that its profile allows (an H200's, unless told otherwise), and a driver
# compiles it for any GPU that is newer. For the embedded device as a T4, and for an older GPU of
# another machine, ask for more: -DCMAKE_CUDA_ARCHITECTURES='75-virtual;90-virtual'.
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

function(_find_gpus)
  if(DEFINED BOOK_GPUS)
    return()
  endif()
  # Asks the driver; fails where there is none. `native` can't be combined with other values.
  file(REAL_PATH "${CMAKE_CUDA_COMPILER}" nvcc)
  cmake_path(GET nvcc PARENT_PATH bin)
  execute_process(COMMAND "${bin}/__nvcc_device_query"
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE status)
  set(gpus "")
  if(status EQUAL 0)
    string(REGEX MATCHALL "[0-9]+" found "${answer}")
    list(REMOVE_DUPLICATES found)
    foreach(gpu IN LISTS found)
      if(gpu IN_LIST known_gpus OR gpu GREATER 90)
        list(APPEND gpus ${gpu})
      else()
        message(WARNING "This toolkit can't build for the GPU here (sm_${gpu}).\n"
                        "A GTX 10xx card (sm_61) needs CUDA 12.")
      endif()
    endforeach()
  endif()
  set(BOOK_GPUS "${gpus}" CACHE STRING "Compute capabilities of the GPUs here")
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

  if(BOOK_GPUS)
    set(why "for the GPU here")
    set(list "")
    foreach(gpu IN LISTS BOOK_GPUS)
      if(gpu IN_LIST known_gpus)  # one that is newer runs the PTX
        list(APPEND list ${gpu}-real)
      endif()
    endforeach()
  else()
    set(why "no GPU here")
    set(list "")
    if(61 IN_LIST known_gpus)  # CUDA 12 or older: GTX 10xx cards are built for as well
      list(APPEND list 61-real)
    endif()
  endif()
  list(APPEND list 90-virtual)
  set(CMAKE_CUDA_ARCHITECTURES "${list}" CACHE STRING "CUDA architectures")
  message(STATUS "CUDA architectures: ${list} (${why})")
endfunction()

_find_nvcc()
# What the toolkit can build for, as 75;80;86 and so on.
execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code OUTPUT_VARIABLE known_gpus ERROR_QUIET)
string(REGEX MATCHALL "[0-9]+" known_gpus "${known_gpus}")
_find_gpus()
_decide_architectures()
