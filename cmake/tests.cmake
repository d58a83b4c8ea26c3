enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

# Tests that need a GPU (*_gpu_test.cpp) are a program of their own, which scripts/pack --gpu-tests packs. It is always
# built, but with sanitizers; ctest runs it, in the root of the repository, where -DKW_GPU_TESTS=ON asks for that.
option(KW_GPU_TESTS "Run the tests that need an NVIDIA GPU" OFF)
set(gpu_tests)
foreach(folder core benchsuite sandbox verifier results agent)
  set(of_folder ${KW_TESTS_${folder}})
  list(FILTER of_folder INCLUDE REGEX "_gpu_test\\.cpp$")
  list(APPEND gpu_tests ${of_folder})
  list(FILTER KW_TESTS_${folder} EXCLUDE REGEX "_gpu_test\\.cpp$")
endforeach()
add_executable(gpu_tests ${gpu_tests})
kw_unite(gpu_tests ${gpu_tests})
target_link_libraries(gpu_tests PRIVATE kw_agent GTest::gmock GTest::gtest_main)
target_precompile_headers(gpu_tests REUSE_FROM kw_core)
target_link_options(gpu_tests PRIVATE -Wl,--disable-new-dtags)
if(KW_FUZZ)
  set_target_properties(gpu_tests PROPERTIES EXCLUDE_FROM_ALL ON)  # nothing runs them there
