# reprise_layer(NAME [OVER layer…] [COLD] [THREADS] [UNSANITIZED filter] [USES library…] SOURCES file… [TESTS file…])
#
# One object library per layer; all of them together are the library reprise::reprise. Its sources can
# include the headers of the layer itself, of the layers OVER which it stands, and the public ones: no
# others are in its include path. COLD: see reprise_cold. The tests of a layer are one program, NAME_test;
# THREADS (for all of them) and UNSANITIZED as for reprise_test.
function(reprise_layer name)
  cmake_parse_arguments(layer "COLD;THREADS" "UNSANITIZED" "OVER;USES;SOURCES;TESTS" ${ARGN})
  set(visible ${PROJECT_BINARY_DIR}/layers/${name}/src)
  file(REMOVE_RECURSE ${visible})
  file(MAKE_DIRECTORY ${visible})
  foreach(seen ${name} ${layer_OVER})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${seen} ${visible}/${seen} SYMBOLIC)
  endforeach()
  add_library(reprise_${name} OBJECT ${layer_SOURCES})
  target_include_directories(reprise_${name} PRIVATE ${visible})
  reprise_join(reprise_${name} ${layer_SOURCES})
  target_link_libraries(reprise_${name} PRIVATE reprise_build_settings)
  reprise_precompiled(reprise_${name})
  if(layer_COLD)
    reprise_cold(reprise_${name})
  endif()
  foreach(used ${layer_USES})
    target_link_libraries(reprise_${name} PRIVATE ${used})
  endforeach()
  target_sources(reprise PRIVATE $<TARGET_OBJECTS:reprise_${name}>)
  if(REPRISE_TESTS AND layer_TESTS)
    set(threads)
    if(layer_THREADS)
      set(threads THREADS *)
    endif()
    reprise_test(${name}_test ${threads} UNSANITIZED "${layer_UNSANITIZED}" OF ${name} SOURCES ${layer_TESTS})
  endif()
endfunction()

# Unity builds (CMAKE_UNITY_BUILD) combine sources of one folder, a few at a time, and those of
# small folders with each other. Sources of different large folders often share a namespace, in
# which local names must be unique. The parts are the same in every build, so all builds compile the
# same combinations.
function(reprise_join target)
  set(joined_max 40)
  set(small_folder_max 12)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND "of_${folder}" ${source})
  endforeach()
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    list(LENGTH "of_${folder}" count)
    if(folder AND count LESS_EQUAL small_folder_max)
      set(folder small_folders)
    endif()
    string(MAKE_C_IDENTIFIER "from_${folder}" group)
    list(APPEND ${group} ${source})
    list(LENGTH ${group} count)
    math(EXPR part "${count} / ${joined_max}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# The tests that the thread sanitizer runs.
add_custom_target(threads_tests)
# Every test program, one a line, with its kinds ("threads", "library"), its folder and the layers that it
# tests. `./check asan-changed` and `tsan-changed` choose from them.
file(WRITE ${PROJECT_BINARY_DIR}/test_programs.txt "")

# reprise_test(NAME [PROGRAM] [THREADS filter] [WAITS] [POSTGRES filter] [UNSANITIZED filter] [OF layer…]
# SOURCES file… [USES library…]): a GoogleTest program for the whole library. PROGRAM: it tests a program or
# its parts, not the library. THREADS: a filter for tests with concurrent threads, the ones that the thread
# sanitizer runs. WAITS: it waits for other processes for seconds; such tests start first. POSTGRES: a
# filter for tests that need the shared PostgreSQL server. UNSANITIZED: a filter for those that keep the
# server busy rather than our code, or whose sizes take long; sanitizers omit them. OF: the layers it tests.
function(reprise_test name)
  cmake_parse_arguments(test "PROGRAM;WAITS" "THREADS;POSTGRES;UNSANITIZED" "OF;SOURCES;USES" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  reprise_join(${name} ${test_SOURCES})
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  target_link_libraries(${name} PRIVATE
    reprise_test_settings reprise_all_layers reprise ${test_USES} GTest::gtest_main GTest::gmock)
  target_precompile_headers(${name} REUSE_FROM reprise_test_headers)
  set(properties TIMEOUT 300)
  if(REPRISE_SANITIZE)
    set(properties TIMEOUT 900)  # of several tests, with slower code
  endif()
  set(shards 4)
  if(test_THREADS OR test_WAITS)
    set(shards 8)  # they take longest
  endif()
  if(test_THREADS)
    list(APPEND properties LABELS threads)
    add_dependencies(threads_tests ${name})
  endif()
  if(test_WAITS)
    list(APPEND properties COST 100)
  endif()
  set(kinds)
  if(test_THREADS AND NOT test_POSTGRES STREQUAL "*")
    list(APPEND kinds threads)
  endif()
  if(NOT test_PROGRAM AND NOT test_WAITS)
    list(APPEND kinds library)
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  file(APPEND ${PROJECT_BINARY_DIR}/test_programs.txt "${name}:${kinds}:${folder}:${test_OF}\n")
  if(NOT REPRISE_SANITIZE)
    set(test_UNSANITIZED)
  endif()
  if(test_THREADS AND REPRISE_SANITIZE STREQUAL "thread")
    if(test_POSTGRES)
      list(APPEND properties FIXTURES_REQUIRED postgres_server)
    endif()
    reprise_add_tests(${name} ${name} "${test_THREADS}-${test_UNSANITIZED}" ${shards} ${properties})
  elseif(test_POSTGRES)
    reprise_add_tests(${name} ${name}_on_postgres "${test_POSTGRES}-${test_UNSANITIZED}"
      ${shards} ${properties} FIXTURES_REQUIRED postgres_server)
    if(test_POSTGRES STREQUAL "*")
      return()
    endif()
    reprise_add_tests(${name} ${name} "-${test_POSTGRES}:${test_UNSANITIZED}"
      ${shards} ${properties})
  else()
    reprise_add_tests(${name} ${name} "*-${test_UNSANITIZED}" ${shards} ${properties})
  endif()
endfunction()

# Registers the tests of `target` that match `filter`, each as a separate process. Under a
# sanitizer, starting a process takes longer than most tests, so all of them share `shards` processes.
function(reprise_add_tests target name filter shards)
  if(NOT REPRISE_SANITIZE)
    gtest_discover_tests(${target} TEST_FILTER "${filter}" TEST_LIST ${name}
      DISCOVERY_MODE PRE_TEST PROPERTIES ${ARGN})
    return()
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.${shard} COMMAND ${target} --gtest_filter=${filter})
    set_tests_properties(${name}.${shard} PROPERTIES
      ENVIRONMENT "GTEST_BRIEF=1;GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}" ${ARGN})
  endforeach()
endfunction()
