# SPDX-License-Identifier: MIT
#
# Declaring tests. One ctest is one program (or one program in one environment); the cases inside
# are counted by `./x test` from the XML that GoogleTest leaves in <build>/test-results.
#
#   hipfile_add_test(NAME source... [LIBS ...] [LABELS unit|api|system|thread|root ...]
#                    [ENVIRONMENT K=V ...] [TIMEOUT seconds] [MODES])
#   hipfile_add_test_variant(NAME program [LABELS ...] [ENVIRONMENT K=V ...] [TIMEOUT seconds]
#                            [ARGS ...])
#   hipfile_add_test_modes(NAME program [the same])
#   hipfile_add_test_on_fake_driver(NAME program [the same])  on NVIDIA's device, over a driver that
#                                                             answers from RAM; label fake_driver
#   hipfile_add_script_test(NAME COMMAND ... [LABELS ...] [ENVIRONMENT ...] [TIMEOUT seconds])
#                                                             status 77 means "skipped"
#   hipfile_variant_environment(VARIANT VARIABLE)
#
# The emulated device has four modes: plain, strict (the program cannot touch device memory),
# hazards (the bad habits of drivers) and kernel (only what AMD's kernel driver reads directly).
# MODES, and hipfile_add_test_modes, run the program in the last three too. A program that moves
# files runs in the HIPFILE_VARIANTS, BACKEND.ENGINE.MODE: each mode, and each backend over each
# engine, but not all of their products, which would prove nothing more. A sanitizer looks at code,
# of which each mode, backend and engine brings its own: once is enough there. Threads of the
# device differ between plain and hazards only.
#
# A test program may have a main of its own; else GoogleTest's is linked.
#
# The targets tests_unit, tests_api and tests_thread build what the tests with that label need: the
# programs, and what stands in their arguments and environments as $<TARGET_FILE:...>.

enable_testing()
set(HIPFILE_TESTS_ENABLED OFF)
if(HIPFILE_TESTS STREQUAL "AUTO")
  find_package(GTest QUIET)
  set(HIPFILE_TESTS_ENABLED ${GTest_FOUND})
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest: not found; built without tests")
  endif()
elseif(HIPFILE_TESTS)
  find_package(GTest REQUIRED)
  set(HIPFILE_TESTS_ENABLED ON)
endif()

set(HIPFILE_TEST_RESULTS "${CMAKE_BINARY_DIR}/test-results")
file(MAKE_DIRECTORY "${HIPFILE_TEST_RESULTS}")

set(HIPFILE_LABEL_TARGETS unit api thread)
foreach(label ${HIPFILE_LABEL_TARGETS})
  add_custom_target(tests_${label})
endforeach()

function(hipfile_label_targets labels words)
  string(REGEX MATCHALL "TARGET_FILE:[^>]+" targets "${words}")
  list(TRANSFORM targets REPLACE "TARGET_FILE:" "")
  list(GET words 0 program)
  if(TARGET ${program})
    list(APPEND targets ${program})
  endif()
  foreach(label ${labels})
    if(label IN_LIST HIPFILE_LABEL_TARGETS AND targets)
      add_dependencies(tests_${label} ${targets})
    endif()
  endforeach()
endfunction()

# hipfile_test_properties(NAME ENVIRONMENT LABELS TIMEOUT COMMAND...)
function(hipfile_test_properties name environment labels timeout)
  if(NOT timeout)
    set(timeout 600)
  endif()
  hipfile_label_targets("${labels}" "${ARGN};${environment}")
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "GTEST_OUTPUT=xml:${HIPFILE_TEST_RESULTS}/${name}.xml;${environment}"
    LABELS "${labels}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
endfunction()

function(hipfile_add_test_variant name program)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "TIMEOUT" "LABELS;ENVIRONMENT;ARGS")
  add_test(NAME ${name} COMMAND ${program} ${T_ARGS})
  hipfile_test_properties(${name} "${T_ENVIRONMENT}" "${T_LABELS}" "${T_TIMEOUT}" ${program}
                          ${T_ARGS})
