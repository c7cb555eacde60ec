// SPDX-License-Identifier: MIT
//
// Many operations in flight, and what a program does meanwhile: it deregisters, closes, and lets
// streams stand still.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "async_fixture.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

class AsyncManyTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (!calls_are_queued()) GTEST_SKIP() << "calls block here";
  }
};

size_t threads_named(const std::string& prefix) {
  size_t count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    std::string name;
    std::ifstream(std::string("/proc/self/task/") + entry->d_name + "/comm") >> name;
    count += name.rfind(prefix, 0) == 0;
  }
  closedir(tasks);
  return count;
}

// Streams that stand still together until the next number is stored.
class Barrier {
 public:
  Barrier() { word_.fill(0); }
  void add(hipStream_t stream) {
    EXPECT_EQ(hipSuccess, hipStreamWaitValue32(stream, word_.data(), number_ + 1,
                                               hipStreamWaitValueGte, UINT32_MAX));
  }
  void open() { std::atomic_ref<uint32_t>(*static_cast<uint32_t*>(word_.data())).store(++number_); }

 private:
  Buffer word_{sizeof(uint32_t), MemoryKind::kPinned};
  uint32_t number_ = 0;
};

// How many operations of one chunk a program may queue behind each of `streams` that stand still,
// the wait being one entry more. The emulated device takes 1,020 entries for a stream, with the
// hazards, and an operation is five. NVIDIA's takes as many for each of eight hardware queues, and
// an operation is up to 34 (docs/design/async.md).
size_t operations_that_may_stand(size_t streams) {
  constexpr size_t kEntries = 1020;
  return is_on_nvidia() ? (8 * kEntries / streams - 1) / 34 : (kEntries - 1) / 5;
}

// One operation whose values are right only when the stream gets there.
struct LateRead {
  AsyncCall call{512};
  size_t size = 0;
  hoff_t from = 0;
};

// Each stream reads into its own buffer, one slice for each operation.
TEST_F(AsyncManyTest, StreamsTimesOperationsWithLateValues) {
  constexpr size_t kStreams = 64;
  constexpr size_t kSlice = 512;
  const size_t at_once = operations_that_may_stand(kStreams);
  const size_t operations = at_once < 100 ? 300 : 1000;
  RegisteredFile f(file("f"), kMiB, 3);
  Barrier barrier;
  std::vector<std::unique_ptr<TestStream>> streams;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::vector<LateRead>> reads(kStreams);
  std::mt19937 random(4711);
  for (size_t at = 0; at < kStreams; ++at) {
    streams.push_back(std::make_unique<TestStream>());
    buffers.push_back(std::make_unique<Buffer>(operations * kSlice));
    buffers.back()->fill(0xee);
    reads[at].resize(operations);
  }
  for (size_t begin = 0; begin < operations; begin += at_once) {
    for (const auto& stream : streams) barrier.add(*stream);
    for (size_t op = begin; op < std::min(begin + at_once, operations); ++op) {
      for (size_t at = 0; at < kStreams; ++at) {
        LateRead& read = reads[at][op];
        read.size = 1 + random() % kSlice;
        read.from = hoff_t(random() % (kMiB - kSlice));
        EXPECT_CODE(hipFileSuccess, read.call.read(f.handle(), *buffers[at], *streams[at]));
        read.call = {read.size, read.from, hoff_t(op * kSlice)};
      }
    }
    barrier.open();
    // The next ones stand behind none of these.
    for (const auto& stream : streams) synchronize(*stream);
  }
  EXPECT_LE(threads_named("hipfile"), 20u);
  for (size_t at = 0; at < kStreams; ++at) {
    const std::vector<uint8_t> bytes = buffers[at]->get();
    for (size_t op = 0; op < operations; ++op) {
      const LateRead& read = reads[at][op];
      ASSERT_EQ(ssize_t(read.size), read.call.bytes) << "stream " << at << ", operation " << op;
      std::vector<uint8_t> expected(kSlice, 0xee);
      fill_pattern(expected.data(), read.size, 3, uint64_t(read.from));
      const auto begin = bytes.begin() + ssize_t(op * kSlice);
      ASSERT_EQ("", first_difference({begin, begin + kSlice}, expected));
    }
  }
}

size_t resident_bytes() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * size_t(sysconf(_SC_PAGESIZE));
}

