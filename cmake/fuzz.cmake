# One program per *_fuzz.cpp, named like its source; scripts/fuzz runs them. For clang, in the preset asan.
file(GLOB_RECURSE sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS core/*_fuzz.cpp benchsuite/*_fuzz.cpp sandbox/*_fuzz.cpp
     verifier/*_fuzz.cpp results/*_fuzz.cpp agent/*_fuzz.cpp)
# What reads replies needs none of the agent but this folder: the rest takes minutes to compile.
file(GLOB prompting CONFIGURE_DEPENDS agent/prompting/*.cpp)
list(FILTER prompting EXCLUDE REGEX "(_test|_fuzz)\\.cpp$")
add_library(kw_prompting STATIC ${prompting})
target_link_libraries(kw_prompting PUBLIC kw_verifier fmt::fmt)
foreach(source ${sources})
  cmake_path(GET source STEM target)
  add_executable(${target} ${source})
  string(REGEX REPLACE "/.*" "" folder ${source})
  string(REPLACE "agent" "prompting" folder ${folder})
  target_link_libraries(${target} PRIVATE kw_${folder})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endforeach()
add_executable(fuzz_seeds verifier/judging/fuzz_seeds_main.cpp)
target_link_libraries(fuzz_seeds PRIVATE kw_verifier)
