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

# NVIDIA's own runtime and CUPTI travel with the build folder, so that a
# finished build runs on a GPU machine that has a driver and no toolkit. What
# the linker records is relative to the executable.
set(NVIDIA_LIB_DIR ${CMAKE_BINARY_DIR}/lib/cuda)
foreach(lib cudart cupti)
  file(GLOB _real ${CUDA_HOME}/lib64/lib${lib}.so.13 ${CUDA_HOME}/lib/lib${lib}.so.13
       ${CUDA_HOME}/extras/CUPTI/lib64/lib${lib}.so.13)
  if(_real)
    list(GET _real 0 _real)
    file(REAL_PATH ${_real} _real)
    file(MAKE_DIRECTORY ${NVIDIA_LIB_DIR})
    configure_file(${_real} ${NVIDIA_LIB_DIR}/lib${lib}.so.13 COPYONLY)
    file(CREATE_LINK lib${lib}.so.13 ${NVIDIA_LIB_DIR}/lib${lib}.so SYMBOLIC)
  endif()
endforeach()
set(CUDART_LIBRARY ${NVIDIA_LIB_DIR}/libcudart.so)
if(NOT EXISTS ${CUDART_LIBRARY})
  message(FATAL_ERROR "no libcudart.so.13 under ${CUDA_HOME}: a CUDA 13 toolkit is needed")
endif()
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# What programs of ours that use CUDA link: headers and -lcudart.
add_library(faultlag_cuda INTERFACE)
target_include_directories(faultlag_cuda SYSTEM INTERFACE ${CUDA_INCLUDE})
target_link_libraries(faultlag_cuda INTERFACE ${CUDART_LIBRARY})