// A staging buffer for each, even one as large as its request, would be 320 MiB. On a GPU that
// other processes use, each operation takes a time slice: there it is 96 MiB.
TEST_F(AsyncManyTest, TenThousandQueuedMakeNoThreadsAndNoStaging) {
  constexpr size_t kSize = 32 << 10;
  RegisteredFile f(file("f"), kMiB, 3);
  Buffer buffer(kMiB);
  TestStream stream;
  std::vector<AsyncCall> calls(is_on_gpu() ? 3000 : 10000, AsyncCall{kSize});
  size_t threads = 0, bytes = 0;
  for (AsyncCall& call : calls) {
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream));
    if (&call != &calls[10]) continue;
    threads = threads_named("");
    bytes = resident_bytes();
  }
  EXPECT_LE(threads_named(""), threads + 8);
  EXPECT_LE(resident_bytes(), bytes + 64 * kMiB);
  synchronize(stream);
  for (const AsyncCall& call : calls) ASSERT_EQ(ssize_t(kSize), call.bytes);
}

// Nor any other call of HIP: the library's are the first of each thread.
TEST_F(AsyncManyTest, ThreadsWithoutHipBeforeMayCallFirst) {
  RegisteredFile f(file("f"), kMiB, 3);
  Buffer buffer(kMiB), other(kMiB);
  TestStream stream;
  AsyncCall read{kMiB}, write{4096, hoff_t(kMiB)};
  std::thread([&] { EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream)); }).join();
  std::thread([&] { EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream)); }).join();
  std::thread([&] {
    hipFileIOParams_t params = {};
    params.mode = hipFileBatch;
    params.opcode = hipFileBatchRead;
    params.fh = f.handle();
    params.u.batch.devPtr_base = other.data();
    params.u.batch.size = kMiB;
    hipFileBatchHandle_t batch = nullptr;
    hipFileIOEvents_t event = {};
    unsigned count = 1;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, 1));
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSubmit(batch, 1, &params, 0));
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOGetStatus(batch, 1, &count, &event, nullptr));
    EXPECT_EQ(kMiB, event.ret);
    hipFileBatchIODestroy(batch);
  }).join();
  synchronize(stream);
  EXPECT_EQ(ssize_t(kMiB), read.bytes);
  EXPECT_EQ(4096, write.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(kMiB, 3)));
  EXPECT_EQ("", first_difference(other.get(), make_pattern(kMiB, 3)));
}

TEST_F(AsyncManyTest, Rule34_FileDeregisteredWhileQueuedIsStillRead) {
  auto f = std::make_unique<RegisteredFile>(file("f"), kMiB, 3);
  Buffer buffer(kMiB);
  TestStream stream;
  AsyncCall call{kMiB};
  {
    Pause pause(stream);
    EXPECT_CODE(hipFileSuccess, call.read(f->handle(), buffer, stream));
    hipFileHandleDeregister(f->handle());
    f.reset();
  }
  EXPECT_EQ(ssize_t(kMiB), call.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(kMiB, 3)));
}

TEST_F(AsyncManyTest, Rule34_RegisteredBufferIsInUseWhileQueued) {
  RegisteredFile f(file("f"), 8192, 3);
  Buffer buffer(8192);
  TestStream stream;
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 8192, 0));
  AsyncCall call{8192};
  {
    Pause pause(stream);
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream));
    EXPECT_CODE(hipFileInternalError, hipFileBufDeregister(buffer.data()));
  }
  EXPECT_EQ(8192, call.bytes);
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
}

TEST_F(AsyncManyTest, Rule34_OperationsReachedAfterTheCloseSayClosing) {
  RegisteredFile f(file("f"), kMiB, 3);
  Buffer buffer(kMiB);
  buffer.fill(0xee);
  TestStream stream;
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), kMiB, 0));
  AsyncCall read{kMiB}, write{4096};
  {
    Pause pause(stream);
    EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream));
    EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream));
    close_library();  // does not wait for a stream that stands still
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  }
  EXPECT_EQ(negated(hipFileDriverClosing), read.bytes);
  EXPECT_EQ(negated(hipFileDriverClosing), write.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(kMiB, 0xee)));
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(kMiB, 3)));
}