endfunction()

function(hipfile_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "TIMEOUT" "LABELS;ENVIRONMENT;COMMAND")
  add_test(NAME ${name} COMMAND ${T_COMMAND})
  hipfile_test_properties(${name} "${T_ENVIRONMENT}" "${T_LABELS}" "${T_TIMEOUT}" ${T_COMMAND})
endfunction()

set(HIPFILE_MODES strict hazards kernel)
set(HIPFILE_VARIANTS
  fastpath.uring.plain fastpath.uring.hazards fastpath.threads.strict fastpath.threads.kernel
  bounce.uring.strict bounce.threads.hazards)
if(HIPFILE_SANITIZE)
  list(REMOVE_ITEM HIPFILE_VARIANTS fastpath.uring.hazards fastpath.threads.strict)
endif()
if(HIPFILE_SANITIZE STREQUAL "thread")
  set(HIPFILE_MODES hazards)
endif()

function(hipfile_variant_environment variant variable)
  string(REPLACE "." ";" words ${variant})
  set(environment "")
  foreach(word ${words})
    if(word STREQUAL "uring" OR word STREQUAL "threads")
      list(APPEND environment HIPFILE_ENGINE=${word})
    elseif(word STREQUAL "bounce")
      list(APPEND environment HIPFILE_FORCE_COMPAT_MODE=true)
    elseif(word STREQUAL "strict")
      list(APPEND environment HIP_PORTABLE_STRICT=1)
    elseif(word STREQUAL "hazards")
      list(APPEND environment HIP_PORTABLE_HAZARDS=1)
    elseif(word STREQUAL "kernel")
      list(APPEND environment HIP_PORTABLE_DIRECT=kernel)
    elseif(NOT word STREQUAL "fastpath" AND NOT word STREQUAL "plain")
      message(FATAL_ERROR "unknown word '${word}' in the test variant ${variant}")
    endif()
  endforeach()
  set(${variable} ${environment} PARENT_SCOPE)
endfunction()

function(hipfile_add_test_modes name program)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "TIMEOUT" "LABELS;ENVIRONMENT;ARGS")
  foreach(mode ${HIPFILE_MODES})
    hipfile_variant_environment(${mode} environment)
    hipfile_add_test_variant(${name}.${mode} ${program} ARGS ${T_ARGS} LABELS ${T_LABELS}
                             ENVIRONMENT ${T_ENVIRONMENT} ${environment} TIMEOUT "${T_TIMEOUT}")
  endforeach()
endfunction()

function(hipfile_add_test_on_fake_driver name program)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "TIMEOUT" "LABELS;ENVIRONMENT;ARGS")
  hipfile_add_test_variant(${name} ${program} ARGS ${T_ARGS} LABELS ${T_LABELS} fake_driver
    ENVIRONMENT "HIP_PORTABLE_CUDA_LIBRARY=$<TARGET_FILE:fake_cuda>" HIP_PORTABLE_BACKEND=cuda
                ${T_ENVIRONMENT}
    TIMEOUT "${T_TIMEOUT}")
endfunction()

function(hipfile_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "MODES" "TIMEOUT" "LIBS;LABELS;ENVIRONMENT")
  add_executable(${name} ${T_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE project_options ${T_LIBS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
  hipfile_add_test_variant(${name} ${name} ENVIRONMENT ${T_ENVIRONMENT} LABELS ${T_LABELS}
                           TIMEOUT "${T_TIMEOUT}")
  if(T_MODES)
    hipfile_add_test_modes(${name} ${name} ENVIRONMENT ${T_ENVIRONMENT} LABELS ${T_LABELS}
                           TIMEOUT "${T_TIMEOUT}")
  endif()
endfunction()
