// SPDX-License-Identifier: MIT
//
// What the tests of async calls share: streams, a stream that stands still until it is let go, and
// one call with the values that it points to.
#pragma once

#include <hip/hip_portable.h>

#include <atomic>

#include "api_fixture.h"

namespace hipfile::test {

class TestStream {
 public:
  explicit TestStream(unsigned flags = hipStreamNonBlocking) {
    EXPECT_EQ(hipSuccess, hipStreamCreateWithFlags(&stream_, flags));
  }
  ~TestStream() { EXPECT_EQ(hipSuccess, hipStreamDestroy(stream_)); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator hipStream_t() const { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

// Work queued after it stands still until open() or the end of the object. By a value that the
// stream waits for: a host function that blocks would hold up those of all streams.
class Pause {
 public:
  explicit Pause(hipStream_t stream) : word_(sizeof(uint32_t), MemoryKind::kPinned) {
    std::atomic_ref<uint32_t>(*word()).store(0);
    EXPECT_EQ(hipSuccess,
              hipStreamWaitValue32(stream, word(), 1, hipStreamWaitValueGte, UINT32_MAX));
    stream_ = stream;
  }
  ~Pause() {
    open();
    EXPECT_EQ(hipSuccess, hipStreamSynchronize(stream_));
  }
  void open() { std::atomic_ref<uint32_t>(*word()).store(1); }

 private:
  uint32_t* word() const { return static_cast<uint32_t*>(word_.data()); }

  Buffer word_;
  hipStream_t stream_ = nullptr;
};

// The values of one call. They must stay until the stream got there.
struct AsyncCall {
  size_t size = 0;
  hoff_t file_offset = 0;
  hoff_t buffer_offset = 0;
  ssize_t bytes = 4711;

  hipFileError_t read(hipFileHandle_t file, const Buffer& buffer, hipStream_t stream) {
    return hipFileReadAsync(file, buffer.data(), &size, &file_offset, &buffer_offset, &bytes,
                            stream);
  }
  hipFileError_t write(hipFileHandle_t file, const Buffer& buffer, hipStream_t stream) {
    return hipFileWriteAsync(file, buffer.data(), &size, &file_offset, &buffer_offset, &bytes,
                             stream);
  }
};

// True where calls are queued; false where the runtime lacks what that needs, or a parameter
// forbids it, and they block.
inline bool calls_are_queued() {
  bool is_forbidden = false;
  (void)hipFileGetParameterBool(hipFileParamStreamMemopsBypass, &is_forbidden).err;
  if (is_forbidden) return false;
  int can_wait = 0;
  void* copy = nullptr;
  const bool has_copy =
      hipGetProcAddress("hipPortableMemcpyIndirectAsync", &copy, 0, 0, nullptr) == hipSuccess;
  if (!has_copy) (void)hipGetLastError();
  return hipDeviceGetAttribute(&can_wait, hipDeviceAttributeCanUseStreamWaitValue, 0) ==
             hipSuccess &&
         can_wait != 0 && has_copy && copy != nullptr &&
         hipPortableIndirectCopyStatus(0) == hipSuccess;
}

inline void synchronize(hipStream_t stream) { EXPECT_EQ(hipSuccess, hipStreamSynchronize(stream)); }

}  // namespace hipfile::test
