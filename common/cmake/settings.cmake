# How everything in the book is compiled: release, C++20, the shared CUDA runtime, warnings as errors.
include_guard(GLOBAL)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR)
  # With the compiler that the tests use. A newer one may warn of more, and shouldn't stop a reader.
  set(tested OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    set(tested ON)
  endif()
  set(CMAKE_COMPILE_WARNING_AS_ERROR ${tested})
endif()

# Of a kernel's source file the host's side, which fills tables and queues launches. Optimised further
# it takes half as long again to compile; the device's code isn't touched by this.
string(REPLACE "-O3" "-O1" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")

# Shared, so that another implementation of the CUDA runtime can stand in for NVIDIA's.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
block(PROPAGATE CUDAToolkit_LIBRARY_DIR)
  # Debian 12's CMake stops at CUDA 13, which has no nvToolsExt, where a project asks for 3.25.
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit REQUIRED)
endblock()
# CMake takes the toolkit's folder for one that the loader searches anyway. With the wheels it isn't.
set(CMAKE_BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}")

# Line numbers for the profilers, which have no effect on the code that is generated; and PTX as text,
# so that the guide can read it out of a program.
set(BOOK_CUDA_OPTIONS -lineinfo --no-compress)

# What all of the book's own targets have in common. nvcc's own output can't stand -Wpedantic, and
# CMake 3.25 doesn't know that nvcc takes C++20.
add_library(book_settings INTERFACE)
target_compile_features(book_settings INTERFACE cxx_std_20)
target_compile_options(book_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic>
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-Wall,-Wextra --threads=2>)
