# libFuzzer sees the branches of the folders whose code fuzz targets call. (-fsanitize=fuzzer-no-link does that for a whole
# library: a third more time to compile, and slower tests.)
set(seen core benchsuite sandbox sandbox/gpu sandbox/process sandbox/cpu/compiler sandbox/cpu/inspection sandbox/cuda/inspection
    sandbox/hip/inspection verifier/judging verifier/verdicts results/archive results/transfer agent/prompting agent/mcp)
foreach(folder ${seen})
  string(REGEX REPLACE "/.*" "" library kw_${folder})
  if(folder MATCHES "^agent/([a-z]+)$")  # whose folders are libraries
    set(library kw_agent_${CMAKE_MATCH_1})
  endif()
  kw_folder_properties(${library} ${folder} COMPILE_OPTIONS
                       -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth)
endforeach()

# One program per *_fuzz.cpp, named like its source; scripts/fuzz runs them. For clang, in the preset asan.
file(GLOB_RECURSE sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS core/*_fuzz.cpp benchsuite/*_fuzz.cpp sandbox/*_fuzz.cpp
     verifier/*_fuzz.cpp results/*_fuzz.cpp agent/*_fuzz.cpp)
foreach(source ${sources})
  cmake_path(GET source STEM target)
  cmake_path(GET source PARENT_PATH folder)
  if(NOT folder IN_LIST seen)
    message(FATAL_ERROR "${source}: libFuzzer does not see the branches of its folder; name it above")
  endif()
  add_executable(${target} ${source})
  string(REGEX REPLACE "/.*" "" library kw_${source})
  if(source MATCHES "^agent/([a-z]+)/")  # whose folders are libraries
    set(library kw_agent_${CMAKE_MATCH_1})
  endif()
  target_link_libraries(${target} PRIVATE ${library})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endforeach()
add_executable(fuzz_seeds verifier/judging/fuzz_seeds_main.cpp)
target_link_libraries(fuzz_seeds PRIVATE kw_verifier)
