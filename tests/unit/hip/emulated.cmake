# SPDX-License-Identifier: MIT
# Unit tests of the entry points over the emulated device, in all its modes, and over the fake
# driver; hip_runtime_test holds all that needs one device.

set(emulated HIP_PORTABLE_BACKEND=emulated)

hipfile_add_test(hip_runtime_test
  hip_capture_mode_test.cc hip_capture_test.cc hip_copy_test.cc hip_designs_test.cc
  hip_emulated_test.cc hip_event_test.cc hip_hazards_test.cc hip_indirect_test.cc
  hip_memory_test.cc hip_pointer_test.cc hip_process_test.cc hip_stream_test.cc
  hip_wait_value_test.cc
  LIBS hip_portable ${CMAKE_DL_LIBS} LABELS unit thread ENVIRONMENT ${emulated} MODES)
hipfile_add_test_on_fake_driver(hip_runtime_test.fake hip_runtime_test
  ENVIRONMENT FAKE_CUDA_MEMORY=4294967296)
hipfile_add_test_variant(hip_runtime_test.without hip_runtime_test LABELS unit
  ARGS --gtest_filter=HipWithout.*
  ENVIRONMENT ${emulated} HIP_PORTABLE_WITHOUT=wait-value,indirect-copy)

hipfile_add_test(hip_subset_test hip_subset_devices.cc hip_subset_memory.cc hip_subset_streams.cc
  hip_subset_test.cc
  LIBS hip_portable ${CMAKE_DL_LIBS} LABELS unit ENVIRONMENT ${emulated} MODES)

hipfile_add_test_on_fake_driver(hip_subset_test.fake hip_subset_test LABELS unit)
# hipErrorSharedObjectInitFailed, hipErrorNoDevice
hipfile_add_test_variant(hip_subset_test.no_library hip_subset_test LABELS unit
  ARGS --gtest_filter=*SaysWhy*
  ENVIRONMENT HIP_PORTABLE_BACKEND=cuda HIP_SUBSET_TEST_REASON=303 ${no_driver})
hipfile_add_test_variant(hip_subset_test.no_device hip_subset_test LABELS unit
  ARGS --gtest_filter=*SaysWhy*
  ENVIRONMENT HIP_PORTABLE_BACKEND=cuda HIP_SUBSET_TEST_REASON=100 ${fake_driver}
              FAKE_CUDA_DEVICES=0)

hipfile_add_test(hip_devices_test hip_devices_test.cc
  LIBS hip_portable LABELS unit thread
  ENVIRONMENT ${emulated} HIP_PORTABLE_DEVICES=3 HIP_PORTABLE_MEMORY=64M MODES)

hipfile_add_test_on_fake_driver(hip_devices_test.fake hip_devices_test
  ENVIRONMENT FAKE_CUDA_DEVICES=3)

hipfile_add_test(hip_virtual_test hip_virtual_access_test.cc hip_virtual_test.cc
  LIBS hip_portable LABELS unit thread
  ENVIRONMENT ${emulated} HIP_PORTABLE_DEVICES=3 HIP_PORTABLE_MEMORY=64M MODES)

hipfile_add_test_on_fake_driver(hip_virtual_test.fake hip_virtual_test LABELS unit
  ENVIRONMENT FAKE_CUDA_DEVICES=3)
add_dependencies(hip_virtual_test fake_cuda)

hipfile_add_test(hip_file_test hip_file_test.cc hip_file_rules_test.cc
  LIBS hip_portable test_support ${CMAKE_DL_LIBS} LABELS unit ENVIRONMENT ${emulated} MODES)
hipfile_add_test_on_fake_driver(hip_file_test.fake hip_file_test)

# The driver that answers from RAM is built with what may run on it.
add_dependencies(hip_runtime_test fake_cuda)

set(runtime ${PROJECT_SOURCE_DIR}/hip/src)
hipfile_add_test(emulated_parts_test emulated_parts_test.cc ${runtime}/settings.cc
  ${runtime}/emulated/extents.cc ${runtime}/emulated/memory_limits.cc
  LIBS test_support LABELS unit)

# Not linked to the runtime: it must find its own symbols behind those of the program.
hipfile_add_test(behind_global_test behind_global_test.cc
  LIBS hip_headers ${CMAKE_DL_LIBS} LABELS unit ENVIRONMENT ${emulated})
set_target_properties(behind_global_test PROPERTIES ENABLE_EXPORTS ON)
target_compile_definitions(behind_global_test PRIVATE
  HIP_PORTABLE_LIBRARY="$<TARGET_FILE:hip_portable>")
add_dependencies(behind_global_test hip_portable)
