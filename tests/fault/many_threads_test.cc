// SPDX-License-Identifier: MIT
// 64 threads register, read, write, deregister files and buffers, and open and close the driver at
// random, on two devices; they read and write by calls, in streams and in batches. Runs under
// ThreadSanitizer too.
//
// Every 8 bytes of a file name their file, their block and a version. A block has one writer at a
// time, which announces a version before it writes it and says when it is done: so a read has a
// known set of right answers, whatever runs beside it.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "async_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kThreads = 64;
constexpr size_t kFiles = 12;
constexpr size_t kBlock = 4096;
constexpr size_t kBlocks = 96;  // of a file
constexpr size_t kMostBlocks = 48;
constexpr size_t kWords = kBlock / sizeof(uint64_t);

uint64_t word_of(size_t file, size_t block, uint64_t version) {
  return uint64_t{file} << 56 | uint64_t{block} << 40 | version;
}

// How a thread moves its bytes.
enum Way { kCall, kStream, kBatch, kWays };

struct SharedFile {
  std::string path;
  std::atomic<hipFileHandle_t> handle{nullptr};  // of whoever registered it last; may be stale
  std::atomic_flag has_writer = ATOMIC_FLAG_INIT;
  std::array<std::atomic<uint64_t>, kBlocks> announced{}, written{};
};

class ManyThreadsTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    for (size_t at = 0; at < kFiles; ++at) {
      files_[at].path = file(std::to_string(at));
      std::vector<uint64_t> words;
      for (size_t word = 0; word < kBlocks * kWords; ++word) {
        words.push_back(word_of(at, word / kWords, 0));
      }
      const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
      write_file(files_[at].path, {bytes, bytes + words.size() * sizeof words[0]});
    }
  }

  // The words of a file from `first` on: each of its place, and of a version between the two.
  void expect_words(size_t file, size_t first, const std::vector<uint8_t>& bytes,
                    const std::vector<uint64_t>& least) {
    for (size_t at = 0; at < bytes.size() / sizeof(uint64_t); ++at) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at * sizeof word, sizeof word);
      const size_t block = (first + at) / kWords;
      const uint64_t most = files_[file].announced[block].load();
      const uint64_t version = word - word_of(file, block, 0);
      if (version >= least[block] && version <= most) continue;
      ADD_FAILURE() << "file " << file << ", block " << block << ": word " << std::hex << word
                    << ", not of a version from " << least[block] << " to " << most;
      stop_ = true;
      return;
    }
  }

  std::array<SharedFile, kFiles> files_;
  std::atomic<bool> stop_{false};
  std::array<std::atomic<uint64_t>, kWays> reads_{}, writes_{};
};

// What the later ways give where the library was closed meanwhile.
constexpr ssize_t kClosed = negated(hipFileDriverClosing);

// One of the threads: a descriptor, a stream and a device buffer of its own, registered or not.
class Worker {
 public:
  Worker(std::array<SharedFile, kFiles>& files, size_t index)
      : files_(files), random_(index), device_(static_cast<int>(index % 2)) {
    (void)hipSetDevice(device_);
    buffer_ = std::make_unique<Buffer>(kMostBlocks * kBlock + kBlock);
    stream_ = std::make_unique<TestStream>();
  }

  size_t below(size_t end) { return random_() % end; }
  Buffer& buffer() { return *buffer_; }

  // The library may be closed, or the handle gone, at any moment: nothing else may go wrong.
  static bool is_refusal(ssize_t result, int error) {
    return (result == -1 && error == EINVAL) || result == negated(hipFileHandleNotRegistered) ||
           result == kClosed;
  }

  // A read or a write, to its end. `way` gets how.
  ssize_t move(bool is_read, hipFileHandle_t file, size_t size, size_t offset, size_t shift,
               Way* way) {
    *way = static_cast<Way>(below(kWays));
    if (*way == kStream) return move_in_stream(is_read, file, size, offset, shift);
    if (*way == kBatch) return move_in_batch(is_read, file, size, offset, shift);
    const auto at = static_cast<hoff_t>(offset), behind = static_cast<hoff_t>(shift);
    errno = 0;
    return is_read ? hipFileRead(file, buffer_->data(), size, at, behind)
                   : hipFileWrite(file, buffer_->data(), size, at, behind);
  }

  void change_something() {
    switch (below(8)) {
      case 0:
        (void)hipFileDriverOpen().err;
        break;
      case 1:
        (void)hipFileDriverClose().err;
        break;
      case 2:
        (void)hipFileBufRegister(buffer_->data(), buffer_->size(), 0).err;
        break;
      case 3:
        (void)hipFileBufDeregister(buffer_->data()).err;
        break;
      case 4:
        hipFileHandleDeregister(files_[below(kFiles)].handle.load());
        break;
      default:
        register_file(files_[below(kFiles)]);
    }
  }

  void register_file(SharedFile& file) {
    fd_.reset();  // the registration of the file before it lives on
    fd_ = Fd(file.path, O_RDWR | (below(2) == 0 ? O_DIRECT : 0));
    hipFileDescr_t descr = describe(fd_.get());
    hipFileHandle_t handle = nullptr;
    if (hipFileHandleRegister(&handle, &descr).err == hipFileSuccess) file.handle = handle;
  }

  int device() const { return device_; }

 private:
  ssize_t move_in_stream(bool is_read, hipFileHandle_t file, size_t size, size_t offset,
                         size_t shift) {
    AsyncCall call{size, static_cast<hoff_t>(offset), static_cast<hoff_t>(shift)};
    const hipFileError_t error =
        is_read ? call.read(file, *buffer_, *stream_) : call.write(file, *buffer_, *stream_);
    if (error.err == hipFileInvalidValue) return kClosed;
    if (error.err != hipFileSuccess) return negated(error.err);
    synchronize(*stream_);
    return call.bytes;
  }

