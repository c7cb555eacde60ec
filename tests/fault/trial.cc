// SPDX-License-Identifier: MIT
// The child makes a driver of its own, so the engines can be put behind a front; the HIP runtime is
// the one that the program is linked to.
#include "trial.h"

#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "api/return_code.h"
#include "driver/driver.h"
#include "faulty_engine.h"
#include "pattern.h"
#include "temp_dir.h"
#include "util/cpu_limits.h"

namespace hipfile::test {
namespace {

constexpr size_t kLargestSmall = 64 << 10;  // a request of one small slot
constexpr uint64_t kFileSeed = 1;
constexpr uint64_t kMemorySeed = 2;
constexpr uint8_t kFilling = 0xEE;
constexpr size_t kTail = 8192;      // of the buffer, behind the request
constexpr unsigned kPatience = 20;  // seconds, then a trial counts as hung

size_t entries_of(const char* directory) {
  size_t number = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    (void)entry;
    ++number;
  }
  return number;
}

class Child {
 public:
  Child(const Trial& trial, const Fault& fault, const std::string& path)
      : trial_(trial), fault_(fault), path_(path) {
    driver_ = std::make_unique<Driver>(Settings(), make_faulty(choose_engines(), &engine_fault_));
    const Status staged =
        driver_->set_parameter(ParameterKind::kBool, hipFileParamForceCompatMode, trial.is_bounce);
    if (!staged.ok()) complain("the parameter was refused");
    fd_ =
        Fd(path, O_RDWR | (trial.is_direct
                               ? direct_flag_of(std::filesystem::path(path).parent_path().string())
                               : 0));
    if (trial.is_direct) {  // cached pages would be read through the cache
      (void)::fdatasync(fd_.get());
      (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    buffer_ = std::make_unique<Buffer>(trial.shift + trial.size + kTail, trial.kind);
  }

  // In a thread of its own, so that what threads keep while they live is given back too.
  Report run() {
    std::thread([this] { try_it(); }).join();
    finish();
    return report_;
  }

 private:
  void try_it() {
    prepare();
    arm();
    const ssize_t result = operate();
    const int error = errno;
    report_.has_fired = disarm();
    if (hipPeekAtLastError() != hipSuccess) complain("a last error is left behind");
    judge(result, error);
    failed_function_ = nullptr;  // what failed once works the next time
    prepare();
    const ssize_t again = operate();
    if (again != expected()) complain("the next call gives %zd, errno %d", again, errno);
    judge(again, 0);
  }

  bool is_transfer() const {
    return trial_.operation == Operation::kRead || trial_.operation == Operation::kWrite;
  }
  ssize_t expected() const { return is_transfer() ? static_cast<ssize_t>(trial_.size) : 0; }

  [[gnu::format(printf, 2, 3)]] void complain(const char* format, ...) {
    if (report_.complaint[0] != '\0') return;  // the first counts
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(report_.complaint, sizeof report_.complaint, format, arguments);
    va_end(arguments);
  }

  // All that the operation needs, as far as it is not there yet.
  void prepare() {
    const bool registers_file = trial_.operation == Operation::kRegisterFile;
    if (!registers_file && handle_ == nullptr) must(driver_->register_file(fd_.get(), &handle_));
    if (trial_.is_registered && !is_buffer_registered_) {
      must(driver_->register_buffer(buffer_->data(), buffer_->size()));
      is_buffer_registered_ = true;
    }
    if (trial_.operation == Operation::kWrite) {
      buffer_->set(make_pattern(buffer_->size(), kMemorySeed));
    } else {
      buffer_->fill(kFilling);
    }
    if (trial_.operation == Operation::kClose) (void)transfer(Direction::kRead);
  }

  void must(const Status& status) {
    if (status.ok()) return;
    complain("preparation fails: code %d, errno %d, HIP %d", status.error().code,
             status.error().sys_errno, status.error().hip);
  }

  // The calls without which nobody knows what arrived.
  static bool is_essential(const char* function) {
    if (function == nullptr) return false;
    for (const char* name : {"hipMemcpyAsync", "hipEventRecord", "hipEventSynchronize",
                             "hipStreamSynchronize", "hipAmdFileRead", "hipAmdFileWrite"}) {
      if (std::strcmp(function, name) == 0) return true;
    }
    return false;
  }

  void arm() {
    if (fault_.hip_nth != 0) {
      hip_fault_arm(nullptr, fault_.hip_nth, fault_.hip_code, fault_.is_lasting);
    }
    engine_fault_.error = fault_.engine_error;
    engine_fault_.moves_half = fault_.moves_half;
    engine_fault_.operations = 0;
    engine_fault_.nth = fault_.engine_nth;
  }

  bool disarm() {
    failed_function_ = hip_fault_disarm();
    const bool has_fired = failed_function_ != nullptr || engine_fault_.has_fired();
    engine_fault_.nth = 0;
    return has_fired;
  }

  ssize_t transfer(Direction direction) {
    const Arguments arguments = {buffer_->data(), trial_.size, trial_.offset,
                                 static_cast<off_t>(trial_.shift), direction};
    errno = 0;
    return to_count(driver_->transfer(handle_, arguments));
  }

  static ssize_t negated(const Status& status) {
    return -static_cast<ssize_t>(static_cast<int>(to_error(status).err));
  }

  ssize_t operate() {
    switch (trial_.operation) {
      case Operation::kRead:
        return transfer(Direction::kRead);
      case Operation::kWrite:
        return transfer(Direction::kWrite);
      case Operation::kRegisterFile: {
        const ssize_t result = negated(driver_->register_file(fd_.get(), &handle_));
        if (result == 0) driver_->deregister_file(handle_);
        return result;
      }
      case Operation::kRegisterBuffer: {
        const ssize_t result = negated(driver_->register_buffer(buffer_->data(), buffer_->size()));
        if (result == 0 && !driver_->deregister_buffer(buffer_->data()).ok()) return -1;
        return result;
      }
      case Operation::kOpen: {
        const ssize_t result = negated(driver_->open());
        if (result == 0 && !driver_->close().ok()) return -1;
        return result;
      }
      case Operation::kClose:
        handle_ = nullptr;
        is_buffer_registered_ = false;
        return negated(driver_->close());
    }
    return INT64_MIN;
  }

  void judge(ssize_t result, int error) {
    if (result > static_cast<ssize_t>(trial_.size)) complain("more than asked for: %zd", result);
    if (!report_.has_fired && result != expected()) complain("untouched, but %zd", result);
    if (result == expected() && is_essential(failed_function_)) {
      complain("%s failed, and yet all %zd bytes", failed_function_, result);
    }
    if (result == -1 && is_transfer() && error != fault_.engine_error) {
      complain("errno %d is not that of the fault", error);
    }
    const ssize_t hip_error = -static_cast<ssize_t>(static_cast<int>(hipFileHipDriverError));
    if (result < -1 && is_transfer() && (fault_.hip_nth == 0 || result != hip_error)) {
      complain("a fault of no such kind: %zd", result);
    }
    const size_t moved = result > 0 ? static_cast<size_t>(result) : 0;
    if (trial_.operation == Operation::kRead) judge_memory(moved);
    if (trial_.operation == Operation::kWrite) judge_file(moved);
  }

  // The count is what is there; behind it lie old bytes or bytes of the file; outside, old ones.
  void judge_memory(size_t moved) {
    const std::vector<uint8_t> bytes = buffer_->get();
    const std::vector<uint8_t> file =
        make_pattern(trial_.size, kFileSeed, static_cast<uint64_t>(trial_.offset));
    for (size_t at = 0; at < bytes.size(); ++at) {
      const bool is_inside = at >= trial_.shift && at < trial_.shift + trial_.size;
      const bool is_old = bytes[at] == kFilling;
      const bool is_of_file = is_inside && bytes[at] == file[at - trial_.shift];
      const bool is_counted = is_inside && at - trial_.shift < moved;
      if (is_counted ? is_of_file : (is_old || is_of_file)) continue;
      return complain("count %zu, but byte %zu of the memory is 0x%02x", moved, at, bytes[at]);
    }
  }

  void judge_file(size_t moved) {
    const std::vector<uint8_t> bytes = read_file(path_);
    const std::vector<uint8_t> old = make_pattern(kTrialFileSize, kFileSeed);
    const std::vector<uint8_t> memory = make_pattern(trial_.size, kMemorySeed, trial_.shift);
    const auto begin = static_cast<size_t>(trial_.offset);
    const size_t end = begin + trial_.size;
    if (bytes.size() < std::max(old.size(), begin + moved) ||
        bytes.size() > std::max(old.size(), end)) {
      return complain("count %zu, and a file of %zu bytes", moved, bytes.size());
    }
    for (size_t at = 0; at < bytes.size(); ++at) {
      const bool is_inside = at >= begin && at < end;
      const bool is_old = bytes[at] == (at < old.size() ? old[at] : 0);
      const bool is_of_memory = is_inside && bytes[at] == memory[at - begin];
      const bool is_counted = is_inside && at - begin < moved;
      if (is_counted ? is_of_memory : (is_old || is_of_memory)) continue;
      return complain("count %zu, but byte %zu of the file is 0x%02x", moved, at, bytes[at]);
    }
  }

  // Nothing is left but a slab that was cut into small slots.
  void finish() {
    (void)driver_->close();
    driver_.reset();
    buffer_.reset();
    fd_.reset();
    report_.remains = {open_descriptors(), entries_of("/proc/self/task")};
    const HipObjects objects = hip_fault_objects();
    const bool has_small_part = trial_.size <= kLargestSmall || trial_.offset % 4096 != 0;
    const bool is_all_back = objects.device_allocations == 0 && objects.pinned_allocations == 0 &&
                             objects.streams == 0 && objects.events == 0;
    if (!is_all_back || objects.registrations > (has_small_part ? 1 : 0)) {
      complain("left: %d of device memory, %d pinned, %d registered, %d streams, %d events",
               static_cast<int>(objects.device_allocations),
               static_cast<int>(objects.pinned_allocations),
               static_cast<int>(objects.registrations), static_cast<int>(objects.streams),
               static_cast<int>(objects.events));
    }
  }

  const Trial& trial_;
  const Fault& fault_;
  const std::string path_;
  EngineFault engine_fault_;
  std::unique_ptr<Driver> driver_;
  Fd fd_;
  std::unique_ptr<Buffer> buffer_;
  hipFileHandle_t handle_ = nullptr;
  bool is_buffer_registered_ = false;
  const char* failed_function_ = nullptr;
  Report report_;
};

}  // namespace

Report run_trial(const Trial& trial, const Fault& fault, const std::string& engine,
                 const std::string& path) {
  if (trial.operation == Operation::kWrite || ::access(path.c_str(), F_OK) != 0) {
    write_file(path, make_pattern(kTrialFileSize, kFileSeed));
  }
  Report report;
  int ends[2] = {-1, -1};
  const pid_t pid = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
  if (pid == 0) {
    ::alarm(kPatience);
    ::close(ends[0]);
    ::setenv("HIPFILE_ENGINE", engine.c_str(), 1);
    report = Child(trial, fault, path).run();
    ::_exit(::write(ends[1], &report, sizeof report) == sizeof report ? 0 : 1);
  }
  ::close(ends[1]);
  const ssize_t got = pid > 0 ? ::read(ends[0], &report, sizeof report) : -1;
  ::close(ends[0]);
  int status = 0;
  if (pid > 0) ::waitpid(pid, &status, 0);
  if (got != sizeof report || status != 0) {
    report.has_fired = true;
    const bool is_hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    std::snprintf(report.complaint, sizeof report.complaint, "%s, wait status 0x%x",
                  is_hung ? "it hangs" : "it dies", static_cast<unsigned>(status));
  }
  return report;
}

// The pool starts its threads as they are needed: so many more are no leak.
std::string leak_of(const Remains& remains, const Remains& untouched) {
  const auto more = [](const char* what, size_t has, size_t may_have) {
    return has > may_have ? std::string(what) + " " : std::string();
  };
  return more("descriptors", remains.descriptors, untouched.descriptors) +
         more("threads", remains.threads, untouched.threads + std::min(8u, usable_cpus()));
}

}  // namespace hipfile::test
