// SPDX-License-Identifier: MIT
//
// From a plan and an outcome to counters.
#include "io/count.h"

#include <algorithm>

#include "gpu/uuid.h"

namespace hipfile {
namespace {

using stats::Path;
using stats::Way;
using stats::Writer;
using Cell = stats::BasicCell<stats::Counter>;

Way way_of(Direction direction) {
  return direction == Direction::kRead ? stats::kRead : stats::kWrite;
}

Path path_of(const Backend* backend) {
  const bool is_fast = backend != nullptr && backend->id() == hipFileExtBackendFastpath;
  return is_fast ? stats::kFastpath : stats::kFallback;
}

// Managed memory belongs to a device too; the host backend moves it all the same.
size_t place_of(const Memory& memory) {
  const bool has_device = memory.is_device() || memory.kind == MemoryKind::kManaged;
  return has_device ? stats::place_of(memory.device) : stats::kOtherPlace;
}

bool is_alignment(hipFileExtRefusal_t refusal) {
  return refusal == hipFileExtRefusalUnalignedFileOffset ||
         refusal == hipFileExtRefusalUnalignedSize || refusal == hipFileExtRefusalUnalignedMemory;
}

// The bytes of the middle among the first `done` of a split request.
size_t middle_bytes(const Split& split, size_t done) {
  const auto head = static_cast<size_t>(split.middle_begin - split.begin);
  const auto middle = static_cast<size_t>(split.middle_end - split.middle_begin);
  return done <= head ? 0 : std::min(done - head, middle);
}

void count_bytes(const Writer& writer, const Plan& plan, const Request& request, size_t done) {
  auto& paths = writer->traffic[place_of(request.memory)];
  const Way way = way_of(request.direction);
  const size_t bucket = stats::bucket_of(request.asked);
  const size_t middle = plan.middle == nullptr ? 0 : middle_bytes(plan.split, done);
  if (middle != 0) writer.add(paths[path_of(plan.middle)][way][bucket].bytes, middle);
  writer.add(paths[path_of(plan.whole)][way][bucket].bytes, done - middle);
}

void count_refusal(const Writer& writer, const Plan& plan, const Request& request, Path path) {
  const hipFileExtRefusal_t refusal = plan.refusals[hipFileExtBackendFastpath];
  if (refusal == hipFileExtRefusalNone || !request.memory.is_device()) return;
  writer.add(writer->sums[stats::kFastpathRejections], 1);
  if (!is_alignment(refusal)) return;
  const stats::PlaceSum sum = stats::unaligned(path, way_of(request.direction));
  writer.add(writer->place_sums[place_of(request.memory)][sum], 1);
}

}  // namespace

void count_request(Statistics& statistics, const Plan& plan, const Request& request,
                   const Outcome& outcome, uint64_t begun_ns) {
  const Writer writer = statistics.mine();
  if (!writer || begun_ns == 0) return;
  const size_t place = place_of(request.memory);
  const Way way = way_of(request.direction);
  const Path path = path_of(plan.middle != nullptr ? plan.middle : plan.whole);
  Cell& cell = writer->traffic[place][path][way][stats::bucket_of(request.asked)];
  const uint64_t now = monotonic_ns();
  writer.use_place(place);
  writer.widen(writer->spans[place][way], begun_ns, now);
  count_refusal(writer, plan, request, path);
  if (outcome.failed() && outcome.done == 0) {
    writer.add(cell.err, 1);
    return;
  }
  writer.add(cell.ok, 1);
  writer.add(cell.ns, now - begun_ns);
  count_bytes(writer, plan, request, outcome.done);
}

void count_without_backend(Statistics& statistics, Direction direction, bool is_ok) {
  const bool is_read = direction == Direction::kRead;
  statistics.count(is_read ? stats::kReadWithoutBackend : stats::kWriteWithoutBackend, is_ok);
}

void count_registered(Statistics& statistics, const Memory& memory, bool is_ok) {
  const size_t place = place_of(memory);
  statistics.add(place, is_ok ? stats::kBuffersRegistered : stats::kBuffersRefused, 1);
  if (is_ok) statistics.add(place, stats::kRegisteredBytes, memory.length);
}

void count_released(Statistics& statistics, const Memory& memory) {
  const size_t place = place_of(memory);
  statistics.add(place, stats::kBuffersReleased, 1);
  statistics.add(place, stats::kRegisteredBytes, uint64_t{0} - memory.length);
}

void note_device(Statistics& statistics, const Memory& memory) {
  if (place_of(memory) == stats::kOtherPlace || statistics.knows_device(memory.device)) return;
  char uuid[stats::kUuidBytes] = {};
  gpu::read_uuid(memory.runtime, memory.device, &uuid);
  statistics.set_device(memory.device, uuid);
}

void count_batch_submit(Statistics& statistics, bool is_ok, uint64_t begun_ns) {
  const Writer writer = statistics.mine();
  if (!writer || begun_ns == 0) return;
  const uint64_t now = monotonic_ns();
  writer.add(is_ok ? writer->ops[stats::kBatchSubmit].ok : writer->ops[stats::kBatchSubmit].err, 1);
  if (!is_ok) return;
  writer.add(writer->sums[stats::kBatchSubmitNs], now - begun_ns);
  writer.widen(writer->batch_span, begun_ns, now);
}

void count_batch_completion(Statistics& statistics, bool is_ok, uint64_t begun_ns,
                            uint64_t read_bytes, uint64_t write_bytes) {
  const Writer writer = statistics.mine();
  if (!writer || begun_ns == 0) return;
  const uint64_t now = monotonic_ns();
  auto& outcomes = writer->ops[stats::kBatchComplete];
  writer.add(is_ok ? outcomes.ok : outcomes.err, 1);
  writer.add(writer->sums[stats::kBatchReadBytes], read_bytes);
  writer.add(writer->sums[stats::kBatchWriteBytes], write_bytes);
  writer.add(writer->sums[stats::kBatchCompletionNs], now - begun_ns);
  writer.widen(writer->batch_span, begun_ns, now);
  writer->last_batch.read_bytes.store(read_bytes, std::memory_order_relaxed);
  writer->last_batch.write_bytes.store(write_bytes, std::memory_order_relaxed);
  writer->last_batch.at_ns.store(now, std::memory_order_relaxed);
}

}  // namespace hipfile
