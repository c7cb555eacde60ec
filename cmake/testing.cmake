# SPDX-License-Identifier: MIT
#
# Declaring tests. One ctest is one program (or one program in one environment); the cases inside
# are counted by `./x test` from the XML that GoogleTest leaves in <build>/test-results.
#
#   hipfile_add_test(NAME source... [LIBS ...] [LABELS unit|api|system|thread|root ...]
#                    [ENVIRONMENT K=V ...] [TIMEOUT seconds] [MATRIX])
#   hipfile_add_test_variant(NAME program [LABELS ...] [ENVIRONMENT K=V ...] [TIMEOUT seconds]
#                            [ARGS ...])
#   hipfile_add_test_matrix(NAME program [LABELS ...] [ENVIRONMENT ...] [TIMEOUT seconds])
#   hipfile_add_script_test(NAME COMMAND ... [LABELS ...] [ENVIRONMENT ...] [TIMEOUT seconds])
#                                                             status 77 means "skipped"
#
# MATRIX runs the program over {fastpath, bounce} x {uring, threads} x {not strict, strict}
# instead of once in the default environment.
#
# A test program may have a main of its own; else GoogleTest's is linked.

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

function(hipfile_test_properties name environment labels timeout)
  if(NOT timeout)
    set(timeout 600)
  endif()
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "GTEST_OUTPUT=xml:${HIPFILE_TEST_RESULTS}/${name}.xml;${environment}"
    LABELS "${labels}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
endfunction()

function(hipfile_add_test_variant name program)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "TIMEOUT" "LABELS;ENVIRONMENT;ARGS")
  add_test(NAME ${name} COMMAND ${program} ${T_ARGS})
  hipfile_test_properties(${name} "${T_ENVIRONMENT}" "${T_LABELS}" "${T_TIMEOUT}")
endfunction()

function(hipfile_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "TIMEOUT" "LABELS;ENVIRONMENT;COMMAND")
  add_test(NAME ${name} COMMAND ${T_COMMAND})
  hipfile_test_properties(${name} "${T_ENVIRONMENT}" "${T_LABELS}" "${T_TIMEOUT}")
endfunction()

function(hipfile_add_test_matrix name program)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "TIMEOUT" "LABELS;ENVIRONMENT")
  foreach(backend fastpath bounce)
    foreach(engine uring threads)
      foreach(strict loose strict)
        set(environment ${T_ENVIRONMENT} "HIPFILE_ENGINE=${engine}")
        if(backend STREQUAL "bounce")
          list(APPEND environment "HIPFILE_FORCE_COMPAT_MODE=true")
        endif()
        if(strict STREQUAL "strict")
          list(APPEND environment "HIP_PORTABLE_STRICT=1")
        endif()
        set(variant ${name}.${backend}.${engine}.${strict})
        hipfile_add_test_variant(${variant} ${program} ENVIRONMENT ${environment}
                                 LABELS ${T_LABELS} TIMEOUT "${T_TIMEOUT}")
      endforeach()
    endforeach()
  endforeach()
endfunction()

function(hipfile_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "MATRIX" "TIMEOUT" "LIBS;LABELS;ENVIRONMENT")
  add_executable(${name} ${T_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE project_options ${T_LIBS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
  set(how hipfile_add_test_variant)
  if(T_MATRIX)
    set(how hipfile_add_test_matrix)
  endif()
  cmake_language(CALL ${how} ${name} ${name} ENVIRONMENT ${T_ENVIRONMENT} LABELS ${T_LABELS}
                 TIMEOUT "${T_TIMEOUT}")
endfunction()