  ssize_t move_in_batch(bool is_read, hipFileHandle_t file, size_t size, size_t offset,
                        size_t shift) {
    hipFileIOParams_t params = {};
    params.mode = hipFileBatch;
    params.opcode = is_read ? hipFileBatchRead : hipFileBatchWrite;
    params.fh = file;
    params.u.batch = {buffer_->data(), static_cast<int64_t>(offset), static_cast<int64_t>(shift),
                      size};
    hipFileBatchHandle_t batch = nullptr;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, 1));
    const ssize_t result = run_batch(batch, params);
    hipFileBatchIODestroy(batch);  // waits for what still runs where the library was closed
    return result;
  }

  static ssize_t run_batch(hipFileBatchHandle_t batch, hipFileIOParams_t& params) {
    const hipFileError_t submitted = hipFileBatchIOSubmit(batch, 1, &params, 0);
    if (submitted.err == hipFileHandleNotRegistered) return negated(submitted.err);
    const bool was_closed = submitted.err == hipFileInternalError ||
                            submitted.err == hipFileInvalidValue ||
                            submitted.err == hipFileBatchFull;
    if (was_closed) return kClosed;
    EXPECT_EQ(hipFileSuccess, submitted.err);
    unsigned count = 1;
    hipFileIOEvents_t event = {};
    const hipFileError_t fetched = hipFileBatchIOGetStatus(batch, 1, &count, &event, nullptr);
    if (fetched.err == hipFileInvalidValue) return kClosed;
    EXPECT_EQ(1u, count);
    return event.status == hipFileCanceled ? kClosed : static_cast<ssize_t>(event.ret);
  }

  std::array<SharedFile, kFiles>& files_;
  std::mt19937_64 random_;
  const int device_;
  Fd fd_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<TestStream> stream_;
};

class Traffic : public ManyThreadsTest {
 protected:
  void read(Worker& worker) {
    const size_t at = worker.below(kFiles);
    SharedFile& file = files_[at];
    const size_t first = worker.below(kBlocks * kWords - 1);  // a word of the file
    const size_t room = std::min(kBlocks * kWords - first, kMostBlocks * kWords);
    const size_t size = (1 + worker.below(room)) * sizeof(uint64_t);
    std::vector<uint64_t> least;
    for (const auto& version : file.written) least.push_back(version.load());
    const size_t shift = worker.below(2) * 512;
    Way way = kCall;
    const ssize_t n =
        worker.move(true, file.handle.load(), size, first * sizeof(uint64_t), shift, &way);
    if (Worker::is_refusal(n, errno)) return;
    EXPECT_EQ(static_cast<ssize_t>(size), n) << "way " << way << ", errno " << errno;
    expect_words(at, first, worker.buffer().get(shift, size), least);
    ++reads_[way];
  }

  void write(Worker& worker) {
    const size_t at = worker.below(kFiles);
    SharedFile& file = files_[at];
    if (file.has_writer.test_and_set()) return;
    const size_t first = worker.below(kBlocks);
    const size_t count = 1 + worker.below(std::min(kBlocks - first, kMostBlocks));
    std::vector<uint64_t> words;
    for (size_t block = first; block < first + count; ++block) {
      words.insert(words.end(), kWords, word_of(at, block, ++file.announced[block]));
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
    worker.buffer().set({bytes, bytes + count * kBlock});
    Way way = kCall;
    const ssize_t n =
        worker.move(false, file.handle.load(), count * kBlock, first * kBlock, 0, &way);
    if (!Worker::is_refusal(n, errno)) {
      EXPECT_EQ(static_cast<ssize_t>(count * kBlock), n) << "way " << way << ", errno " << errno;
      for (size_t block = first; block < first + count; ++block) {
        file.written[block] = file.announced[block].load();
      }
      ++writes_[way];
    }
    file.has_writer.clear();
  }

  void work(size_t index) {
    Worker worker(files_, index);
    while (!stop_) {
      const size_t choice = worker.below(10);
      if (choice < 3) {
        worker.change_something();
      } else if (choice < 7) {
        read(worker);
      } else {
        write(worker);
      }
    }
    (void)hipFileBufDeregister(worker.buffer().data()).err;
  }
};

std::chrono::seconds duration() {
  const char* text = std::getenv("HIPFILE_TEST_SECONDS");
  return std::chrono::seconds(text != nullptr ? std::strtol(text, nullptr, 10) : 4);
}

TEST_F(Traffic, EveryReadIsOneOfTheRightAnswers) {
  std::vector<std::thread> threads;
  for (size_t at = 0; at < kThreads; ++at) threads.emplace_back([this, at] { work(at); });
  const auto end = std::chrono::steady_clock::now() + duration();
  while (!stop_ && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  close_library();
  for (size_t at = 0; at < kFiles; ++at) {
    std::vector<uint64_t> least;
    for (const auto& version : files_[at].written) least.push_back(version.load());
    expect_words(at, 0, read_file(files_[at].path), least);
  }
  for (const Way way : {kCall, kStream, kBatch}) {
    EXPECT_GT(reads_[way], 20u) << way;
    EXPECT_GT(writes_[way], 5u) << way;
    std::printf("way %d: %llu reads, %llu writes\n", way,
                static_cast<unsigned long long>(reads_[way]),
                static_cast<unsigned long long>(writes_[way]));
  }
}

}  // namespace
}  // namespace hipfile::test
