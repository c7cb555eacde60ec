// SPDX-License-Identifier: MIT
// A trial: one operation of the library in a process of its own, with one fault, and all that must
// hold afterwards. A process, because then every first use (binding, threads, rings, streams) is
// part of it, a crash or a hang ends nothing but the trial, and what leaks can be counted.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "device_buffer.h"
#include "faulty_calls.h"
#include "faulty_runtime.h"

namespace hipfile::test {

enum class Operation {
  kRead,
  kWrite,
  kRegisterFile,
  kRegisterBuffer,
  kRegisterStream,
  kOpen,
  kClose
};

// How bytes are moved: by one call, in a stream, in a batch of four parts.
enum class Way { kCall, kStream, kBatch, kCancelledBatch };

struct Trial {
  const char* name;
  Operation operation = Operation::kRead;
  size_t size = 4096;
  off_t offset = 0;
  size_t shift = 0;  // of the buffer
  bool is_bounce = false;
  bool is_direct = true;  // the client's O_DIRECT
  bool is_registered = false;
  MemoryKind kind = MemoryKind::kDevice;
  Way way = Way::kCall;

  bool is_transfer() const {
    return operation == Operation::kRead || operation == Operation::kWrite;
  }
};

// What goes wrong. Calls and operations are counted from 1; 0: nothing.
struct Fault {
  uint64_t hip_nth = 0;
  hipError_t hip_code = hipSuccess;
  bool is_lasting = false;  // all HIP calls behind it fail too, until the operation is over
  uint64_t engine_nth = 0;
  int engine_error = 0;  // errno
  bool moves_half = false;
  CallFault call = {};  // of pread and pwrite
};

// What is left at the end, to compare with an untouched run.
struct Remains {
  size_t descriptors = 0;
  size_t threads = 0;
  size_t kept = 0;  // descriptors that threads of the pool may keep, as rings
};

struct Report {
  bool has_fired = false;
  Remains remains;
  char complaint[400] = "";  // empty: all that must hold does
};

constexpr uint64_t kFileSeed = 1;
constexpr uint64_t kMemorySeed = 2;
constexpr uint8_t kFilling = 0xEE;  // of memory that is read into

// The file before: what is read is there, what is written may be new.
inline size_t file_size_of(const Trial& trial) {
  const size_t end = static_cast<size_t>(trial.offset) + trial.size;
  return std::max(size_t{2} << 20, trial.operation == Operation::kRead ? end : 0);
}

// Runs the trial on the file `path`, which is made where it is needed, with the engine "uring" or
// "threads".
Report run_trial(const Trial& trial, const Fault& fault, const std::string& engine,
                 const std::string& path);

// What `remains` has more than `untouched`; empty: nothing.
std::string leak_of(const Remains& remains, const Remains& untouched);

}  // namespace hipfile::test
