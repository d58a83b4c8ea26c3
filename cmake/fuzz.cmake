# libFuzzer sees the branches of the folders whose code fuzz targets call. (-fsanitize=fuzzer-no-link does that for a whole
# library: a third more time to compile, and slower tests.)
set(seen COMPILE_OPTIONS -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth)
foreach(folder core benchsuite sandbox sandbox/gpu sandbox/process sandbox/cpu/compiler sandbox/cpu/inspection sandbox/cuda/inspection
        sandbox/hip/inspection verifier/judging verifier/verdicts results/archive results/transfer)
  string(REGEX REPLACE "/.*" "" library kw_${folder})
  kw_folder_properties(${library} ${folder} ${seen})
endforeach()
kw_folder_properties(kw_agent_prompting agent/prompting ${seen})
kw_folder_properties(kw_agent_mcp agent/mcp ${seen})

# One program per *_fuzz.cpp, named like its source; scripts/fuzz runs them. For clang, in the preset asan.
file(GLOB_RECURSE sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS core/*_fuzz.cpp benchsuite/*_fuzz.cpp sandbox/*_fuzz.cpp
     verifier/*_fuzz.cpp results/*_fuzz.cpp agent/*_fuzz.cpp)
foreach(source ${sources})
  cmake_path(GET source STEM target)
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
