// SPDX-License-Identifier: MIT
//
// A GPU that is lost in the middle of a program of the library: from the Nth call of NVIDIA's
// driver on, every call answers the same error, and what is queued is never done. N counts up over
// a whole program of calls, streams and batches, each time in a process of its own. Every call
// answers, the driver closes, and what was said to be done is done. Only the fake driver can be
// told.
#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "async_fixture.h"
#include "batch_fixture.h"
#include "random_run.h"

namespace hipfile::test {
namespace {

constexpr size_t kSize = (6 << 20) + 77;  // several times through a lane
constexpr const char* kLane = "1048576";  // bytes
constexpr unsigned kChildLimit = 60;      // s

template <class Function>
Function of_the_driver(const char* name) {
  void* library = ::dlopen(std::getenv("HIP_PORTABLE_CUDA_LIBRARY"), RTLD_NOW);
  return reinterpret_cast<Function>(::dlsym(library, name));
}
bool is_lost() { return of_the_driver<int (*)()>("fakeCudaIsLost")() != 0; }

// How a child ended.
enum Ending { kAllWell = 0, kLost = 1, kWrong = 10 };  // kWrong + the number of the check

// The calls of the program, and what they answer. A failure before the device is lost is wrong.
class LostProgram {
 public:
  LostProgram(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  int run() {
    (void)hipFileDriverOpen().err;
    move_by_all_ways();
    expect(6, hipFileDriverClose().err == hipFileSuccess);
    expect(7, hipFileUseCount() == 0);
    move_by_all_ways();  // once more, on whatever is left
    while (hipFileUseCount() > 0) expect(8, hipFileDriverClose().err == hipFileSuccess);
    return wrong_ != 0 ? kWrong + wrong_ : is_lost() ? kLost : kAllWell;
  }

  // An operation stands in the middle of its stream, and nobody asks for it.
  int close_with_one_in_flight(bool is_read) {
    open_files();
    need(hipMalloc(&memory_, kSize));
    need(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
    calls_[0] = AsyncCall{kSize};
    AsyncCall& call = calls_[0];
    const int before = of_the_driver<int (*)()>("fakeCudaIndirectCopies")();
    const auto queue = is_read ? hipFileReadAsync : hipFileWriteAsync;
    expect(1, queue(is_read ? source_ : target_, memory_, &call.size, &call.file_offset,
                    &call.buffer_offset, &call.bytes, stream_)
                      .err == hipFileSuccess);
    const auto copies = of_the_driver<int (*)()>("fakeCudaIndirectCopies");
    while (copies() <= before && hipStreamQuery(stream_) == hipErrorNotReady) sched_yield();
    of_the_driver<void (*)(long, int)>("fakeCudaLose")(0, 214);
    expect(2, hipStreamQuery(stream_) != hipSuccess);
    expect(6, hipFileDriverClose().err == hipFileSuccess);
    return wrong_ != 0 ? kWrong + wrong_ : kLost;
  }

 private:
  void expect(int check, bool is_right) {
    if (!is_right && wrong_ == 0) wrong_ = check;
  }
  void need(hipError_t error) { expect(9, error == hipSuccess || is_lost()); }
  // All of it, or less and then the device was lost.
  void need_count(int check, ssize_t bytes) {
    expect(check, bytes <= ssize_t{kSize} && (bytes == ssize_t{kSize} || is_lost()));
  }

  void open_files() {
    source_fd_ = Fd(from_, O_RDONLY);
    target_fd_ = Fd(to_, O_RDWR | O_CREAT | O_TRUNC);
    hipFileDescr_t from = describe(source_fd_.get()), to = describe(target_fd_.get());
    expect(1, hipFileHandleRegister(&source_, &from).err == hipFileSuccess);
    expect(1, hipFileHandleRegister(&target_, &to).err == hipFileSuccess);
  }

  void move_by_all_ways() {
    open_files();
    memory_ = nullptr;
    stream_ = nullptr;
    need(hipMalloc(&memory_, kSize));
    need(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
    if (memory_ != nullptr) {
      (void)hipFileBufRegister(memory_, kSize, 0).err;
      by_calls();
      if (stream_ != nullptr) in_stream();
      in_batch();
      (void)hipFileBufDeregister(memory_).err;
    }
    if (stream_ != nullptr) need(hipStreamDestroy(stream_));
    if (memory_ != nullptr) need(hipFree(memory_));
    hipFileHandleDeregister(source_);
    hipFileHandleDeregister(target_);
  }

  void by_calls() {
    need_count(2, hipFileRead(source_, memory_, kSize, 0, 0));
    look(2);
    need_count(3, hipFileWrite(target_, memory_, kSize, 0, 0));
    if (!is_lost()) expect(3, first_difference(read_file(to_), make_pattern(kSize, 1)).empty());
  }

  void in_stream() {
    need(hipMemset(memory_, 0, kSize));
    calls_[0] = calls_[1] = AsyncCall{kSize};
    bool are_queued = true;
    for (const bool is_read : {true, false}) {
      AsyncCall& call = calls_[is_read ? 0 : 1];
      const auto queue = is_read ? hipFileReadAsync : hipFileWriteAsync;
      const hipFileError_t error =
          queue(is_read ? source_ : target_, memory_, &call.size, &call.file_offset,
                &call.buffer_offset, &call.bytes, stream_);
      expect(4, error.err == hipFileSuccess || is_lost());
      are_queued = are_queued && error.err == hipFileSuccess;
    }
    const hipError_t reached = hipStreamSynchronize(stream_);
    need(reached);
    if (!are_queued || reached != hipSuccess) return;
    for (const AsyncCall& call : calls_) need_count(4, call.bytes);
    look(4);
  }

  void in_batch() {
    constexpr unsigned kRequests = 2;
    hipFileIOParams_t requests[kRequests] = {};
    for (unsigned at = 0; at < kRequests; ++at) {
      requests[at].mode = hipFileBatch;
      requests[at].opcode = at == 0 ? hipFileBatchRead : hipFileBatchWrite;
      requests[at].fh = at == 0 ? source_ : target_;
      requests[at].u.batch = {memory_, 0, 0, kSize};
    }
    hipFileBatchHandle_t batch = nullptr;
    expect(5, hipFileBatchIOSetUp(&batch, kRequests).err == hipFileSuccess);
    if (hipFileBatchIOSubmit(batch, kRequests, requests, 0).err == hipFileSuccess) {
      hipFileIOEvents_t events[kRequests];
      unsigned count = kRequests;
      expect(5, hipFileBatchIOGetStatus(batch, kRequests, &count, events, nullptr).err ==
                    hipFileSuccess);
      expect(5, count == kRequests);
      for (unsigned at = 0; at < count; ++at) need_count(5, static_cast<ssize_t>(events[at].ret));
    }
    hipFileBatchIODestroy(batch);
  }

  // The device has the file's bytes, if it can be asked.
  void look(int check) {
    std::vector<uint8_t> bytes(kSize);
    if (hipMemcpy(bytes.data(), memory_, kSize, hipMemcpyDeviceToHost) != hipSuccess) return;
    expect(check, is_lost() || first_difference(bytes, make_pattern(kSize, 1)).empty());
  }

  const std::string from_, to_;
  Fd source_fd_, target_fd_;
  hipFileHandle_t source_ = nullptr, target_ = nullptr;
  void* memory_ = nullptr;
  hipStream_t stream_ = nullptr;
  AsyncCall calls_[2];
  int wrong_ = 0;
};

// This process makes no call of the library or of HIP: each child begins anew.
class LostDeviceTest : public testing::Test {
 protected:
  void SetUp() override { write_file(from(), make_pattern(kSize, 1)); }
  std::string from() const { return dir_.file("from"); }
  std::string to() const { return dir_.file("to"); }

  static int ending_of(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kChildLimit);
      ::setenv("HIPFILE_ASYNC_BUFFER_SIZE", kLane, 1);
      ::_exit(body());
    }
    int status = 0;
    EXPECT_EQ(child, ::waitpid(child, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  int ending_when_lost_after(unsigned long calls) const {
    return ending_of([&] {
      ::setenv("FAKE_CUDA_LOSE_AFTER", std::to_string(calls).c_str(), 1);
      return LostProgram(from(), to()).run();
    });
  }

  TempDir dir_;
};

TEST_F(LostDeviceTest, AtWhicheverCallOfTheProgram) {
  constexpr unsigned long kMost = 5000;
  const unsigned long stride = number_from_environment("HIPFILE_TEST_STRIDE", 13);
  unsigned long calls = 0;
  int ending = kLost;
  for (; ending == kLost && calls < kMost; calls += stride) ending = ending_when_lost_after(calls);
  EXPECT_EQ(kAllWell, ending) << "lost after " << calls - stride
                              << " calls; 1000 + N: signal N, 10 + N: check N";
  EXPECT_GT(calls, 100u);
}

TEST_F(LostDeviceTest, DriverClosesWithAReadInFlight) {
  EXPECT_EQ(kLost,
            ending_of([&] { return LostProgram(from(), to()).close_with_one_in_flight(true); }));
}

TEST_F(LostDeviceTest, DriverClosesWithAWriteInFlight) {
  EXPECT_EQ(kLost,
            ending_of([&] { return LostProgram(from(), to()).close_with_one_in_flight(false); }));
}

}  // namespace
}  // namespace hipfile::test
