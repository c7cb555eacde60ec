// SPDX-License-Identifier: MIT
#include "in_flight.h"

#include <cstdio>
#include <cstdlib>
#include <deque>

namespace hipfile::test {
namespace {

void need(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::abort();
}

hipFileHandle_t handle_of(int fd) {
  hipFileDescr_t descr = describe(fd);
  hipFileHandle_t handle = nullptr;
  need(hipFileHandleRegister(&handle, &descr).err == hipFileSuccess, "hipFileHandleRegister");
  return handle;
}

hipFileIOParams_t read_of(hipFileHandle_t file, void* base, hoff_t file_offset, hoff_t in) {
  hipFileIOParams_t params = {};
  params.mode = hipFileBatch;
  params.opcode = hipFileBatchRead;
  params.fh = file;
  params.u.batch.devPtr_base = base;
  params.u.batch.size = InFlight::kSize;
  params.u.batch.file_offset = file_offset;
  params.u.batch.devPtr_offset = in;
  return params;
}

bool is_right_or_closing(hipFileError_t error) {
  return error.err == hipFileSuccess || error.err == hipFileDriverClosing;
}

// A batch of one request, from its set-up to its end.
std::string run_batch(hipFileHandle_t file, const Buffer& buffer) {
  hipFileBatchHandle_t batch = nullptr;
  if (hipFileBatchIOSetUp(&batch, 1).err != hipFileSuccess) return "set-up";
  hipFileIOParams_t params = read_of(file, buffer.data(), 0, 0);
  const hipFileError_t submitted = hipFileBatchIOSubmit(batch, 1, &params, 0);
  std::string wrong = is_right_or_closing(submitted) ? "" : "submission";
  if (submitted.err == hipFileSuccess) {
    hipFileIOEvents_t event = {};
    unsigned count = 1;
    timespec timeout = {60, 0};
    const hipFileError_t fetched = hipFileBatchIOGetStatus(batch, 1, &count, &event, &timeout);
    const bool is_complete = fetched.err == hipFileSuccess && count == 1 &&
                             event.status == hipFileComplete && event.ret == InFlight::kSize;
    if (!is_complete) wrong = "event";
  }
  hipFileBatchIODestroy(batch);
  return wrong;
}

}  // namespace

InFlight::InFlight(const std::string& path, unsigned parts)
    : parts_(parts),
      fd_(path, O_RDWR | O_CLOEXEC),
      file_(handle_of(fd_.get())),
      buffer_((parts & kLong) != 0 ? kLongSize : 3 * kCount * kSize) {
  need(hipStreamCreateWithFlags(&paused_, hipStreamNonBlocking) == hipSuccess, "a stream");
  need(hipStreamCreateWithFlags(&running_, hipStreamNonBlocking) == hipSuccess, "a stream");
  buffer_.fill(0);
  if ((parts & kPaused) != 0) {
    auto* word = static_cast<uint32_t*>(word_.data());
    std::atomic_ref<uint32_t>(*word).store(0);
    need(hipStreamWaitValue32(paused_, word, 1, hipStreamWaitValueGte, UINT32_MAX) == hipSuccess,
         "hipStreamWaitValue32");
    queue(behind_, paused_, 0);
  }
  if ((parts & kRunning) != 0) queue(ahead_, running_, 1);
  if ((parts & kBatch) != 0) submit();
  if ((parts & kLong) != 0) {
    need(long_.read(file_, buffer_, running_).err == hipFileSuccess, "hipFileReadAsync");
  }
}

void InFlight::queue(Requests& requests, hipStream_t stream, size_t part) {
  for (size_t at = 0; at < kCount; ++at) {
    AsyncCall& call = requests.calls[at];
    call = {kSize, hoff_t(at * kSize), hoff_t((part * kCount + at) * kSize)};
    need(call.read(file_, buffer_, stream).err == hipFileSuccess, "hipFileReadAsync");
  }
}

void InFlight::submit() {
  std::vector<hipFileIOParams_t> reads;
  for (size_t at = 0; at < kCount; ++at) {
    reads.push_back(
        read_of(file_, buffer_.data(), hoff_t(at * kSize), hoff_t((2 * kCount + at) * kSize)));
  }
  need(hipFileBatchIOSetUp(&batch_, kCount).err == hipFileSuccess, "hipFileBatchIOSetUp");
  need(hipFileBatchIOSubmit(batch_, kCount, reads.data(), 0).err == hipFileSuccess,
       "hipFileBatchIOSubmit");
}

std::string InFlight::fetch() {
  hipFileIOEvents_t events[kCount] = {};
  unsigned count = kCount;
  if (hipFileBatchIOGetStatus(batch_, kCount, &count, events, nullptr).err != hipFileSuccess ||
      count != kCount) {
    return "the batch has no events";
  }
  for (const hipFileIOEvents_t& event : events) {
    if (event.status != hipFileComplete || event.ret != kSize) return "an event of the batch";
  }
  hipFileBatchIODestroy(batch_);
  return "";
}

std::string InFlight::finish() {
  std::atomic_ref<uint32_t>(*static_cast<uint32_t*>(word_.data())).store(1);
  for (const hipStream_t stream : {paused_, running_}) {
    if (hipStreamSynchronize(stream) != hipSuccess) return "hipStreamSynchronize";
  }
  if (const std::string wrong = batch_ != nullptr ? fetch() : ""; !wrong.empty()) return wrong;
  for (size_t part = 0; part < 3; ++part) {
    if ((parts_ & (1u << part)) == 0) continue;
    const std::vector<uint8_t> bytes = buffer_.get(part * kCount * kSize, kCount * kSize);
    const std::string difference = first_difference(bytes, make_pattern(kCount * kSize, 1));
    if (!difference.empty()) return "part " + std::to_string(part) + ": " + difference;
  }
  for (size_t at = 0; at < kCount; ++at) {
    const bool is_short = ((parts_ & kPaused) != 0 && behind_.calls[at].bytes != ssize_t(kSize)) ||
                          ((parts_ & kRunning) != 0 && ahead_.calls[at].bytes != ssize_t(kSize));
    if (is_short) return "a byte count";
  }
  hipFileHandleDeregister(file_);
  return "";
}

std::string call_at_exit(const std::string& path, InFlight& flight) {
  const Fd fd(path, O_RDWR | O_CLOEXEC);
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t file = nullptr;
  const hipFileError_t registered = hipFileHandleRegister(&file, &descr);
  if (registered.err == hipFileDriverClosing) return "";
  if (registered.err != hipFileSuccess) return "registration";
  static std::deque<AsyncCall>& calls = *new std::deque<AsyncCall>;
  AsyncCall& behind = calls.emplace_back();  // its stream may get there later
  behind = {InFlight::kSize};
  AsyncCall ahead{InFlight::kSize};
  if (!is_right_or_closing(behind.read(file, flight.buffer(), flight.paused()))) return "paused";
  const hipFileError_t queued = ahead.read(file, flight.buffer(), flight.running());
  if (!is_right_or_closing(queued)) return "running";
  const bool is_over = hipStreamSynchronize(flight.running()) == hipSuccess;
  if (queued.err == hipFileSuccess && is_over && ahead.bytes != ssize_t(InFlight::kSize)) {
    return "byte count " + std::to_string(ahead.bytes);
  }
  if (const std::string wrong = run_batch(file, flight.buffer()); !wrong.empty()) return wrong;
  return is_right_or_closing(hipFileDriverClose()) ? "" : "close";
}

}  // namespace hipfile::test
