// SPDX-License-Identifier: MIT
//
// Signals and cancellation while calls of ours wait: no call fails, none is cut short, and none is
// left in the middle. Runs under ThreadSanitizer too.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "async_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kSize = 3 * kMiB + 77;

// Every call that can wait. All must succeed. Each but everything() calls nothing but the library.
class Work {
 public:
  explicit Work(const std::string& path) : path_(path), buffer_(kSize) {
    file_.emplace(path, kSize, 1);
    buffer_.set(make_pattern(kSize, 1));  // what a first write must bring
  }

  void read() {
    EXPECT_EQ(ssize_t(kSize), hipFileRead(file_->handle(), buffer_.data(), kSize, 0, 0));
  }
  void write() {
    EXPECT_EQ(ssize_t(kSize), hipFileWrite(file_->handle(), buffer_.data(), kSize, 0, 0));
  }
  void queue() { EXPECT_CODE(hipFileSuccess, call_.read(file_->handle(), buffer_, stream_)); }
  void run_batch() { run_batch(nullptr); }
  void run_batch_with_timeout() {
    timespec timeout = {0, 200000};
    run_batch(&timeout);
  }
  // Waits for the operation if it has begun.
  void close() {
    queue();
    EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
    is_closed_ = true;
  }
  void run_batch(timespec* timeout) {
    hipFileBatchHandle_t batch = nullptr;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, 4));
    hipFileIOParams_t params = {};
    params.mode = hipFileBatch;
    params.opcode = hipFileBatchRead;
    params.fh = file_->handle();
    params.u.batch.devPtr_base = buffer_.data();
    params.u.batch.size = kSize;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSubmit(batch, 1, &params, 0));
    hipFileIOEvents_t event = {};
    unsigned count = 0;
    while (count == 0) {
      count = 1;
      const hipFileError_t got = hipFileBatchIOGetStatus(batch, 1, &count, &event, timeout);
      EXPECT_CODE(hipFileSuccess, got);
      if (got.err != hipFileSuccess) break;
    }
    EXPECT_EQ(1u, count);
    EXPECT_EQ(hipFileComplete, event.status);
    EXPECT_EQ(kSize, event.ret);
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch));
    hipFileBatchIODestroy(batch);
  }
  void register_all() {
    EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer_.data(), kSize, 0));
    EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer_.data()));
    EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(stream_, 0));
    EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(stream_));
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  }
  void everything() {
    synchronize(stream_);  // one may be queued
    if (is_closed_) open_again();
    buffer_.fill(0);
    read();
    EXPECT_EQ("", first_difference(buffer_.get(), make_pattern(kSize, 1)));
    write();
    EXPECT_EQ("", first_difference(read_file(path_), make_pattern(kSize, 1)));
    queue();
    synchronize(stream_);
    EXPECT_EQ(ssize_t(kSize), call_.bytes);
    run_batch();
    run_batch_with_timeout();
    register_all();
    close();
    open_again();
  }

 private:
  void open_again() {
    synchronize(stream_);
    const bool is_whole = call_.bytes == ssize_t(kSize);
    EXPECT_TRUE(is_whole || call_.bytes == negated(hipFileDriverClosing)) << call_.bytes;
    file_.emplace(path_, kSize, 1);
    is_closed_ = false;
  }

  const std::string path_;
  std::optional<RegisteredFile> file_;
  bool is_closed_ = false;
  Buffer buffer_;
  TestStream stream_;
  AsyncCall call_{kSize};
};

std::atomic<unsigned> g_signals{0};
void count_signal(int) { ++g_signals; }

class SignalTest : public ApiTest, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    struct sigaction action = {};
    action.sa_handler = &count_signal;
    action.sa_flags = GetParam();
    ASSERT_EQ(0, sigaction(SIGUSR1, &action, &before_));
  }
  void TearDown() override {
    ASSERT_EQ(0, sigaction(SIGUSR1, &before_, nullptr));
    ApiTest::TearDown();
  }

 private:
  struct sigaction before_ = {};
};

