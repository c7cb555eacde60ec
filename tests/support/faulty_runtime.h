// SPDX-License-Identifier: MIT
// The controls of the HIP runtime that fails or hangs at its Nth call (faulty_runtime.cc). A test
// program that is linked to that runtime calls them; any program is told by the environment:
//
//   HIPFILE_TEST_HIP_FAULT=FUNCTION:N:CODE   FUNCTION is "any" or a name, CODE a hipError_t or
//                                            "hang"
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

// What a program holds of the runtime.
struct HipObjects {
  int64_t device_allocations;
  int64_t pinned_allocations;
  int64_t registrations;  // hipHostRegister
  int64_t streams;
  int64_t events;
};

extern "C" {

// Lets the Nth of the calls that follow fail with `code`. `function` NULL counts all calls.
// With `is_lasting` all calls behind it fail too, as after the loss of a device.
void hip_fault_arm(const char* function, uint64_t nth, hipError_t code, bool is_lasting);
// Ends that. Returns the function that failed first; NULL: none did.
const char* hip_fault_disarm(void);
// While set, the calling thread's own calls are neither counted nor failed: those of the test.
void hip_fault_spare_thread(bool is_spared);
HipObjects hip_fault_objects(void);

// Lets hipAmdFileRead, hipAmdFileWrite and hipPortableFileRead answer this errno in their status
// and move nothing, as the kernel's side does. 0 ends that.
void hip_fault_file_status(int32_t status);
// How many did so since.
uint64_t hip_fault_file_calls(void);
}