endif()
add_dependencies(gpu_tests kernelwright kernelwright-cpu kernelwright-cuda kernelwright-hip)
install(TARGETS gpu_tests RUNTIME DESTINATION bin COMPONENT gpu_tests EXCLUDE_FROM_ALL)
if(KW_GPU_TESTS)
  add_test(NAME gpu_tests COMMAND gpu_tests WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(gpu_tests PROPERTIES LABELS gpu TIMEOUT 600)
endif()

# It compares billions of numbers: a fifth of the time when optimised.
set_source_files_properties(${CMAKE_SOURCE_DIR}/verifier/comparison/honest_test.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O2>)

# CUDA's headers and HIP's declare the same names.
set_source_files_properties(${CMAKE_SOURCE_DIR}/sandbox/hip/driver/driver_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# A HIP runtime that executes host builds, and the worker program that makes them: for tests of the hip device without a
# GPU, in a folder of their own, where no program looks for workers. The library takes the cpu device's runtime from the
# program that opens it.
set(test_hip ${CMAKE_BINARY_DIR}/test_hip)
add_library(kw_test_hip MODULE sandbox/hip/test_driver/runtime_fixture.cpp sandbox/hip/test_driver/rocblas_fixture.cpp)
target_include_directories(kw_test_hip PRIVATE ${CMAKE_SOURCE_DIR})
set_target_properties(kw_test_hip PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${test_hip})
add_executable(test_hip_worker verifier/devices/hip/test_worker_fixture.cpp)
target_link_libraries(test_hip_worker PRIVATE -Wl,--whole-archive kw_sandbox -Wl,--no-whole-archive kw_verifier)
set_target_properties(test_hip_worker PROPERTIES OUTPUT_NAME kernelwright-hip RUNTIME_OUTPUT_DIRECTORY ${test_hip} ENABLE_EXPORTS ON
  DEFINE_SYMBOL "")
target_precompile_headers(test_hip_worker REUSE_FROM kw_core)
add_dependencies(test_hip_worker kw_test_hip)
# What torch_memory.py calls of a HIP runtime.
add_library(kw_test_hip_memory MODULE verifier/devices/torch/hip_memory_fixture.cpp)
# A Python opens it, which has no sanitizer in it.
target_compile_options(kw_test_hip_memory PRIVATE -fno-sanitize=all)
target_link_options(kw_test_hip_memory PRIVATE -fno-sanitize=all)
set_target_properties(kw_test_hip_memory PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${test_hip} PREFIX "" OUTPUT_NAME libamdhip64
  SUFFIX .so.7)
add_dependencies(test_hip_worker kw_test_hip_memory)

# One test program per folder, from the *_test.cpp files beside the sources. The label of a test is "fast" or "slow".
# COST: the longest begin first, so that no core is idle at the end.
# All tests together take long, so those that take long are in one of six parts (a label, part_1 to part_6), of which
# scripts/test runs the one that the commit draws. What a kernel must pass is in no part, and so are fast tests. With
# sanitizers, the programs of a part (the target part_1 to part_6) have the fast tests of a folder or two.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/slow_tests.txt slow REGEX "^[^#]")
list(JOIN slow ":" slow)
# Each test is a process of its own, but for suites that need what takes long to start (a judge, NVRTC, hiprtc): "=" the
# part of each process that has some of their tests (0: in none).
set(shared_suites_sandbox "All/NvrtcCompiles.TheDefaultPoint=0,0,0" "All/NvrtcCompiles.AnotherPoint=1,2,3,4,5,6"
    "All/HiprtcCompiles.TheDefaultPoint=0,0" "All/HiprtcCompiles.ForWaves=1,2,3,4,5,6" "All/KernelsOnCpu=0,0"
    "All/KernelsForGpus=0,0" "All/KernelsInHip=1,2,3,4,5,6" "*Shim*=1,2,3,4,5,6")
set(shared_suites_verifier "Problems/ShippedProblem=1,2,3,4,5,6,1,2,3,4,5,6" "JudgeInputs=4" "JudgeKernels=5")
set(shared_suites_agent "HipDevice=6")
# The same for the fast tests of each folder, with sanitizers.
set(sanitized "agent=1,1,2,2" "sandbox=3,3,4,4" "verifier=5,5" "results=6,6" "core=6" "benchsuite=6")
foreach(part RANGE 1 6)
  add_custom_target(part_${part})
endforeach()
set(shared)
foreach(entry ${shared_suites_sandbox} ${shared_suites_verifier} ${shared_suites_agent})
  string(REGEX REPLACE "=.*" "" suite ${entry})
  list(APPEND shared "${suite}*")
endforeach()
list(TRANSFORM shared REPLACE "^([^.]+)[*]$" "\\1.*")
list(JOIN shared ":" shared)

# Tests of a filter in several processes. `entry`: name=part,part...
function(kw_processes target entry filter label)
  string(REGEX MATCHALL "[^=,*]+" parts "${entry}")
  list(POP_FRONT parts name)
  list(LENGTH parts processes)
  set(index 0)
  foreach(part ${parts})
    math(EXPR process "${index} + 1")
    set(test "${name} ${process} of ${processes}")
    set(labels ${label})
    if(part)
      list(APPEND labels part_${part})
      add_dependencies(part_${part} ${target})
    endif()
    add_test(NAME ${test} COMMAND ${target} --gtest_brief=1 --gtest_filter=${filter})
    set_tests_properties(${test} PROPERTIES TIMEOUT 900 LABELS "${labels}" COST 12
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${processes};GTEST_SHARD_INDEX=${index}")
    set(index ${process})
  endforeach()
endfunction()

foreach(folder core benchsuite sandbox verifier results agent)
  if(KW_TESTS_${folder})
    add_executable(${folder}_tests ${KW_TESTS_${folder}})
    kw_unite(${folder}_tests ${KW_TESTS_${folder}})
    target_link_libraries(${folder}_tests PRIVATE kw_${folder} GTest::gmock GTest::gtest_main)
    if(folder STREQUAL "core")
      target_precompile_headers(core_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
    else()
      target_precompile_headers(${folder}_tests REUSE_FROM core_tests)
    endif()
    target_compile_options(${folder}_tests PRIVATE ${KW_PLAIN_OPTIONS})
    target_compile_definitions(${folder}_tests PRIVATE KW_SOURCE_FOLDER="${CMAKE_SOURCE_DIR}")
    set_target_properties(${folder}_tests PROPERTIES ENABLE_EXPORTS ON DEFINE_SYMBOL "")  # one header serves all
    # Tests find programs and data as an installed program would: beside themselves. The first two folders start none.
    if(NOT folder MATCHES "core|benchsuite")
      add_dependencies(${folder}_tests kernelwright kernelwright-cpu kernelwright-cuda kernelwright-hip test_hip_worker)
    endif()
    # A program takes longer to start than most fast tests take, so few processes have all of a folder.
    if(KW_FUZZ)
      set(entry ${sanitized})
      list(FILTER entry INCLUDE REGEX "^${folder}=")
      kw_processes(${folder}_tests ${entry} -${slow} fast)
      continue()
    endif()
    kw_processes(${folder}_tests ${folder}=0,0 -${slow} fast)
    gtest_discover_tests(${folder}_tests DISCOVERY_TIMEOUT 60 TEST_FILTER "${slow}:-${shared}" TEST_LIST ${folder}_slow
                         PROPERTIES TIMEOUT 600 COST 10)
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_SOURCE_DIR}/cmake/test_parts.cmake)
    foreach(entry ${shared_suites_${folder}})
      string(REGEX REPLACE "=.*" "" suite ${entry})
      string(REGEX REPLACE "^([^.]+)$" "\\1." filter ${suite})
      kw_processes(${folder}_tests ${entry} "${filter}*" slow)
    endforeach()
  endif()
endforeach()

# Where the toolkit is, for what is compared with its headers and compiled by its compiler.
if(TARGET sandbox_tests AND CUDAToolkit_FOUND AND TARGET CUDA::nvrtc)
  cmake_path(GET CUDAToolkit_LIBRARY_DIR PARENT_PATH cuda_home)
  foreach(tests sandbox_tests verifier_tests agent_tests)
    target_compile_definitions(${tests} PRIVATE KW_HAVE_NVRTC KW_CUDA_HOME="${cuda_home}")
  endforeach()
  target_include_directories(sandbox_tests SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endif()

# Where hiprtc is, the tests compile for AMD GPUs.
if(KW_HIPRTC AND KW_COMGR AND TARGET sandbox_tests)
  foreach(tests sandbox_tests verifier_tests agent_tests)
    target_compile_definitions(${tests} PRIVATE KW_HAVE_HIPRTC)
  endforeach()
endif()

add_test(NAME include_direction COMMAND ${CMAKE_SOURCE_DIR}/scripts/check_includes ${CMAKE_SOURCE_DIR})

if(KW_FUZZ)
  return()  # what follows runs much that is not ours to sanitize
endif()

# Exported projects are compiled by nvcc where it is.
find_program(KW_NVCC nvcc HINTS ${CUDAToolkit_BIN_DIR} /usr/local/cuda/bin)
if(KW_NVCC)
  target_compile_definitions(results_tests PRIVATE KW_NVCC="${KW_NVCC}")
  add_test(NAME try_exports COMMAND ${CMAKE_SOURCE_DIR}/scripts/try_exports --tree ${CMAKE_BINARY_DIR})
  set_tests_properties(try_exports PROPERTIES LABELS "export;part_3" TIMEOUT 900 PROCESSORS 2 COST 30)
else()
  message(WARNING "nvcc not found: exported projects are NOT compiled in the tests; install the CUDA Toolkit for that")
endif()

# Pages in a real browser, where there is one with its driver. Ubuntu's chromium-browser may be a script that asks for a snap.
find_program(KW_BROWSER NAMES chromium google-chrome chrome chromium-browser)
find_program(KW_BROWSER_DRIVER NAMES chromedriver)
find_program(KW_BROWSER_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)  # whose packages the distribution's are
set(browser_works FALSE)
if(KW_BROWSER AND KW_BROWSER_DRIVER AND KW_BROWSER_PYTHON)
  execute_process(COMMAND ${KW_BROWSER} --version RESULT_VARIABLE browser_failed OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND ${KW_BROWSER_PYTHON} -c "import selenium" RESULT_VARIABLE selenium_failed OUTPUT_QUIET ERROR_QUIET)
  if(browser_failed EQUAL 0 AND selenium_failed EQUAL 0)
    set(browser_works TRUE)
  endif()
endif()
if(browser_works)
  message(STATUS "${KW_BROWSER}: pages are tried in it")
  add_test(NAME pages_browser_test
           COMMAND ${KW_BROWSER_PYTHON} ${CMAKE_SOURCE_DIR}/results/web/pages_browser_test.py --programs ${CMAKE_BINARY_DIR}/bin
                   --kernels ${CMAKE_SOURCE_DIR}/kernels --browser ${KW_BROWSER} --driver ${KW_BROWSER_DRIVER})
  set_tests_properties(pages_browser_test PROPERTIES LABELS "browser;part_5" TIMEOUT 600 COST 20)
else()
  message(WARNING "No Chromium or Chrome with chromedriver and python3-selenium: pages are NOT tried in a browser")
endif()

# Kernels for AMD architectures that hiprtc here does not know. Where clang 19 is not, it prints a line that says so.
find_program(KW_PYTHON3 NAMES python3)
if(KW_PYTHON3)
  add_test(NAME compile_for_amd COMMAND ${KW_PYTHON3} ${CMAKE_SOURCE_DIR}/scripts/compile_for_amd)
  set_tests_properties(compile_for_amd PROPERTIES LABELS "slow;part_6" TIMEOUT 900 SKIP_RETURN_CODE 77 COST 15)
endif()

# The MCP server with the Python package mcp as its client. Where that cannot be had, it prints a line that says so.
if(KW_PYTHON3)
  add_test(NAME try_mcp COMMAND ${KW_PYTHON3} ${CMAKE_SOURCE_DIR}/scripts/try_mcp --tree ${CMAKE_BINARY_DIR})
  set_tests_properties(try_mcp PROPERTIES LABELS "slow;part_4" TIMEOUT 600 SKIP_RETURN_CODE 77 COST 15)
endif()

# PyTorch on the processor. Where there is none, each test prints a line that says so, and counts as skipped.
if(KW_PYTHON3)
  set(part_of_files 2)
  set(part_of_problems 1)
  foreach(group files problems)
    add_test(NAME try_pytorch_${group} COMMAND ${KW_PYTHON3} ${CMAKE_SOURCE_DIR}/scripts/try_pytorch
             --tree ${CMAKE_BINARY_DIR} --only ${group})
    set_tests_properties(try_pytorch_${group} PROPERTIES LABELS "slow;part_${part_of_${group}}" TIMEOUT 1500 SKIP_RETURN_CODE 77 COST 20)
  endforeach()
else()
  message(WARNING "python3 not found: PyTorch is NOT tried in the tests")
endif()
