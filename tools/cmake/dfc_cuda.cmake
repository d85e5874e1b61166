# DFC_CUDA=AUTO|ON|OFF: whether the CUDA backend is built. AUTO: where nvcc is found. ON: nvcc must be there.
# The backend is a module of its own; `dfc` is the same program with and without it.

# The text of the CUDA kernels: plain C++ that needs no CUDA, built and tested everywhere.
dfc_room_library(dfc_cuda_kernels GLOBS runtime/cuda/kernels/*.cpp LINKS dfc_ir)

set(DFC_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where nvcc is found), ON or OFF")
set_property(CACHE DFC_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT DFC_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "DFC_CUDA is '${DFC_CUDA}'; it must be AUTO, ON or OFF")
endif()

dfc_sources(dfc_cuda_sources GLOBS runtime/cuda/*.cpp runtime/cuda/*.cu EXCLUDE ^runtime/cuda/kernels/)
find_program(DFC_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDACXX PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(DFC_CUDA STREQUAL ON AND NOT DFC_NVCC)
  message(FATAL_ERROR "DFC_CUDA=ON, but there is no nvcc on PATH or in /usr/local/cuda/bin")
endif()

if(DFC_CUDA STREQUAL OFF)
  message(STATUS "dfc: CUDA off: DFC_CUDA=OFF")
elseif(NOT DFC_NVCC)
  message(STATUS "dfc: CUDA off: DFC_CUDA=AUTO and no nvcc found")
elseif(NOT dfc_cuda_sources)
  message(STATUS "dfc: CUDA off: nvcc is ${DFC_NVCC}, but runtime/cuda has no sources")
else()
  set(CMAKE_CUDA_COMPILER "${DFC_NVCC}")
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  dfc_backend_module(dfc_cuda GLOBS runtime/cuda/*.cpp runtime/cuda/*.cu LINKS dfc_ir CUDA::cudart CUDA::cublasLt)
  message(STATUS "dfc: CUDA on: ${DFC_NVCC}")
endif()
