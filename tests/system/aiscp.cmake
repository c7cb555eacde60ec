# SPDX-License-Identifier: MIT
# Tests of the copy tool: every row of its table, on the test directory's own file system and on
# the others of the matrix (AISCP_TEST_DIR names any other place).

add_library(aiscp_fixture STATIC aiscp_fixture.cc)
target_compile_definitions(aiscp_fixture PUBLIC AISCP_BINARY="$<TARGET_FILE:aiscp>")
target_link_libraries(aiscp_fixture PUBLIC test_support GTest::gtest PRIVATE project_options)
add_dependencies(aiscp_fixture aiscp)

add_executable(aiscp_test
  aiscp_content_test.cc
  aiscp_driver_test.cc
  aiscp_failure_test.cc
  aiscp_meanwhile_test.cc
  aiscp_refuse_test.cc
  aiscp_replace_test.cc)
add_executable(aiscp_fault_test aiscp_fault_test.cc)
add_executable(aiscp_kill_test aiscp_kill_test.cc)
add_executable(aiscp_power_test aiscp_power_test.cc)
target_link_libraries(aiscp_fault_test PRIVATE copy_programs)
foreach(program aiscp_test aiscp_power_test)
  target_compile_definitions(${program} PRIVATE
                             TEST_IGNORED_CALLS="$<TARGET_FILE:ignored_calls>")
  add_dependencies(${program} ignored_calls)
endforeach()
target_compile_definitions(aiscp_test PRIVATE FAULTY_RUNTIME="$<TARGET_FILE:amdhip64_faulty>"
  FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>" ABORTING_CUDA_LIBRARY="$<TARGET_FILE:aborting_cuda>")
add_dependencies(aiscp_test amdhip64_faulty fake_cuda aborting_cuda)
foreach(program aiscp_test aiscp_fault_test aiscp_kill_test aiscp_power_test)
  target_link_libraries(${program} PRIVATE aiscp_fixture GTest::gtest_main project_options)
endforeach()

hipfile_add_test_variant(aiscp_test aiscp_test LABELS system root TIMEOUT 300)
hipfile_add_test_on_fake_driver(aiscp_test.fake aiscp_test LABELS system root TIMEOUT 300
                                ENVIRONMENT FAKE_CUDA_MEMORY=1073741824)
foreach(file_system xfs-4096 btrfs tmpfs overlay fuse)
  mode_on(environment ${file_system})
  on_file_system(aiscp_on.${file_system} ${file_system} SIZE 1024 TIMEOUT 300
                 ENVIRONMENT ${environment}
                 COMMAND $<TARGET_FILE:aiscp_test> --gtest_filter=-AiscpSignalTest.*:*FullDisk*)
endforeach()
hipfile_add_test_variant(aiscp_fault_test aiscp_fault_test LABELS system root TIMEOUT 300)

# Ended at random moments: a hundred times, a part of them where new files have a hidden name.
on_file_system(aiscp_kill_test ext4-512 TIMEOUT 300 COMMAND $<TARGET_FILE:aiscp_kill_test>
               ENVIRONMENT HIPFILE_TEST_COUNT=70)
on_file_system(aiscp_kill_test.fuse fuse TIMEOUT 300 COMMAND $<TARGET_FILE:aiscp_kill_test>
               ENVIRONMENT HIPFILE_TEST_COUNT=30)

hipfile_add_test_variant(aiscp_power_test aiscp_power_test LABELS system root TIMEOUT 300)