TEST_F(AsyncManyTest, Rule34_CloseInAHostFunctionIsRefused) {
  RegisteredFile f(file("f"), kMiB, 3);
  Buffer buffer(kMiB);
  // As long as the library has met no runtime it has nothing in a stream, and closing is harmless.
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), kMiB, 0));
  TestStream stream;
  AsyncCall call{kMiB};
  hipFileOpError_t answer = hipFileSuccess;
  const auto close = [](void* context) {
    *static_cast<hipFileOpError_t*>(context) = hipFileDriverClose().err;
  };
  EXPECT_EQ(hipSuccess, hipLaunchHostFunc(stream, close, &answer));
  EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream));
  synchronize(stream);
  EXPECT_EQ(hipFileDriverClosing, answer);
  EXPECT_EQ(ssize_t(kMiB), call.bytes);
  EXPECT_EQ(1, hipFileUseCount());
}

// As every call of HIP there: what waits for a stream in it would wait for ever.
TEST_F(AsyncManyTest, CallsInAHostFunctionFail) {
  struct Context {
    AsyncCall call{4096};
    hipFileHandle_t file = nullptr;
    const Buffer* buffer = nullptr;
    hipStream_t stream = nullptr;
    hipFileOpError_t answer = hipFileSuccess;
  } context;
  RegisteredFile f(file("f"), kMiB, 3);
  Buffer buffer(kMiB), other(kMiB);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), kMiB, 0));
  TestStream stream;
  const auto read = [](void* data) {
    auto* it = static_cast<Context*>(data);
    it->answer = it->call.read(it->file, *it->buffer, it->stream).err;
  };
  for (const Buffer* memory : {&buffer, &other}) {
    context.file = f.handle();
    context.buffer = memory;
    context.stream = stream;
    EXPECT_EQ(hipSuccess, hipLaunchHostFunc(stream, read, &context));
    synchronize(stream);
    EXPECT_EQ(hipFileHipDriverError, context.answer);
    EXPECT_EQ(4711, context.call.bytes);
  }
}

TEST_F(AsyncManyTest, CloseWaitsForWhatRuns) {
  for (int round = 0; round < 8; ++round) {
    RegisteredFile f(file("f"), 24 * kMiB, 3);
    Buffer buffer(24 * kMiB);
    TestStream stream;
    AsyncCall call{24 * kMiB};
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream));
    if (round % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(round));
    close_library();
    synchronize(stream);
    const bool is_whole = call.bytes == ssize_t(24 * kMiB);
    EXPECT_TRUE(is_whole || call.bytes == negated(hipFileDriverClosing)) << call.bytes;
    if (is_whole) {
      EXPECT_EQ("", first_difference(buffer.get(), make_pattern(24 * kMiB, 3)));
    }
  }
}

TEST_F(AsyncManyTest, ThreadsQueueIntoStreamsOfTheirOwn) {
  RegisteredFile f(file("f"), 8 * kMiB, 3);
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&f, number] {
      TestStream stream;
      Buffer buffer(kMiB);
      for (int round = 0; round < 20; ++round) {
        AsyncCall call{kMiB - size_t(round), number * hoff_t(kMiB) + round};
        EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream));
        synchronize(stream);
        EXPECT_EQ(ssize_t(call.size), call.bytes);
        EXPECT_EQ("", first_difference(buffer.get(0, call.size),
                                       make_pattern(call.size, 3, uint64_t(call.file_offset))));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(AsyncManyTest, NoDescriptorNorDeviceMemoryIsLeft) {
  TestStream stream;
  size_t before = 0, after = 0, total = 0;
  size_t descriptors = 0;
  for (int round = 0; round < 3; ++round) {
    RegisteredFile f(file("f"), kMiB, 3);
    Buffer buffer(kMiB);
    for (int op = 0; op < 50; ++op) {
      AsyncCall call{kMiB};
      EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream));
      synchronize(stream);
    }
    if (round == 0) {
      ASSERT_EQ(hipSuccess, hipMemGetInfo(&before, &total));
      descriptors = open_descriptors();
    } else {
      ASSERT_EQ(hipSuccess, hipMemGetInfo(&after, &total));
      if (!is_on_gpu()) {  // others use it too: growth_test runs alone
        EXPECT_EQ(before, after);
      }
      EXPECT_EQ(descriptors, open_descriptors());
    }
    hipFileHandleDeregister(f.handle());
  }
}

}  // namespace
}  // namespace hipfile::test
