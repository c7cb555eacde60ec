# SPDX-License-Identifier: MIT
# Tests of the copy tool: every row of its table, on the test directory's own file system and on
# the others of the matrix (AISCP_TEST_DIR names any other place).

add_executable(aiscp_test
  aiscp_content_test.cc
  aiscp_failure_test.cc
  aiscp_fixture.cc
  aiscp_refuse_test.cc
  aiscp_replace_test.cc)
target_compile_definitions(aiscp_test PRIVATE AISCP_BINARY="$<TARGET_FILE:aiscp>")
target_link_libraries(aiscp_test PRIVATE test_support GTest::gtest_main project_options)
add_dependencies(aiscp_test aiscp)

hipfile_add_test_variant(aiscp_test aiscp_test LABELS system root TIMEOUT 300)
foreach(file_system xfs-4096 btrfs tmpfs overlay fuse)
  mode_on(environment ${file_system})
  on_file_system(aiscp_on.${file_system} ${file_system} SIZE 1024 TIMEOUT 300
                 ENVIRONMENT ${environment}
                 COMMAND $<TARGET_FILE:aiscp_test> --gtest_filter=-AiscpSignalTest.*:*FullDisk*)
endforeach()
