# CUDA: nvcc, the toolkit's headers, and the *shared* runtime that programs
# link against and that either NVIDIA's library or simgpu provides at run time.
#
# CUDA_HOME (environment or -D) names the toolkit; else nvcc on PATH; else the
# usual prefix. tools/setup has made sure that one of them is there.
if(NOT CUDA_HOME)
  if(DEFINED ENV{CUDA_HOME})
    set(CUDA_HOME $ENV{CUDA_HOME})
  else()
    find_program(_nvcc nvcc HINTS /usr/local/cuda/bin)
    if(NOT _nvcc)
      message(FATAL_ERROR "no CUDA Toolkit: set CUDA_HOME, or run `make setup`")
    endif()
    file(REAL_PATH ${_nvcc} _nvcc_real)
    get_filename_component(CUDA_HOME ${_nvcc} DIRECTORY)
    get_filename_component(CUDA_HOME ${CUDA_HOME} DIRECTORY)
  endif()
endif()
set(CUDA_HOME ${CUDA_HOME} CACHE PATH "CUDA Toolkit")
set(CMAKE_CUDA_COMPILER ${CUDA_HOME}/bin/nvcc)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
# PTX for any GPU since Turing (simgpu reads this), machine code for Hopper.
set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
set(CMAKE_CUDA_FLAGS_RELEASE "-O2 -g -lineinfo")
set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -lineinfo -Xcompiler=-fno-omit-frame-pointer")
enable_language(CUDA)
set(CUDA_INCLUDE ${CUDA_HOME}/include)
find_library(CUDART_LIBRARY cudart REQUIRED
  PATHS ${CUDA_HOME}/lib64 ${CUDA_HOME}/lib NO_DEFAULT_PATH)

# What programs of ours that use CUDA link: headers and -lcudart.
add_library(faultlag_cuda INTERFACE)
target_include_directories(faultlag_cuda SYSTEM INTERFACE ${CUDA_INCLUDE})
target_link_libraries(faultlag_cuda INTERFACE ${CUDART_LIBRARY})
