set(KW_UNITY FOLDER CACHE STRING "Which sources are compiled as one: OFF (none), FOLDER (those of a folder: a clean build takes a
quarter of the processor time) or WIDE (those of several folders: half of that, but what changes takes longer to compile)")
set_property(CACHE KW_UNITY PROPERTY STRINGS OFF FOLDER WIDE)
if(NOT KW_UNITY MATCHES "^(OFF|ON|FOLDER|WIDE)$")  # ON, of older trees, is FOLDER
  message(FATAL_ERROR "KW_UNITY is '${KW_UNITY}'; it may be OFF, FOLDER or WIDE")
endif()

# Folders whose sources are compiled with options of their own, when they are of a library.
set(KW_OPTIMISED)
set(KW_OPTIMISED_PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)  # GCC can use none that were precompiled otherwise
set(KW_FUZZED)
set(KW_FUZZED_PROPERTIES COMPILE_FLAGS "-fsanitize=alignment \
-fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth")
set(KW_PLAIN_OPTIONS)

# kw_unite(<target> <source>...): compiles several C++ sources as one. Types of its namespace and file-local names are therefore
# unique within a folder, which the compiler checks.
function(kw_unite target)
  if(NOT KW_UNITY)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  foreach(kind PLAIN OPTIMISED FUZZED)
    set(sources_of_${kind} 0)
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    set(kind PLAIN)
    foreach(special OPTIMISED FUZZED)
      if(type STREQUAL "STATIC_LIBRARY" AND folder IN_LIST KW_${special})
        set(kind ${special})
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER "${folder}" group)
    if(KW_UNITY STREQUAL "WIDE")
      math(EXPR index "${sources_of_${kind}} / 50")
      math(EXPR sources_of_${kind} "${sources_of_${kind}} + 1")
      string(TOLOWER "${kind}_${index}" group)
    endif()
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    if(NOT kind STREQUAL "PLAIN")
      set_source_files_properties(${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${group}_cxx.cxx PROPERTIES
                                  ${KW_${kind}_PROPERTIES})
    endif()
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
  target_compile_options(${library} PRIVATE ${KW_PLAIN_OPTIONS})
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
