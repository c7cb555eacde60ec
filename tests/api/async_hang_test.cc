// SPDX-License-Identifier: MIT
//
// The table of calls that hang a library whose threads copy behind a stream's wait
// (docs/design/async.md), cell by cell: an operation stands in a stream behind a wait of the
// program's when the call is made, and the wait ends while the call waits for the stream. From then
// on the operation has all its work before it, and the call keeps copies out.
#include <atomic>
#include <memory>
#include <thread>

#include "async_fixture.h"
#include "disturbances.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
enum Place { kHere, kElsewhere };

// A read behind a wait.
struct WaitingRead {
  WaitingRead(const RegisteredFile& file, const TestStream& in, size_t size)
      : stream(in), buffer(size), pause(stream), call{size, 3} {
    EXPECT_CODE(hipFileSuccess, call.read(file.handle(), buffer, stream));
  }
  void expect_done() {
    synchronize(stream);
    EXPECT_EQ(static_cast<ssize_t>(buffer.size()), call.bytes);
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(buffer.size(), 1, 3)));
  }

  const TestStream& stream;
  Buffer buffer;
  Pause pause;
  AsyncCall call;
};

using Streams = std::vector<std::unique_ptr<TestStream>>;
using Reads = std::vector<std::unique_ptr<WaitingRead>>;

// By disturbance and place.
class HangTableTest : public TimeLimited,
                      public testing::WithParamInterface<std::tuple<size_t, Place>> {
 protected:
  static constexpr size_t kMost = 3 * kMiB;  // several chunks

  void SetUp() override {
    TimeLimited::SetUp();
    if (!calls_are_queued()) GTEST_SKIP() << "calls block here";
    disturb();  // what it makes once, it makes before
  }
  static void disturb() { kDisturbances[std::get<0>(GetParam())].call(); }

  // Blocking and non-blocking ones by turns. All of them first: with work standing in others,
  // NVIDIA's driver may make the next only when that is done.
  static Streams make_streams(size_t count, std::vector<unsigned> flags) {
    Streams streams;
    for (size_t at = 0; at < count; ++at) {
      streams.push_back(std::make_unique<TestStream>(flags[at % flags.size()]));
    }
    return streams;
  }

  // The waits are ended by a thread that calls nothing of HIP, once the call is under way. Whether
  // it has already got to its own wait then is up to the scheduler; most of the time it has.
  template <class Open>
  static void disturb_and_go_on(const Streams& streams, Open open) {
    std::atomic<bool> is_called{false};
    const auto call = [&is_called] {
      is_called = true;
      disturb();
    };
    std::thread opener([&] {
      while (!is_called) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      open();
    });
    if (std::get<1>(GetParam()) == kElsewhere) {
      std::thread other(call);
      for (const auto& stream : streams) synchronize(*stream);
      other.join();
    } else {
      call();
    }
    opener.join();
  }

  // Each stream waits; there is a read behind the wait of every `stride`-th.
  void run(const Streams& streams, size_t stride, size_t size) {
    const RegisteredFile file(this->file("from"), kMost + 3, 1);
    Reads reads;
    std::vector<std::unique_ptr<Pause>> pauses;
    for (size_t at = 0; at < streams.size(); ++at) {
      if (at % stride == 0) {
        reads.push_back(std::make_unique<WaitingRead>(file, *streams[at], size));
      } else {
        pauses.push_back(std::make_unique<Pause>(*streams[at]));
      }
    }
    disturb_and_go_on(streams, [&] {
      for (const auto& read : reads) read->pause.open();
      for (const auto& pause : pauses) pause->open();
    });
    for (const auto& read : reads) read->expect_done();
  }
};

TEST_P(HangTableTest, Rule9_ReadBehindAWaitOfANonBlockingStream) {
  run(make_streams(1, {hipStreamNonBlocking}), 1, kMost);
}

TEST_P(HangTableTest, Rule9_ReadBehindAWaitOfABlockingStream) {
  run(make_streams(1, {hipStreamDefault}), 1, kMost);
}

// More than the device has hardware queues, of which there may be one; it takes eight reads. An odd
// stride, so that they are in streams of both kinds.
TEST_P(HangTableTest, Rule9_ReadsAmongWaitsOf64Streams) {
  run(make_streams(64, {hipStreamNonBlocking, hipStreamDefault}), 9, 100001);
}

INSTANTIATE_TEST_SUITE_P(, HangTableTest,
                         testing::Combine(testing::Range(size_t{0}, std::size(kDisturbances)),
                                          testing::Values(kHere, kElsewhere)),
                         [](const auto& it) {
                           return std::string(kDisturbances[std::get<0>(it.param)].name) +
                                  (std::get<1>(it.param) == kElsewhere ? "Elsewhere" : "Here");
                         });

}  // namespace
}  // namespace hipfile::test
