# DFC_CUDA=AUTO|ON|OFF: whether the CUDA backend is built. AUTO: where the toolkit is found. ON: it must be there.
# The backend is a module of its own; `dfc` is the same program with and without it. Its kernels are compiled at run
# time by NVRTC, so that only the toolkit's headers and libraries are needed here, and no nvcc.

set(DFC_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where the CUDA toolkit is found), ON or OFF")
set_property(CACHE DFC_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT DFC_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "DFC_CUDA is '${DFC_CUDA}'; it must be AUTO, ON or OFF")
endif()

# The cache of compiled kernels: host code without CUDA, built and tested with or without it.
dfc_room_library(dfc_kernel_cache GLOBS runtime/cuda/library/kernel_cache.cpp LINKS dfc_ir ZLIB::ZLIB)

if(DFC_CUDA STREQUAL OFF)
  message(STATUS "dfc: CUDA off: DFC_CUDA=OFF")
  return()
endif()
find_package(CUDAToolkit 13 QUIET)
foreach(part cudart_static cublasLt nvrtc)
  if(NOT TARGET CUDA::${part})
    list(APPEND dfc_cuda_missing ${part})
  endif()
endforeach()
if(dfc_cuda_missing AND DFC_CUDA STREQUAL ON)
  list(JOIN dfc_cuda_missing ", " missing)
  message(FATAL_ERROR "DFC_CUDA=ON, but the CUDA 13 toolkit is not found or lacks ${missing}: install it, or point "
                      "CUDAToolkit_ROOT at it")
elseif(dfc_cuda_missing)
  message(STATUS "dfc: CUDA off: DFC_CUDA=AUTO and no CUDA 13 toolkit found")
  return()
endif()

# The runtime's sources that the module uses: a copy of its own, as they have no shared state.
dfc_backend_module(dfc_cuda GLOBS runtime/cuda/*.cpp EXCLUDE "^runtime/cuda/library/kernel_cache"
                   EXTRA runtime/progress.cpp runtime/cpu/thread_pool.cpp
                   LINKS dfc_kernel_cache dfc_ir CUDA::cudart_static CUDA::cublasLt CUDA::nvrtc
                         Threads::Threads)
message(STATUS "dfc: CUDA on: ${CUDAToolkit_VERSION} in ${CUDAToolkit_LIBRARY_DIR}")
