# Everything comes from the distribution's packages; scripts/install_packages names them.
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
find_package(CURL 7.85 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.74 REQUIRED COMPONENTS filesystem)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(zydis 4 REQUIRED)
find_path(DTL_INCLUDE_DIR dtl/dtl.hpp REQUIRED)  # headers alone

# JavaScript of the pages (results/web/pages), copied beside them when installing: charts, and the colours of sources.
find_file(KW_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH REQUIRED)
set(KW_PAGE_SCRIPTS ${KW_CHART_JS})
foreach(part core clike c cpp)
  find_file(KW_PRISM_${part} prism-${part}.min.js PATHS /usr/share/nodejs/prismjs/components NO_DEFAULT_PATH REQUIRED)
  list(APPEND KW_PAGE_SCRIPTS ${KW_PRISM_${part}})
endforeach()

# Never required: where the CUDA Toolkit is present the tests compile every shipped kernel with NVRTC.
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND AND TARGET CUDA::nvrtc)
  message(STATUS "CUDA Toolkit ${CUDAToolkit_VERSION}: kernels are also compiled with NVRTC in the tests")
else()
  message(STATUS "CUDA Toolkit not found: kernels are tested on the cpu device only")
endif()

# ROCm likewise. Nothing links against either: devices are opened at run time, by these names.
find_library(KW_HIPRTC NAMES libhiprtc.so.7 libhiprtc.so.6 libamdhip64.so.5 PATHS /opt/rocm/lib)
find_library(KW_COMGR NAMES libamd_comgr.so.3 libamd_comgr.so.2 PATHS /opt/rocm/lib)
if(KW_HIPRTC AND KW_COMGR)
  message(STATUS "ROCm's hiprtc (${KW_HIPRTC}): kernels are also compiled for AMD GPUs in the tests")
else()
  message(WARNING "ROCm's hiprtc not found: kernels are NOT compiled for AMD GPUs in the tests")
endif()
