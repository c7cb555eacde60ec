// SPDX-License-Identifier: MIT
// A program of the library whose Nth system call fails, by strace, on the direct path and on the
// other. No crash, no hang, no wrong success: a count is what is there. (injected_test.sh does the
// same to the copy programs.)
//
// How many of the calls are failed: HIPFILE_TEST_CALLS per case, spread over all; 0: every one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "system/aiscp_fixture.h"

namespace hipfile::test {
namespace {

struct Injection {
  const char* call;
  const char* error;
  const char* way = "";  // of the program
};

const Injection kInjections[] = {{"openat", "EMFILE"},
                                 {"openat", "EACCES"},
                                 {"read", "EIO"},
                                 {"read", "EINTR"},
                                 {"pread64", "EIO"},
                                 {"pread64", "EINTR"},
                                 {"pread64", "EAGAIN"},
                                 {"write", "ENOSPC"},
                                 {"pwrite64", "ENOSPC"},
                                 {"pwrite64", "EINTR"},
                                 {"io_uring_setup", "ENOMEM"},
                                 {"io_uring_setup", "EPERM"},
                                 {"io_uring_enter", "EINTR"},
                                 {"io_uring_enter", "EAGAIN"},
                                 {"io_uring_enter", "EBUSY"},
                                 {"io_uring_register", "ENOMEM"},
                                 {"mmap", "ENOMEM"},
                                 {"mremap", "ENOMEM"},
                                 {"madvise", "ENOMEM"},
                                 {"munmap", "ENOMEM"},
                                 {"newfstatat", "EIO"},
                                 {"statx", "ENOSYS"},
                                 {"fstatfs", "EIO"},
                                 {"fcntl", "EMFILE"},
                                 {"ftruncate", "EIO"},
                                 {"fallocate", "ENOSPC"},
                                 {"fallocate", "EOPNOTSUPP"},
                                 {"fdatasync", "EIO"},
                                 {"fsync", "EIO"},
                                 {"rename", "EIO"},
                                 {"renameat2", "EINVAL"},
                                 {"linkat", "EPERM"},
                                 {"unlink", "EIO"},
                                 {"unlinkat", "EIO"},
                                 {"fchmod", "EPERM"},
                                 {"fchown", "EPERM"},
                                 {"clone3", "EAGAIN"},
                                 {"memfd_create", "ENOSYS"},
                                 {"mbind", "EPERM"},
                                 {"sched_getaffinity", "EINVAL"}};

// What streams and batches do beside the calls.
const Injection kLaterInjections[] = {
    {"pread64", "EIO", "stream"},         {"pread64", "EINTR", "stream"},
    {"pwrite64", "ENOSPC", "stream"},     {"pwrite64", "EINTR", "stream"},
    {"mmap", "ENOMEM", "stream"},         {"clone3", "EAGAIN", "stream"},
    {"pread64", "EIO", "batch"},          {"pwrite64", "ENOSPC", "batch"},
    {"io_uring_enter", "EINTR", "batch"}, {"io_uring_enter", "EAGAIN", "batch"},
    {"io_uring_enter", "EBUSY", "batch"}, {"io_uring_setup", "ENOMEM", "batch"},
    {"mmap", "ENOMEM", "batch"},          {"clone3", "EAGAIN", "batch"}};

constexpr size_t kSize = 3 << 20;

class ProgramInjectTest : public AiscpTest, public testing::WithParamInterface<Injection> {
 protected:
  void SetUp() override {
    if (run_process({"strace", "-o", "/dev/null", "true"}).exit_code != 0) {
      GTEST_SKIP() << "strace cannot trace here";
    }
    make("from", kSize);
  }

