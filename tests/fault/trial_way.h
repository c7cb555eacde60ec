// SPDX-License-Identifier: MIT
// The ways in which a trial moves its bytes: by one call, in a stream, in a batch.
#pragma once

#include <hip/hip_runtime_api.h>

#include <vector>

#include "driver/driver.h"
#include "trial.h"

namespace hipfile::test {

// A part of the request, and what its count says.
struct Part {
  size_t at = 0;
  size_t size = 0;
  size_t moved = 0;
};

struct Moved {
  ssize_t result = 0;  // of hipFileRead or hipFileWrite; of several parts, the first failure
  std::vector<Part> parts;
  bool is_cancelled = false;   // some of them
  const char* complaint = "";  // what no fault excuses
};

// Moves the bytes of a trial by its way, and waits for the end. `errno` is set where the way tells
// it.
Moved move_bytes(Driver& driver, hipFileHandle_t file, const Trial& trial, const Buffer& buffer,
                 hipStream_t stream);

// What is wrong with the bytes of the buffer after a read, with the file's after a write; empty:
// nothing. What is counted is there; behind it lie old bytes or those that were to come; outside,
// old ones.
std::string fault_of_memory(const Trial& trial, const std::vector<Part>& parts,
                            const std::vector<uint8_t>& bytes);
std::string fault_of_file(const Trial& trial, const std::vector<Part>& parts,
                          const std::vector<uint8_t>& bytes);

}  // namespace hipfile::test