TEST_P(SignalTest, CallsGoOnUnderThem) {
  Work work(file("f"));
  work.everything();  // threads are there before the signals begin
  g_signals = 0;
  std::atomic<bool> stop{false};
  std::thread sender([&stop, target = pthread_self()] {
    while (!stop) {
      (void)pthread_kill(target, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int round = 0; round < 2 || (g_signals == 0 && round < 1000); ++round) work.everything();
  stop = true;
  sender.join();
  EXPECT_GT(g_signals, 0u);
}

INSTANTIATE_TEST_SUITE_P(, SignalTest, testing::Values(0, SA_RESTART), [](const auto& instance) {
  return instance.param == 0 ? "Interrupting" : "Restarting";
});

// ---- Cancellation

using Call = void (Work::*)();

struct Cancelled {
  Work* work;
  Call call;
  std::atomic<bool> has_returned{false};
};

// The cancellation is pending when the call begins, and must find the thread behind it.
void* call_when_cancelled(void* argument) {
  auto* cancelled = static_cast<Cancelled*>(argument);
  (void)pthread_cancel(pthread_self());
  (cancelled->work->*cancelled->call)();
  cancelled->has_returned = true;
  pthread_testcancel();
  return nullptr;
}

class CancelTest : public ApiTest,
                   public testing::WithParamInterface<std::pair<const char*, Call>> {};

TEST_P(CancelTest, CallIsNoCancellationPoint) {
  Work work(file("f"));
  Cancelled cancelled{&work, GetParam().second};
  pthread_t thread;
  ASSERT_EQ(0, pthread_create(&thread, nullptr, &call_when_cancelled, &cancelled));
  void* result = nullptr;
  ASSERT_EQ(0, pthread_join(thread, &result));
  EXPECT_EQ(PTHREAD_CANCELED, result);
  EXPECT_TRUE(cancelled.has_returned);
  work.everything();
}

INSTANTIATE_TEST_SUITE_P(
    , CancelTest,
    testing::Values(std::pair("Read", &Work::read), std::pair("Write", &Work::write),
                    std::pair("Async", &Work::queue), std::pair("Batch", Call(&Work::run_batch)),
                    std::pair("Timeout", &Work::run_batch_with_timeout),
                    std::pair("Close", &Work::close), std::pair("Register", &Work::register_all)),
    [](const auto& instance) { return std::string(instance.param.first); });

// HIP and the C library have cancellation points of their own, so these threads call nothing else.
struct Reader {
  hipFileHandle_t file = nullptr;
  void* memory = nullptr;
  std::atomic<bool> is_wrong{false};
  std::atomic<unsigned> reads{0};
};

using CancelledThreadsTest = ApiTest;

void* read_until_cancelled(void* argument) {
  auto* reader = static_cast<Reader*>(argument);
  for (;;) {
    if (hipFileRead(reader->file, reader->memory, kSize, 0, 0) != ssize_t(kSize)) {
      reader->is_wrong = true;
    }
    ++reader->reads;
    pthread_testcancel();
  }
}

TEST_F(CancelledThreadsTest, ThreadsThatReadAreCancelledBetweenTheirCalls) {
  RegisteredFile f(file("f"), kSize, 1);
  Buffer buffer(kSize);
  Reader reader{f.handle(), buffer.data()};
  for (int round = 0; round < 20; ++round) {
    pthread_t thread;
    ASSERT_EQ(0, pthread_create(&thread, nullptr, &read_until_cancelled, &reader));
    std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
    ASSERT_EQ(0, pthread_cancel(thread));
    void* result = nullptr;
    ASSERT_EQ(0, pthread_join(thread, &result));
    EXPECT_EQ(PTHREAD_CANCELED, result);
  }
  EXPECT_FALSE(reader.is_wrong);
  EXPECT_GE(reader.reads, 20u);
  buffer.fill(0);
  EXPECT_EQ(ssize_t(kSize), hipFileRead(f.handle(), buffer.data(), kSize, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(kSize, 1)));
}

}  // namespace
}  // namespace hipfile::test