  // Runs a command; `nth` 0: the calls are counted. Returns how it ended.
  ProcessResult strace(const std::string& tampering, const std::vector<std::string>& command) {
    std::vector<std::string> arguments = {"strace",
                                          "-f",
                                          "--seccomp-bpf",
                                          "-qq",
                                          "-o",
                                          at(".trace"),
                                          "-e",
                                          std::string("trace=") + GetParam().call};
    if (!tampering.empty()) arguments.insert(arguments.end(), {"-e", tampering});
    arguments.insert(arguments.end(), command.begin(), command.end());
    ProcessOptions options;
    options.directory = directory();
    options.environment = {"LC_ALL=C"};
    options.timeout_s = 60;
    return run_process(arguments, options);
  }

  size_t lines_of_trace() const {
    const std::vector<uint8_t> trace = read_file(at(".trace"));
    return static_cast<size_t>(std::count(trace.begin(), trace.end(), '\n'));
  }

  // The numbers of the calls that are to fail.
  static std::vector<size_t> chosen(size_t calls) {
    const char* text = std::getenv("HIPFILE_TEST_CALLS");
    const size_t wish = text != nullptr ? std::strtoul(text, nullptr, 10) : 2;
    const size_t count = wish == 0 ? calls : std::min(wish, calls);
    std::vector<size_t> numbers;
    for (size_t at = 1; at <= count; ++at) numbers.push_back(at * calls / count);
    return numbers;
  }

  std::string tampering(size_t nth) const {
    return std::string("inject=") + GetParam().call + ":error=" + GetParam().error +
           ":when=" + std::to_string(nth);
  }

  // The dynamic loader's own calls are among them, and where one fails it may even crash.
  static bool has_not_begun(const ProcessResult& result) {
    return result.exit_code != 0 && result.out.find("begun") == std::string::npos;
  }

  void judge(const ProcessResult& result) {
    if (has_not_begun(result)) return;
    ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 4)
        << "status " << result.exit_code << "\n"
        << result.out << result.err;
    EXPECT_EQ(std::string::npos, result.out.find("WRONG")) << result.out;
    std::vector<uint8_t> bytes = read_file(at("to"));
    std::vector<uint8_t> known = make_pattern(kSize, 3);
    std::vector<bool> is_free(bytes.size(), false);  // behind a count, inside the request
    known.resize(bytes.size());
    std::istringstream lines(result.out);
    std::string word;
    for (const ssize_t wanted : {ssize_t{(5 << 18) + 77}, ssize_t{5000}}) {
      ssize_t count = 0, offset = wanted == 5000 ? 4 << 20 : 123;
      while (lines >> word && word != "write") {
      }
      lines >> count >> offset;
      for (ssize_t i = 0; i < wanted; ++i) {
        const auto place = static_cast<size_t>(offset + i);
        if (i < count) {
          ASSERT_LT(place, bytes.size()) << result.out;
          known[place] = pattern_byte(2, static_cast<uint64_t>(i));
        } else if (place < bytes.size()) {
          is_free[place] = true;
        }
      }
    }
    for (size_t at = 0; at < bytes.size(); ++at) {
      if (is_free[at]) known[at] = bytes[at];
    }
    EXPECT_EQ("", first_difference(bytes, known)) << result.out;
  }
};

TEST_P(ProgramInjectTest, CountsAreTrue) {
  const std::string way = GetParam().way;
  for (const char* compat : {"false", "true"}) {
    std::vector<std::string> command = {"env", std::string("HIPFILE_FORCE_COMPAT_MODE=") + compat,
                                        FAULT_PROBE, "from", "to"};
    if (!way.empty()) command.push_back(way);
    make("to", kSize, 3);
    judge(strace("", command));
    for (const size_t nth : chosen(lines_of_trace())) {
      make("to", kSize, 3);
      judge(strace(tampering(nth), command));
      if (HasFailure()) FAIL() << tampering(nth) << ", compat mode " << compat;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Injection>& instance) {
  return std::string(instance.param.way) + instance.param.call + "_" + instance.param.error;
}

INSTANTIATE_TEST_SUITE_P(, ProgramInjectTest, testing::ValuesIn(kInjections), name_of);
INSTANTIATE_TEST_SUITE_P(Later, ProgramInjectTest, testing::ValuesIn(kLaterInjections), name_of);

}  // namespace
}  // namespace hipfile::test
