# One program per *_fuzz.cpp, named like its source; scripts/fuzz runs them. For clang, in the preset asan.
file(GLOB_RECURSE sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS core/*_fuzz.cpp benchsuite/*_fuzz.cpp sandbox/*_fuzz.cpp
     verifier/*_fuzz.cpp results/*_fuzz.cpp agent/*_fuzz.cpp)
foreach(source ${sources})
  cmake_path(GET source STEM target)
  cmake_path(GET source PARENT_PATH folder)
  if(NOT folder IN_LIST KW_FUZZED)
    message(FATAL_ERROR "${source}: libFuzzer does not see the branches of its folder; name it in CMakeLists.txt")
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
