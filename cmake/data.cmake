# The data beside the programs: links in a build tree, copies in an installed one (core/paths.h).
set(share ${CMAKE_BINARY_DIR}/share/kernelwright)
file(MAKE_DIRECTORY ${share})
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/LICENSE ${share}/LICENSE SYMBOLIC)
install(FILES LICENSE DESTINATION share/kernelwright)
foreach(pair problems=benchsuite/problems suites=benchsuite/suites skeleton=benchsuite/skeleton kernels=kernels prompts=prompts cpu=sandbox/cpu/shim hip=sandbox/hip/shim
             gpu=verifier/devices/gpu torch=verifier/devices/torch import=benchsuite/import formulas=verifier/formulas adversarial=verifier/adversarial pages=results/web/pages
             export=results/exporting/templates)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 folder)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${share}/${name} SYMBOLIC)
  if(name MATCHES "^(gpu|torch|import|adversarial)$")  # beside C++ sources of the verifier
    install(DIRECTORY ${folder}/ DESTINATION share/kernelwright/${name} FILES_MATCHING PATTERN "*.cu" PATTERN "*.py"
            PATTERN "*_fixture.py" EXCLUDE PATTERN "__pycache__" EXCLUDE)
    continue()
  endif()
  install(DIRECTORY ${folder}/ DESTINATION share/kernelwright/${name} PATTERN "*.cpp" EXCLUDE PATTERN ".clang-format" EXCLUDE)
endforeach()
# The formats of files, for clients of `kernelwright mcp`.
file(MAKE_DIRECTORY ${share}/formats)
foreach(name solution-format.md problem-format.md)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/docs/${name} ${share}/formats/${name} SYMBOLIC)
  install(FILES docs/${name} DESTINATION share/kernelwright/formats)
endforeach()
# What the pages use of others, with their licences.
file(MAKE_DIRECTORY ${share}/vendor)
foreach(script ${KW_PAGE_SCRIPTS})
  cmake_path(GET script FILENAME name)
  file(CREATE_LINK ${script} ${share}/vendor/${name} SYMBOLIC)
  file(REAL_PATH ${script} script)
  install(FILES ${script} DESTINATION share/kernelwright/vendor RENAME ${name})
endforeach()
foreach(package libjs-chart.js node-prismjs)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION share/kernelwright/vendor RENAME ${package}.copyright)
endforeach()
