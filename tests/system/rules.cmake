# SPDX-License-Identifier: MIT
# Rules 17 to 28 and the limits of a process. Each test runs in a process of its own, which it
# restricts; so one program is enough, run once for each file system that matters.

add_executable(rules_test
  coherence_rules_test.cc descriptor_rules_test.cc direct_rules_test.cc engine_rules_test.cc
  kernel_rules_test.cc limits_test.cc memory_rules_test.cc residency_rules_test.cc second_view_rules_test.cc)
target_link_libraries(rules_test PRIVATE api_fixture GTest::gtest_main project_options)
add_dependencies(rules_test fs_run)

# It stands in front of libc's calls, so it is a program of its own.
add_executable(split_rules_test split_rules_test.cc ../support/io_trace.cc)
target_link_libraries(split_rules_test PRIVATE api_fixture GTest::gtest_main project_options
                                               ${CMAKE_DL_LIBS})
set_target_properties(split_rules_test PROPERTIES ENABLE_EXPORTS ON)

# rules_on(NAME FILE-SYSTEM PROGRAM PATTERN...): the tests that match, on a file system.
function(rules_on name file_system program)
  string(JOIN ":" tests ${ARGN})
  mode_on(environment ${file_system})
  on_file_system(${name}.${file_system} ${file_system} TIMEOUT 120
    COMMAND $<TARGET_FILE:${program}> "--gtest_filter=${tests}" ENVIRONMENT ${environment})
endfunction()

foreach(file_system ext4-512 btrfs tmpfs overlay)
  rules_on(descriptor_rules_on ${file_system} rules_test "*ReusedNumberTest*" "HeldFileTest*"
           "RecordLockTest*" "*SecondViewTest*" "FalseProcTest*")
endforeach()
rules_on(residency_rules_on ext4-512 rules_test "ResidencyTest*" "FastpathResidencyTest*")
rules_on(residency_rules_on overlay rules_test "BlindResidencyTest*")
foreach(file_system ext4-512 xfs-4096)
  rules_on(split_rules_on ${file_system} split_rules_test "*")
endforeach()
foreach(file_system ext4-512 tmpfs)
  rules_on(limits_on ${file_system} rules_test "*UringTest*" "LimitsTest*")
endforeach()
foreach(file_system ${matrix})
  rules_on(coherence_rules_on ${file_system} rules_test "CoherenceTest*")
endforeach()

rules_on(memory_rules_on ext4-512 rules_test "SmallGroupTest*" "ViewsTest*")

# These make their own file systems.
hipfile_add_test_variant(direct_rules_test rules_test LABELS system root TIMEOUT 120
  ARGS "--gtest_filter=DirectTest*:MountFactsTest*:BlockDeviceFactsTest*:KernelRulesTest*")
