# reprise_layer(NAME [USES layer…] SOURCES file… [TESTS file…])
#
# One object library per layer, which sees only the layers it uses; all of them together are the
# library reprise::reprise. The tests of a layer are one program, NAME_test.
function(reprise_layer name)
  cmake_parse_arguments(layer "" "" "USES;SOURCES;TESTS" ${ARGN})
  add_library(reprise_${name} OBJECT ${layer_SOURCES})
  target_link_libraries(reprise_${name} PRIVATE reprise_build_settings)
  foreach(used ${layer_USES})
    target_link_libraries(reprise_${name} PRIVATE ${used})
  endforeach()
  target_sources(reprise PRIVATE $<TARGET_OBJECTS:reprise_${name}>)
  if(REPRISE_TESTS AND layer_TESTS)
    reprise_test(${name}_test SOURCES ${layer_TESTS})
  endif()
endfunction()

# reprise_test(NAME SOURCES file… [USES library…]): a GoogleTest program over the whole library.
function(reprise_test name)
  cmake_parse_arguments(test "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE
    reprise_build_settings reprise ${test_USES} GTest::gtest_main GTest::gmock)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()
