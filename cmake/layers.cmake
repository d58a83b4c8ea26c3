option(KW_UNITY "Compile several sources of a folder as one: a clean build takes a quarter of the processor time" ON)

# kw_unite(<target> <source>...): compiles the C++ sources of one folder together. Types of its namespace and file-local
# names are therefore unique within a folder, which the compiler checks.
function(kw_unite target)
  if(NOT KW_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# kw_folder_properties(<target> <folder> <property> <value>...): of the source into which those of a folder are united.
function(kw_folder_properties target folder)
  string(MAKE_C_IDENTIFIER "${folder}" group)
  set_source_files_properties(${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${group}_cxx.cxx PROPERTIES ${ARGN})
endfunction()

# kw_optimise(<target> <folder>...): with -O2. GCC cannot use headers that were precompiled otherwise.
function(kw_optimise target)
  foreach(folder ${ARGN})
    kw_folder_properties(${target} ${folder} COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# kw_layer(<folder> LINKS ...): the library kw_<folder>, '/' spelled '_', from every source below <folder> that is not a
# test, a fuzz target or a main. Test sources (*_test.cpp) are added to KW_TESTS_<top folder>.
function(kw_layer folder)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.S)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_fixture|main)\\.cpp$|/shim/|/templates/")
  string(REPLACE "/" "_" library kw_${folder})
  string(REGEX REPLACE "/.*" "" top ${folder})
  add_library(${library} STATIC ${sources})
  kw_unite(${library} ${sources})
  if(NOT folder STREQUAL "core")
    target_precompile_headers(${library} REUSE_FROM kw_core)
  endif()
  target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${library} PUBLIC ${ARG_LINKS})
  set(KW_TESTS_${top} ${KW_TESTS_${top}} ${tests} PARENT_SCOPE)
endfunction()

function(kw_program name source)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)  # what bundled libraries need is found there, too
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
