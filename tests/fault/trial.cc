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
#include <chrono>
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
#include "modes.h"
#include "pattern.h"
#include "temp_dir.h"
#include "trial_way.h"
#include "util/cpu_limits.h"

namespace hipfile::test {
namespace {

constexpr size_t kLargestSmall = 64 << 10;  // a request of one small slot
constexpr size_t kLane = 2 << 20;  // the least: the larger requests in a stream go round in it
constexpr int64_t kMostEventsOfAStream = 8;
constexpr size_t kTail = 8192;      // of the buffer, behind the request
constexpr unsigned kPatience = 60;  // seconds, then a trial counts as hung

size_t entries_of(const char* directory) {
  size_t number = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    (void)entry;
    ++number;
  }
  return number;
}

Settings small_lanes() {
  Settings settings;
  settings.set(find_parameter(ParameterKind::kSize, kAsyncBufferSize), kLane);
  return settings;
}

class Child {
 public:
  Child(const Trial& trial, const Fault& fault, const std::string& path)
      : trial_(trial), fault_(fault), path_(path) {
    driver_ =
        std::make_unique<Driver>(small_lanes(), make_faulty(choose_engines(), &engine_fault_));
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
    if (hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking) != hipSuccess) {
      complain("no stream");
    }
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
    const Moved moved = operate();
    const int error = errno;
    report_.has_fired = disarm();
    if (hipPeekAtLastError() != hipSuccess) complain("a last error is left behind");
    judge(moved, error);
    if (trial_.is_registered && trial_.is_transfer()) deregister_idle_buffer();
    failed_function_ = nullptr;  // what failed once works the next time
    has_failed_call_ = false;
    prepare();
    const Moved again = operate();
    const int again_error = errno;
    const bool is_closed = moved.result == -1 && is_of_closed_memory(error);
    if (!again.is_cancelled && again.result != (is_closed ? -1 : expected())) {
      complain("the next call gives %zd, errno %d", again.result, again_error);
    }
    judge(again, is_closed ? again_error : 0);
  }

  // Nothing works on the memory any more once the end was waited for.
  void deregister_idle_buffer() {
    must(driver_->deregister_buffer(buffer_->data()));
    is_buffer_registered_ = false;
  }

