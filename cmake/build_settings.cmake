# The compiler settings of all our targets. Linked privately, never exported.
add_library(reprise_build_settings INTERFACE)
target_compile_features(reprise_build_settings INTERFACE cxx_std_23)
target_compile_options(reprise_build_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  $<$<BOOL:${REPRISE_WERROR}>:-Werror>
  # For programs, too, since precompiled headers need the same setting.
  -fPIC
  # Required by ccache for precompiled headers.
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  # In unity builds, GCC treats all sources as headers.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  # Clang reports warnings in the older headers of GCC 12's C++ library.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations$<SEMICOLON>-Wno-ambiguous-reversed-operator>
  # GCC 12 reports false overlaps in "literal" + std::string (its bug 105651) and, when optimizing,
  # false uses of the value of a std::expected with an error.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict$<SEMICOLON>-Wno-maybe-uninitialized>
)
# GCC's collection of garbage takes a tenth of its time, and without it a process takes a third more
# memory.
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
if(memory_mib GREATER 6000)
  target_compile_options(reprise_build_settings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=600000>)
endif()
target_include_directories(reprise_build_settings INTERFACE ${PROJECT_SOURCE_DIR}/include)
# For targets that may include the headers of every layer: the program and the tests.
add_library(reprise_all_layers INTERFACE)
target_include_directories(reprise_all_layers INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(REPRISE_SANITIZE)
  separate_arguments(more UNIX_COMMAND "${REPRISE_SANITIZER_FLAGS}")
  target_compile_options(reprise_build_settings INTERFACE
    -fsanitize=${REPRISE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all ${more})
  # Position-dependent: the checks of undefined behavior cause a million relocations, which take half
  # of the time of a short process.
  target_link_options(reprise_build_settings INTERFACE -fsanitize=${REPRISE_SANITIZE} -no-pie)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

# Faster builds if the tools are installed: ccache, and mold for debug builds.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(REPRISE_CCACHE ccache)
  if(REPRISE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${REPRISE_CCACHE})
  endif()
endif()
find_program(REPRISE_MOLD mold)
if(REPRISE_MOLD AND CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_link_options(reprise_build_settings INTERFACE -fuse-ld=mold)
endif()

# The settings of tests, trials and what they share. They test the library as it is installed, but are
# not optimized themselves, because compiling them would take longer than running them. Nor are they
# checked for undefined behavior, which takes a sixth of their compile time.
add_library(reprise_test_settings INTERFACE)
target_link_libraries(reprise_test_settings INTERFACE reprise_build_settings)
if(REPRISE_SANITIZE MATCHES undefined)
  target_compile_options(reprise_test_settings INTERFACE -fno-sanitize=undefined)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(reprise_test_settings INTERFACE -O0)
  if(REPRISE_MOLD)
    target_link_options(reprise_test_settings INTERFACE -fuse-ld=mold)
  endif()
endif()

# reprise_precompile(NAME header… [LINKS library…]): NAME is an empty library whose headers are
# compiled once, for all targets that call target_precompile_headers(target REUSE_FROM NAME).
# Sources must include what they use anyway: the preset tidy compiles without them, and the
# release build compiles the library without (with them, GCC 12 warns about code inlined from its own
# headers).
function(reprise_precompile name)
  cmake_parse_arguments(pch "" "" "LINKS" ${ARGN})
  file(CONFIGURE OUTPUT ${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE reprise_test_settings Threads::Threads ${pch_LINKS})
  # Compares contents, not times, because ccache restores it with another time.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  target_precompile_headers(${name} PRIVATE ${pch_UNPARSED_ARGUMENTS})
endfunction()

# For targets in which commands spend little of their time. -O1 takes two thirds of the compile time of -O2.
function(reprise_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# For the targets of the library and the program: reprise_headers, except in the release build.
function(reprise_precompiled target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_precompile_headers(${target} REUSE_FROM reprise_headers)
  endif()
endfunction()
