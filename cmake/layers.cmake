# kw_layer(<folder> LINKS ...): the library kw_<folder> from every source below <folder> that is no test, no fuzz target and no main.
# Test sources (*_test.cpp) are remembered in KW_TESTS_<folder>.
function(kw_layer folder)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.S)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|main)\\.cpp$|/shim/|/adversarial/|/templates/")
  add_library(kw_${folder} STATIC ${sources})
  target_include_directories(kw_${folder} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(kw_${folder} PUBLIC ${ARG_LINKS})
  set(KW_TESTS_${folder} ${tests} PARENT_SCOPE)
endfunction()

function(kw_program name source)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)  # what bundled libraries need is found there, too
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
