# SPDX-License-Identifier: MIT
# Rules 17 to 28 and the limits of a process. Each test runs in a process of its own, which it
# restricts; so one program is enough, run once for each file system that matters.

add_executable(rules_test descriptor_rules_test.cc second_view_rules_test.cc)
target_link_libraries(rules_test PRIVATE api_fixture GTest::gtest_main project_options)

string(JOIN ":" descriptor_tests "*ReusedNumberTest*" "HeldFileTest*" "RecordLockTest*"
       "*SecondViewTest*" "FalseProcTest*")
foreach(file_system ext4-512 btrfs tmpfs overlay)
  mode_on(environment ${file_system})
  on_file_system(descriptor_rules_on.${file_system} ${file_system} TIMEOUT 120
    COMMAND $<TARGET_FILE:rules_test> "--gtest_filter=${descriptor_tests}"
    ENVIRONMENT ${environment})
endforeach()
