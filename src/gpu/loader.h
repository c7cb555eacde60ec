// SPDX-License-Identifier: MIT
//
// Finding the HIP runtime. In this order (rules 1 to 4):
//  1. one that is mapped into the process already, ROCm's or ours, under any of their names;
//  2. the one that HIPFILE_HIP_LIBRARY names: if it cannot be used, or another is mapped already,
//     that is an error;
//  3. ROCm's, if /dev/kfd is usable, it loads and sees a device;
//  4. ours, beside the library or program that contains this code.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "gpu/hip_table.h"
#include "util/result.h"

namespace hipfile::gpu {

/// One runtime in use. Never freed.
struct Runtime {
  HipTable hip;
  std::string path;          ///< of the shared object that defines hipMalloc
  int version = 0;           ///< hipRuntimeGetVersion
  bool is_portable = false;  ///< ours, by its marker and not by its name
  /// Set by an exit handler of ours: a runtime opened with dlopen is gone before the handlers that
  /// the program registered earlier run. No call may be made any more. The emulated device works
  /// until the end, and is never marked.
  mutable std::atomic<bool> is_gone{false};
};

/// The runtime that knows a pointer, or else the one that was bound first (NULL: that one, without
/// a lock). Binds at the first call, for the process; a pointer that no bound runtime knows causes
/// one new look when libraries were loaded since. A mapped runtime that is too old, and has
/// devices, is an error: the program's memory is that one's, and no other could stand in.
/// Fails with hipErrorSharedObjectInitFailed or hipErrorNoDevice; bind_failure() says more.
Result<const Runtime*> bind(const void* pointer = nullptr);

/// The runtime that was bound first; NULL if none is. Binds nothing.
const Runtime* first_bound();

/// All that are in use, in the order in which they were bound. Binds nothing.
std::vector<const Runtime*> all_bound();

/// True once an exit handler of ours has left the runtimes that are gone by now. Never so where all
/// are emulated.
bool has_left_runtimes();

/// True once an exit handler of ours ran: the streams of an emulated device too drop what is queued
/// in them, and wait for no value any more.
bool has_exit_begun();

/// Why the last bind() failed, for people; empty if it did not.
std::string bind_failure();

/// One line on the runtime in use and on those that were passed over; binds nothing.
std::string describe_binding();

}  // namespace hipfile::gpu