  ssize_t expected() const { return trial_.is_transfer() ? static_cast<ssize_t>(trial_.size) : 0; }

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
    // A runtime that fails from its first call on is passed over, and knows the stream alone.
    if (fault_.is_lasting && needs_stream()) must(driver_->register_stream(stream_, 0));
    if (fault_.is_lasting && needs_stream()) must(driver_->deregister_stream(stream_));
    if (trial_.operation == Operation::kClose) {
      (void)driver_->transfer(handle_, {buffer_->data(), trial_.size, trial_.offset,
                                        static_cast<off_t>(trial_.shift), Direction::kRead});
    }
  }

  bool needs_stream() const {
    return trial_.way == Way::kStream || trial_.operation == Operation::kRegisterStream;
  }

  void must(const Status& status) {
    if (status.ok()) return;
    complain("what must not fail does: code %d, errno %d, HIP %d", status.error().code,
             status.error().sys_errno, status.error().hip);
  }

  // The calls without which nobody knows what arrived.
  static bool is_essential(const char* function) {
    if (function == nullptr) return false;
    for (const char* name :
         {"hipMemcpyAsync", "hipEventRecord", "hipEventSynchronize", "hipStreamSynchronize",
          "hipAmdFileRead", "hipAmdFileWrite", "hipPortableFileRead", "hipLaunchHostFunc",
          "hipStreamWaitValue32", "hipPortableMemcpyIndirectAsync"}) {
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
    arm_calls(path_, fault_.call);
  }

  bool disarm() {
    failed_function_ = hip_fault_disarm();
    has_failed_call_ = disarm_calls();
    const bool has_fired =
        failed_function_ != nullptr || engine_fault_.has_fired() || has_failed_call_;
    engine_fault_.nth = 0;
    return has_fired;
  }

  static ssize_t negated(const Status& status) {
    return -static_cast<ssize_t>(static_cast<int>(to_error(status).err));
  }

  Moved operate() {
    if (trial_.is_transfer()) return move_bytes(*driver_, handle_, trial_, *buffer_, stream_);
    Moved moved;
    moved.result = change();
    return moved;
  }

  ssize_t change() {
    switch (trial_.operation) {
      case Operation::kRead:
      case Operation::kWrite:
        break;
      case Operation::kRegisterStream: {
        const ssize_t result = negated(driver_->register_stream(stream_, 0xf));
        if (result == 0 && !driver_->deregister_stream(stream_).ok()) return -1;
        return result;
      }
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

  void judge(const Moved& moved, int error) {
    const ssize_t result = moved.result;
    if (moved.complaint[0] != '\0') complain("%s", moved.complaint);
    if (result > static_cast<ssize_t>(trial_.size)) complain("more than asked for: %zd", result);
    if (!report_.has_fired && !moved.is_cancelled && result != expected()) {
      complain("untouched, but %zd", result);
    }
    if (result == expected()) judge_success();
    if (result < 0 && trial_.is_transfer()) judge_failure(result, error);
    if (trial_.operation == Operation::kRead) {
      complain_of(fault_of_memory(trial_, moved.parts, buffer_->get()), result);
    } else if (trial_.operation == Operation::kWrite) {
      complain_of(fault_of_file(trial_, moved.parts, read_file(path_)), result);
    }
  }

  void judge_success() {
    if (is_essential(failed_function_)) {
      complain("%s failed, and yet all %zd bytes", failed_function_, expected());
    }
    const bool is_tried_again = fault_.call.error == EINTR || fault_.call.error == EAGAIN;
    if (has_failed_call_ && !is_tried_again) complain("a storage call failed, and yet all");
  }

  // A runtime that fails from its first call on is passed over: nobody knows whose memory it is,
  // and the system says that it is closed to the program (rule 23).
  bool is_of_closed_memory(int error) const {
    return is_strict() && fault_.is_lasting && fault_.hip_nth == 1 && error == EFAULT;
  }

  // -1 says no more in a stream. A direct path's errno is an internal error there.
  void judge_failure(ssize_t result, int error) {
    if (result == -1 && is_of_closed_memory(error)) return;
    const bool is_stream = trial_.way == Way::kStream;
    const int storage_error = fault_.engine_nth != 0 ? fault_.engine_error : fault_.call.error;
    if (result == -1 && (is_stream ? storage_error == 0 : error != storage_error)) {
      complain("errno %d is not that of the fault", error);
    }
    if (result == -1) return;
    const hipFileOpError_t code =
        fault_.hip_nth != 0 ? hipFileHipDriverError : hipFileInternalError;
    const bool is_of_kind = fault_.hip_nth != 0 || (is_stream && has_failed_call_);
    if (!is_of_kind || result != -static_cast<ssize_t>(static_cast<int>(code))) {
      complain("a fault of no such kind: %zd", result);
    }
  }

  void complain_of(const std::string& fault, ssize_t result) {
    if (!fault.empty()) complain("result %zd, but %s", result, fault.c_str());
  }

  // The poller lets go of an operation whose end could not be queued, and then it is closing that
  // gives back memory.
  void close_until_memory_is_back() {
    for (int tries = 0; tries < 100; ++tries) {
      if (tries == 0 || driver_->open().ok()) (void)driver_->close();
      if (is_memory_back()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // A slab that was cut into small slots stays, and one of gates.
  bool is_memory_back() const {
    const HipObjects objects = hip_fault_objects();
    const bool has_small_part = trial_.size <= kLargestSmall || trial_.offset % 4096 != 0;
    const int64_t slabs = (has_small_part ? 1 : 0) + (trial_.way == Way::kStream ? 1 : 0);
    return objects.device_allocations == 0 && objects.pinned_allocations == 0 &&
           objects.registrations <= slabs;
  }

  // Threads keep streams while they live: those of the pool, after a batch.
  bool are_streams_back() const {
    const HipObjects objects = hip_fault_objects();
    const int64_t keepers = is_batch() ? usable_cpus() : 0;
    return objects.streams <= keepers && objects.events <= keepers * kMostEventsOfAStream;
  }

  bool is_batch() const { return trial_.way == Way::kBatch || trial_.way == Way::kCancelledBatch; }

  void finish() {
    (void)hipStreamDestroy(stream_);
    buffer_.reset();
    close_until_memory_is_back();
    driver_.reset();
    fd_.reset();
    report_.remains = {open_descriptors(), entries_of("/proc/self/task")};
    if (is_batch()) report_.remains.kept = usable_cpus();
    const HipObjects objects = hip_fault_objects();
    if (!is_memory_back() || !are_streams_back()) {
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
  hipStream_t stream_ = nullptr;
  const char* failed_function_ = nullptr;
  bool has_failed_call_ = false;
  Report report_;
};

}  // namespace

Report run_trial(const Trial& trial, const Fault& fault, const std::string& engine,
                 const std::string& path) {
  if (trial.operation == Operation::kWrite || ::access(path.c_str(), F_OK) != 0) {
    write_file(path, make_pattern(file_size_of(trial), kFileSeed));
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

// Two pools, and the device, start their threads as they are needed: so many more are no leak.
std::string leak_of(const Remains& remains, const Remains& untouched) {
  const auto more = [](const char* what, size_t has, size_t may_have) {
    return has > may_have ? std::string(what) + " " : std::string();
  };
  return more("descriptors", remains.descriptors, untouched.descriptors + remains.kept) +
         more("threads", remains.threads, untouched.threads + 3 * std::min(8u, usable_cpus()));
}

}  // namespace hipfile::test
