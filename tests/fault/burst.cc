// SPDX-License-Identifier: MIT
#include "burst.h"

#include <algorithm>
#include <atomic>

namespace hipfile::test {
namespace {

constexpr size_t kMostOperations = 5;  // of a stream
constexpr size_t kMostLanes = 3;

bool has_device(const ModelMemory& memory) {
  return memory.buffer->kind() == MemoryKind::kDevice ||
         memory.buffer->kind() == MemoryKind::kManaged;
}

// The bytes behind the pointer that is given, as far as the library knows them.
size_t room_of(const ModelMemory& memory, const Range& range) {
  const bool is_registered_base = range.base_offset == 0 && memory.registered != 0;
  return (is_registered_base ? memory.registered : memory.bytes.size()) - range.base_offset;
}

// Of plain memory the library knows no end.
bool is_bounded(const ModelMemory& memory, const Range& range) {
  return (range.base_offset == 0 && memory.registered != 0) ||
         memory.buffer->kind() == MemoryKind::kDevice;
}

template <typename Thing>
std::vector<Thing*> shuffled(std::vector<Thing>& things, Random& random) {
  std::vector<Thing*> order;
  for (Thing& thing : things) order.push_back(&thing);
  for (size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  return order;
}

}  // namespace

// An operation of no bytes is none.
bool Burst::is_busy(const Lane& lane) {
  return std::any_of(lane.operations.begin(), lane.operations.end(),
                     [](const auto& operation) { return operation->range.size != 0; });
}

size_t Burst::run() {
  choose_lanes();
  if (lanes_.empty() && batch_lanes_.empty()) return 0;
  will_close_ = !lanes_.empty() && batch_lanes_.empty() && random_.one_in(8);
  for (Lane& lane : lanes_) {
    if (will_close_ || !random_.one_in(3)) stand_still(lane);
    queue_all(lane);
  }
  if (!batch_lanes_.empty()) set_up_batch();
  for (Lane& lane : lanes_) disturb(lane);
  if (will_close_ && has_queued()) close_all();
  for (Lane& lane : lanes_) let_go(lane);
  for (Lane& lane : lanes_) judge(lane);
  if (!batch_lanes_.empty()) fetch_all();
  for (Lane& lane : batch_lanes_) judge(lane);
  return operations_;
}

// Files and memories are dealt out, so that none has two owners.
void Burst::choose_lanes() {
  const std::vector<ModelStream*> streams = shuffled(world_.streams, random_);
  const std::vector<ModelMemory*> memories = shuffled(world_.memories, random_);
  const size_t wanted = 1 + random_.below(kMostLanes);
  size_t at = 0;
  for (ModelFile* file : shuffled(world_.files, random_)) {
    if (file->handle == nullptr || at == memories.size()) continue;
    Lane lane;
    lane.file = file;
    lane.memory = memories[at];
    const bool is_of_batch = random_.one_in(3);
    if (!is_of_batch && lanes_.size() < wanted) {
      ModelStream* stream = streams[at % streams.size()];
      if (has_device(*lane.memory) && stream->device != lane.memory->device) continue;
      lane.stream = stream;
      lanes_.push_back(std::move(lane));
    } else if (is_of_batch && batch_lanes_.size() < 2) {
      batch_lanes_.push_back(std::move(lane));
    }
    ++at;
  }
}

// --- streams ---

void Burst::stand_still(Lane& lane) {
  lane.is_standing = true;
  ModelStream& stream = *lane.stream;
  if (hipStreamWaitValue32(stream.stream, stream.word, stream.released + 1, hipStreamWaitValueGte,
                           UINT32_MAX) != hipSuccess) {
    journal_.fail("the stream cannot wait");
  }
}

void Burst::let_go(Lane& lane) {
  if (lane.is_standing) std::atomic_ref(*lane.stream->word).store(++lane.stream->released);
  if (hipStreamSynchronize(lane.stream->stream) != hipSuccess) {
    journal_.fail("the stream is in error");
  }
}

void Burst::queue_all(Lane& lane) {
  const size_t count = 1 + random_.below(kMostOperations);
  for (size_t at = 0; at < count && !journal_.has_failed(); ++at) {
    auto operation = std::make_unique<Operation>();
    operation->is_read = random_.one_in(2);
    operation->range = some_range(random_, *lane.file, *lane.memory);
    // What a short read leaves behind its count is not known: nothing may follow it.
    const size_t file_size = lane.file->bytes.size();
    Range& range = operation->range;
    if (operation->is_read && at + 1 != count) {
      range.file_offset = std::min(range.file_offset, file_size);
      range.size = std::min(range.size, file_size - range.file_offset);
    }
    queue(lane, *operation);
    lane.operations.push_back(std::move(operation));
    ++operations_;
  }
}

void Burst::queue(Lane& lane, Operation& operation) {
  const Range& range = operation.range;
  operation.size = range.size;
  operation.file_offset = static_cast<hoff_t>(range.file_offset);
  operation.buffer_offset = static_cast<hoff_t>(range.buffer_offset);
  journal_.note(
      "%s in stream %td%s, file %td, memory %td (%s, %zu registered): %zu at %zu, %zu+%zu",
      operation.is_read ? "read" : "write", lane.stream - world_.streams.data(),
      lane.is_standing ? " (stands)" : "", lane.file - world_.files.data(),
      lane.memory - world_.memories.data(), memory_kind_name(lane.memory->buffer->kind()),
      lane.memory->registered, range.size, range.file_offset, range.base_offset,
      range.buffer_offset);
  const auto call = operation.is_read ? &hipFileReadAsync : &hipFileWriteAsync;
  (void)hipSetDevice(lane.stream->device);
  journal_.expect_code(hipFileSuccess,
                       call(lane.file->handle, lane.memory->buffer->at(range.base_offset),
                            &operation.size, &operation.file_offset, &operation.buffer_offset,
                            &operation.bytes, lane.stream->stream));
  operation.late = range;
  if (lane.is_standing && range.size != 0 && random_.one_in(2)) change_late(lane, operation);
  set_wanted(lane, operation);
}

// Smaller, elsewhere, or wrong. What a flag fixes may change as it likes.
void Burst::change_late(const Lane& lane, Operation& operation) {
  const unsigned flags = lane.stream->flags;
  const size_t file_size = lane.file->bytes.size();
  const size_t room = room_of(*lane.memory, operation.range);
  size_t size = random_.below(operation.range.size + 1);
  size_t file_offset = random_.below(file_size + 1);
  size_t buffer_offset = random_.below(room - operation.range.size + 1);
  if (random_.one_in(8)) size = operation.range.size + 1;
  if (random_.one_in(8) && is_bounded(*lane.memory, operation.range)) buffer_offset = room + 1;
  Range late = operation.range;
  if ((flags & HIPFILE_STREAM_FIXED_FILE_SIZE) == 0) late.size = size;
  if ((flags & HIPFILE_STREAM_FIXED_FILE_OFFSET) == 0) late.file_offset = file_offset;
  if ((flags & HIPFILE_STREAM_FIXED_BUF_OFFSET) == 0) late.buffer_offset = buffer_offset;
  // No read becomes a short one by it.
  if (operation.is_read && late.file_offset + late.size > file_size) return;
  operation.late = late;
  operation.size = size;
  operation.file_offset = static_cast<hoff_t>(file_offset);
  operation.buffer_offset = static_cast<hoff_t>(buffer_offset);
  journal_.note("... becomes %zu at %zu, %zu (flags %x)", size, file_offset, buffer_offset, flags);
}

void Burst::set_wanted(const Lane& lane, Operation& operation) {
  const Range& late = operation.late;
  if (operation.range.size == 0) {
    operation.wanted = 0;
  } else if (will_close_) {
    operation.wanted = negated(hipFileDriverClosing);
  } else if (late.size > operation.range.size ||
             late.buffer_offset + late.size > room_of(*lane.memory, late)) {
    operation.wanted = negated(hipFileInvalidValue);
  } else if (operation.is_read) {
    operation.wanted = static_cast<ssize_t>(model_read(*lane.file, *lane.memory, late));
  } else {
    model_write(*lane.file, *lane.memory, late);
    operation.wanted = static_cast<ssize_t>(late.size);
  }
}

// Without an operation in a stream the library gives memory back, which waits for every stream.
bool Burst::has_queued() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return is_busy(lane); });
}

