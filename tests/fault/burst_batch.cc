// SPDX-License-Identifier: MIT
// The batch of a burst. Its requests run in any order, so file and memory of a lane are cut into
// slices, one of each for a request.
#include <algorithm>
#include <set>

#include "burst.h"

namespace hipfile::test {
namespace {

constexpr size_t kMostRequests = 6;  // of a lane

// `count` + 1 borders from 0 to `end`, in order.
std::vector<size_t> borders(Random& random, size_t end, size_t count) {
  const size_t unit = random.one_in(2) ? 4096 : 1;
  std::vector<size_t> places = {0, end};
  for (size_t at = 1; at < count; ++at) places.push_back(random.below(end + 1) / unit * unit);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

void Burst::set_up_batch() {
  for (Lane& lane : batch_lanes_) cut_requests(lane);
  capacity_ = static_cast<unsigned>(requests_.size() + random_.below(4));
  journal_.note("a batch of %u, %zu requests", capacity_, requests_.size());
  journal_.expect_code(hipFileSuccess, hipFileBatchIOSetUp(&batch_, capacity_));
  if (random_.one_in(4)) submit_wrongly();
  submit();
}

void Burst::cut_requests(Lane& lane) {
  const size_t count = 1 + random_.below(kMostRequests);
  const ModelMemory& memory = *lane.memory;
  const size_t room = memory.registered != 0 ? memory.registered : memory.bytes.size();
  const std::vector<size_t> of_file = borders(random_, lane.file->bytes.size(), count);
  const std::vector<size_t> of_memory = borders(random_, room, count);
  for (size_t at = 0; at < count; ++at) {
    Request request;
    request.lane = &lane;
    request.is_read = random_.one_in(2);
    request.range.file_offset = of_file[at];
    request.range.buffer_offset = std::min(of_memory[at], room - 1);  // of no bytes at the end
    request.range.size = std::min(of_file[at + 1] - of_file[at], of_memory[at + 1] - of_memory[at]);
    requests_.push_back(request);
  }
  operations_ += count;
}

hipFileIOParams_t Burst::params_of(size_t at) const {
  const Request& request = requests_[at];
  hipFileIOParams_t params = {};
  params.mode = hipFileBatch;
  params.opcode = request.is_read ? hipFileBatchRead : hipFileBatchWrite;
  params.fh = request.lane->file->handle;
  params.cookie = reinterpret_cast<void*>(at);
  params.u.batch.devPtr_base = request.lane->memory->buffer->data();
  params.u.batch.devPtr_offset = static_cast<int64_t>(request.range.buffer_offset);
  params.u.batch.file_offset = static_cast<int64_t>(request.range.file_offset);
  params.u.batch.size = request.range.size;
  return params;
}

void Burst::submit() {
  std::vector<hipFileIOParams_t> params;
  for (size_t at = 0; at < requests_.size(); ++at) {
    params.push_back(params_of(at));
    const Request& request = requests_[at];
    journal_.note("request %zu: %s file %td, memory %td: %zu at %zu, %zu", at,
                  request.is_read ? "read" : "write", request.lane->file - world_.files.data(),
                  request.lane->memory - world_.memories.data(), request.range.size,
                  request.range.file_offset, request.range.buffer_offset);
  }
  // In two parts, at times.
  const size_t first = random_.one_in(2) ? params.size() : random_.below(params.size());
  for (const auto& [begin, end] : {std::pair(size_t{0}, first), std::pair(first, params.size())}) {
    if (begin == end) continue;
    journal_.expect_code(
        hipFileSuccess,
        hipFileBatchIOSubmit(batch_, static_cast<unsigned>(end - begin), params.data() + begin, 0));
  }
  for (Lane& lane : batch_lanes_) {
    if (!random_.one_in(5)) continue;
    journal_.note("deregister file %td of the batch", lane.file - world_.files.data());
    hipFileHandleDeregister(lane.file->handle);
    world_.note_deregistered(*lane.file);
  }
}

// One bad request, or one too many: none of them runs.
void Burst::submit_wrongly() {
  std::vector<hipFileIOParams_t> params;
  for (size_t at = 0; at < requests_.size(); ++at) params.push_back(params_of(at));
  const bool is_full = random_.one_in(2);
  if (is_full) {
    while (params.size() <= capacity_) params.push_back(params.front());
  } else {
    params[random_.below(params.size())].u.batch.file_offset = -1;
  }
  journal_.note("a batch that is %s", is_full ? "full" : "wrong");
  journal_.expect_code(
      is_full ? hipFileBatchFull : hipFileInvalidValue,
      hipFileBatchIOSubmit(batch_, static_cast<unsigned>(params.size()), params.data(), 0));
}

void Burst::fetch_all() {
  const bool is_cancelled = random_.one_in(3);
  if (is_cancelled) {
    journal_.note("cancel");
    journal_.expect_code(hipFileSuccess, hipFileBatchIOCancel(batch_));
  }
  size_t left = requests_.size();
  while (left != 0 && !journal_.has_failed()) {
    const auto most = static_cast<unsigned>(1 + random_.below(left));
    const auto least = static_cast<unsigned>(random_.below(most + 1));
    timespec time = {0, static_cast<long>(random_.below(2) * 1000000)};
    std::vector<hipFileIOEvents_t> events(most);
    unsigned count = most;
    const bool is_patient = least != 0 && random_.one_in(2);
    journal_.expect_code(hipFileSuccess,
                         hipFileBatchIOGetStatus(batch_, least, &count, events.data(),
                                                 is_patient ? nullptr : &time));
    if (count > most || (is_patient && count < least)) journal_.fail("a wrong number of events");
    for (unsigned at = 0; at < count; ++at) take_event(events[at], is_cancelled);
    left -= count;
  }
  hipFileBatchIODestroy(batch_);
  unsigned count = 1;
  hipFileIOEvents_t event = {};
  journal_.expect_code(hipFileInvalidValue,
                       hipFileBatchIOGetStatus(batch_, 0, &count, &event, nullptr));
}

void Burst::take_event(const hipFileIOEvents_t& event, bool may_be_cancelled) {
  const auto at = reinterpret_cast<uintptr_t>(event.cookie);
  if (at >= requests_.size() || requests_[at].has_ended) return journal_.fail("a wrong event");
  Request& request = requests_[at];
  request.has_ended = true;
  if (may_be_cancelled && event.status == hipFileCanceled) return journal_.expect(0, event.ret);
  if (event.status != hipFileComplete) return journal_.fail("a request has failed");
  journal_.expect(static_cast<ssize_t>(request.range.size), static_cast<ssize_t>(event.ret));
  if (request.is_read) {
    (void)model_read(*request.lane->file, *request.lane->memory, request.range);
  } else {
    model_write(*request.lane->file, *request.lane->memory, request.range);
  }
}

}  // namespace hipfile::test
