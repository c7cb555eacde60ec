// SPDX-License-Identifier: MIT
// Running the copy programs and comparing large files.
#include "copy_programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pattern.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

constexpr size_t kPiece = 4 << 20;

// Reads until `size` bytes or the end of the file.
size_t read_all(int fd, uint8_t* data, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(fd, data + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0) std::perror("compare");
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace

const std::vector<CopyProgram>& copy_programs() {
  static const std::vector<CopyProgram>& programs = *[] {
    auto* list = new std::vector<CopyProgram>;
    list->push_back({"Tool", TEST_AISCP_TOOL});
    if (std::strlen(TEST_AISCP_EXAMPLE) != 0) list->push_back({"Example", TEST_AISCP_EXAMPLE});
    return list;
  }();
  return programs;
}

ProcessResult copy(const CopyProgram& program, const std::string& from, const std::string& to,
                   const std::vector<std::string>& environment,
                   const std::vector<std::string>& options) {
  std::vector<std::string> arguments{program.path};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(from);
  arguments.push_back(to);
  ProcessOptions how;
  how.environment = environment;
  how.timeout_s = 280;
  return run_process(arguments, how);
}

void make_large_file(const std::string& path, uint64_t size) {
  Fd fd(path, O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<uint8_t> piece = make_pattern(kPiece, 1);
  for (uint64_t offset = 0; offset < size; offset += kPiece) {
    const uint64_t left = size - offset;
    const size_t count = left < kPiece ? static_cast<size_t>(left) : kPiece;
    for (size_t mark = 0; mark + 8 <= count; mark += 65536) {
      const uint64_t where = offset + mark;
      std::memcpy(piece.data() + mark, &where, sizeof where);
    }
    if (::write(fd.get(), piece.data(), count) != static_cast<ssize_t>(count)) {
      std::perror(path.c_str());
      std::abort();
    }
  }
}

std::string compare_files(const std::string& actual, const std::string& expected) {
  Fd one(actual, O_RDONLY), two(expected, O_RDONLY);
  std::vector<uint8_t> left(kPiece), right(kPiece);
  for (uint64_t offset = 0;; offset += kPiece) {
    const size_t n = read_all(one.get(), left.data(), kPiece, offset);
    const size_t m = read_all(two.get(), right.data(), kPiece, offset);
    if (n != m) {
      return "sizes differ: " + std::to_string(offset + n) + " and " + std::to_string(offset + m);
    }
    if (std::memcmp(left.data(), right.data(), n) != 0) {
      return "bytes differ after " + std::to_string(offset);
    }
    if (n < kPiece) return "";
  }
}

}  // namespace hipfile::test