// What a program does while operations are queued.
void Burst::disturb(Lane& lane) {
  const bool is_queued =
      lane.is_standing && std::any_of(lane.operations.begin(), lane.operations.end(),
                                      [](const auto& one) { return one->range.size != 0; });
  if (is_queued && lane.memory->registered != 0 && random_.one_in(3)) {
    const bool holds = std::any_of(
        lane.operations.begin(), lane.operations.end(),
        [](const auto& one) { return one->range.size != 0 && one->range.base_offset == 0; });
    if (holds) {
      journal_.note("deregister a memory in use");
      journal_.expect_code(hipFileInternalError, hipFileBufDeregister(lane.memory->buffer->data()));
    }
  }
  if (random_.one_in(4)) {
    journal_.note("deregister file %td in use", lane.file - world_.files.data());
    hipFileHandleDeregister(lane.file->handle);
    world_.note_deregistered(*lane.file);
    Operation stale;
    stale.size = 1;
    journal_.expect_code(
        hipFileHandleNotRegistered,
        hipFileReadAsync(world_.stale, lane.memory->buffer->data(), &stale.size, &stale.file_offset,
                         &stale.buffer_offset, &stale.bytes, lane.stream->stream));
  }
}

void Burst::close_all() {
  journal_.note("close while %zu streams stand still", lanes_.size());
  for (; world_.use_count != 0; --world_.use_count) {
    journal_.expect_code(hipFileSuccess, hipFileDriverClose());
  }
  world_.note_closed();
}

void Burst::judge(Lane& lane) {
  for (const auto& operation : lane.operations) {
    journal_.expect(operation->wanted, operation->bytes);
    if (operation->is_read && operation->bytes > 0) {
      accept_rest(*lane.memory, operation->late, static_cast<size_t>(operation->bytes));
    }
  }
  journal_.check(difference(*lane.memory), "a memory after a burst");
  journal_.check(difference(*lane.file), "a file after a burst");
}

}  // namespace hipfile::test
