// SPDX-License-Identifier: MIT
#include "trial_way.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <set>

#include "api/return_code.h"
#include "pattern.h"

namespace hipfile::test {
namespace {

constexpr uintptr_t kParts = 4;  // of a batch
constexpr size_t kBlock = 4096;
constexpr ssize_t kUntouched = -4711;  // a count that nobody stored

ssize_t negated(const Status& status) {
  return -static_cast<ssize_t>(static_cast<int>(to_error(status).err));
}

Direction direction_of(const Trial& trial) {
  return trial.operation == Operation::kRead ? Direction::kRead : Direction::kWrite;
}

size_t count_of(ssize_t result) { return result > 0 ? static_cast<size_t>(result) : 0; }

// --- one call ---

Moved by_call(Driver& driver, hipFileHandle_t file, const Trial& trial, const Buffer& buffer) {
  const Arguments arguments = {buffer.data(), trial.size, trial.offset,
                               static_cast<off_t>(trial.shift), direction_of(trial)};
  errno = 0;
  Moved moved;
  moved.result = to_count(driver.transfer(file, arguments));
  moved.parts = {{0, trial.size, count_of(moved.result)}};
  return moved;
}

// --- in a stream ---

struct Values {
  size_t size;
  off_t file_offset, buffer_offset;
  ssize_t bytes = kUntouched;
};

hipError_t reach_end(hipStream_t stream) {
  hip_fault_spare_thread(true);
  const hipError_t error = hipStreamSynchronize(stream);
  hip_fault_spare_thread(false);
  return error;
}

// The values of a call that failed are nobody's any more: they are gone before the stream gets on.
Moved in_stream(Driver& driver, hipFileHandle_t file, const Trial& trial, const Buffer& buffer,
                hipStream_t stream) {
  auto values = std::make_unique<Values>(
      Values{trial.size, trial.offset, static_cast<off_t>(trial.shift), kUntouched});
  const Status queued = driver.transfer_async(
      file,
      {buffer.data(), &values->size, &values->file_offset, &values->buffer_offset, &values->bytes,
       direction_of(trial), &to_count},
      stream);
  Moved moved;
  if (!queued.ok()) {
    moved.result = negated(queued);
    if (values->bytes > 0) moved.complaint = "a call that failed stored a count";
    values.reset();
  }
  if (reach_end(stream) != hipSuccess) moved.complaint = "the stream has an error";
  if (values) moved.result = values->bytes;
  moved.parts = {{0, trial.size, count_of(moved.result)}};
  return moved;
}

// --- in a batch ---

std::vector<Part> parts_of(const Trial& trial) {
  std::vector<Part> parts;
  const size_t size = trial.size / kParts / kBlock * kBlock;
  for (size_t at = 0; at < kParts; ++at) {
    const bool is_last = at + 1 == kParts;
    parts.push_back({at * size, is_last ? trial.size - at * size : size, 0});
  }
  return parts;
}

std::vector<hipFileIOParams_t> requests_of(const Trial& trial, hipFileHandle_t file,
                                           const Buffer& buffer, const std::vector<Part>& parts) {
  std::vector<hipFileIOParams_t> requests;
  for (const Part& part : parts) {
    hipFileIOParams_t request = {};
    request.mode = hipFileBatch;
    request.opcode = trial.operation == Operation::kRead ? hipFileBatchRead : hipFileBatchWrite;
    request.fh = file;
    request.u.batch.devPtr_base = buffer.data();
    request.u.batch.devPtr_offset = static_cast<int64_t>(trial.shift + part.at);
    request.u.batch.file_offset = trial.offset + static_cast<int64_t>(part.at);
    request.u.batch.size = part.size;
    request.cookie = reinterpret_cast<void*>(requests.size());
    requests.push_back(request);
  }
  return requests;
}

void take_event(const BatchEvent& event, Moved& moved) {
  Part& part = moved.parts[reinterpret_cast<uintptr_t>(event.cookie) % kParts];
  const ssize_t count = to_count(event.result);
  part.moved = count_of(count);
  if (event.status == hipFileCanceled) {
    moved.is_cancelled = true;
    if (count != 0) moved.complaint = "a cancelled request has a count";
  } else if ((event.status == hipFileComplete) != (count >= 0)) {
    moved.complaint = "status and count do not fit";
  }
  if (moved.result >= 0) moved.result = count < 0 ? count : moved.result + count;
}

Moved in_batch(Driver& driver, hipFileHandle_t file, const Trial& trial, const Buffer& buffer) {
  Moved moved;
  moved.parts = parts_of(trial);
  const std::vector<hipFileIOParams_t> requests = requests_of(trial, file, buffer, moved.parts);
  uint64_t batch = 0;
  Status status = driver.set_up_batch(kParts, &batch);
  if (status.ok()) status = driver.submit_batch(batch, requests.data(), kParts);
  if (!status.ok()) {
    moved.result = negated(status);
    driver.destroy_batch(batch);
    return moved;
  }
  if (trial.way == Way::kCancelledBatch && !driver.cancel_batch(batch).ok()) {
    moved.complaint = "cancelling fails";
  }
  const auto events =
      driver.fetch_events(batch, kParts, kParts, Batch::Clock::now() + std::chrono::seconds(30));
  driver.destroy_batch(batch);
  std::set<void*> cookies;
  for (const BatchEvent& event : events.ok() ? events.value() : std::vector<BatchEvent>()) {
    cookies.insert(event.cookie);
    take_event(event, moved);
  }
  if (cookies.size() != kParts) moved.complaint = "events are missing";
  return moved;
}

// Which bytes of the request are counted.
std::vector<bool> counted(const Trial& trial, const std::vector<Part>& parts) {
  std::vector<bool> is_counted(trial.size, false);
  for (const Part& part : parts) {
    std::fill_n(is_counted.begin() + static_cast<ptrdiff_t>(part.at), part.moved, true);
  }
  return is_counted;
}

std::string wrong_byte(const char* where, size_t at, uint8_t byte, bool is_counted) {
  char text[100];
  std::snprintf(text, sizeof text, "byte %zu of the %s is 0x%02x and %s", at, where, byte,
                is_counted ? "is counted" : "not asked for");
  return text;
}

}  // namespace

Moved move_bytes(Driver& driver, hipFileHandle_t file, const Trial& trial, const Buffer& buffer,
                 hipStream_t stream) {
  if (trial.way == Way::kCall) return by_call(driver, file, trial, buffer);
  if (trial.way == Way::kStream) return in_stream(driver, file, trial, buffer, stream);
  return in_batch(driver, file, trial, buffer);
}

std::string fault_of_memory(const Trial& trial, const std::vector<Part>& parts,
                            const std::vector<uint8_t>& bytes) {
  const std::vector<uint8_t> file =
      make_pattern(trial.size, kFileSeed, static_cast<uint64_t>(trial.offset));
  const std::vector<bool> is_counted = counted(trial, parts);
  for (size_t at = 0; at < bytes.size(); ++at) {
    const bool is_inside = at >= trial.shift && at < trial.shift + trial.size;
    const bool is_old = bytes[at] == kFilling;
    const bool is_new = is_inside && bytes[at] == file[at - trial.shift];
    const bool must_be_new = is_inside && is_counted[at - trial.shift];
    if (must_be_new ? !is_new : !is_old && !is_new) {
      return wrong_byte("memory", at, bytes[at], must_be_new);
    }
  }
  return {};
}

std::string fault_of_file(const Trial& trial, const std::vector<Part>& parts,
                          const std::vector<uint8_t>& bytes) {
  const std::vector<uint8_t> old = make_pattern(file_size_of(trial), kFileSeed);
  const std::vector<uint8_t> memory = make_pattern(trial.size, kMemorySeed, trial.shift);
  const std::vector<bool> is_counted = counted(trial, parts);
  const auto begin = static_cast<size_t>(trial.offset);
  const auto last = std::find(is_counted.rbegin(), is_counted.rend(), true);
  const size_t counted_end = begin + static_cast<size_t>(is_counted.rend() - last);
  const size_t least = std::max(old.size(), last == is_counted.rend() ? 0 : counted_end);
  if (bytes.size() < least || bytes.size() > std::max(old.size(), begin + trial.size)) {
    return "the file has " + std::to_string(bytes.size()) + " bytes";
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    const bool is_inside = at >= begin && at < begin + trial.size;
    const bool is_old = bytes[at] == (at < old.size() ? old[at] : 0);
    const bool is_new = is_inside && bytes[at] == memory[at - begin];
    const bool must_be_new = is_inside && is_counted[at - begin];
    if (must_be_new ? !is_new : !is_old && !is_new) {
      return wrong_byte("file", at, bytes[at], must_be_new);
    }
  }
  return {};
}

}  // namespace hipfile::test
