// SPDX-License-Identifier: MIT
// The two programs that copy a file through device memory, the tool and the tutorial's example, and
// what the tests of their copies share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process.h"

namespace hipfile::test {

struct CopyProgram {
  std::string name;  // fit for a test name
  std::string path;
};

// Those that were built: the tool, and the example if it is part of this build tree.
const std::vector<CopyProgram>& copy_programs();

// Runs PROGRAM [OPTION...] FROM TO.
ProcessResult copy(const CopyProgram& program, const std::string& from, const std::string& to,
                   const std::vector<std::string>& environment = {},
                   const std::vector<std::string>& options = {});

// Makes a file of `size` bytes, none alike within a megabyte, and quickly.
void make_large_file(const std::string& path, uint64_t size);

// Empty when two files hold the same bytes, else where they differ. Reads in pieces, skips nothing.
std::string compare_files(const std::string& actual, const std::string& expected);

}  // namespace hipfile::test
