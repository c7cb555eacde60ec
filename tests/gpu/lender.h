// SPDX-License-Identifier: MIT
//
// Another process, which lends memory of the device: this program once more. It tells over a socket
// what it lends, and ends when the borrower closes that.
#pragma once

#include <memory>
#include <string>

#include "cuda_program.h"
#include "process.h"
#include "temp_dir.h"

namespace hipfile::test {

// What goes over the socket. The descriptor goes beside it.
struct Loan {
  int result = -1;      // of the driver
  int descriptor = -1;  // of memory that is lent by one
  CudaIpcHandle handle = {};
};

class Lender {
 public:
  // `kind` as the function of is_lender() knows it.
  Lender(const std::string& kind, size_t size);
  int result() const { return loan_.result; }
  int descriptor() const { return descriptor_.get(); }
  const CudaIpcHandle& handle() const { return loan_.handle; }

 private:
  Loan loan_;
  Fd descriptor_;
  std::unique_ptr<RunningProcess> process_;
  Fd socket_;  // closed first
};

using LendFunction = int (*)(const std::string& kind, size_t size, Loan& loan);

// True if the program was started by Lender: it has lent, and ends with `*status`.
bool is_lender(int argc, char** argv, LendFunction lend, int* status);

}  // namespace hipfile::test
