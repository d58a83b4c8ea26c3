# ctest reads this after each list of slow tests that were found in a program: in turn, they go to the six parts.
foreach(folder core benchsuite sandbox verifier results agent)
  set(number 0)
  foreach(test ${${folder}_slow})
    math(EXPR number "${number} % 6 + 1")
    set_tests_properties(${test} PROPERTIES LABELS "slow;part_${number}")
  endforeach()
  unset(${folder}_slow)
endforeach()
