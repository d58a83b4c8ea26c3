# One program per *_fuzz.cpp, named like its source; scripts/fuzz runs them. For clang, in the preset asan.
file(GLOB_RECURSE sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS core/*_fuzz.cpp benchsuite/*_fuzz.cpp sandbox/*_fuzz.cpp
     verifier/*_fuzz.cpp results/*_fuzz.cpp agent/*_fuzz.cpp)
foreach(source ${sources})
  cmake_path(GET source STEM target)
  add_executable(${target} ${source})
  string(REGEX REPLACE "/.*" "" library kw_${source})
  string(REPLACE "kw_agent" "kw_agent_prompting" library ${library})  # the only folder of the agent with fuzz targets
  target_link_libraries(${target} PRIVATE ${library})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endforeach()
add_executable(fuzz_seeds verifier/judging/fuzz_seeds_main.cpp)
target_link_libraries(fuzz_seeds PRIVATE kw_verifier)
