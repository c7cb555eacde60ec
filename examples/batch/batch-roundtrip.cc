// SPDX-License-Identifier: MIT
//
// batch-roundtrip READ_FILE WRITE_FILE FILE_SIZE GPUID [BATCH_SIZE]: reads a file by a batch of
// requests, then writes another by the same batch. Requests of one batch run in any order, so all
// events of the reads are fetched before the writes are submitted. READ_FILE is made here.
#include <algorithm>

#include "common.h"

using namespace example;

namespace {

// Submits the requests and fetches an event for each, as they come.
void run(hipFileBatchHandle_t batch, std::vector<hipFileIOParams_t> requests) {
  for (hipFileIOParams_t& request : requests) request.cookie = &request;  // the event's too
  const auto count = static_cast<unsigned>(requests.size());
  check(hipFileBatchIOSubmit(batch, count, requests.data(), 0), "hipFileBatchIOSubmit");
  std::vector<hipFileIOEvents_t> events(count);
  for (unsigned fetched = 0; fetched < count;) {
    unsigned room = count - fetched;  // then: how many came
    check(hipFileBatchIOGetStatus(batch, 1, &room, events.data(), nullptr),
          "hipFileBatchIOGetStatus");
    for (unsigned at = 0; at < room; ++at) {
      const auto* request = static_cast<const hipFileIOParams_t*>(events[at].cookie);
      if (events[at].status != hipFileComplete) fail("a request of the batch", "failed");
      if (events[at].ret != request->u.batch.size) fail("a request of the batch", "was short");
    }
    fetched += room;
  }
}

// The file in `count` parts of whole blocks.
std::vector<hipFileIOParams_t> split(const File& file, void* buffer, size_t size, size_t count,
                                     hipFileOpcode_t opcode) {
  const size_t part = align_up((size + count - 1) / count, kBlock);
  std::vector<hipFileIOParams_t> requests;
  for (size_t at = 0; at < size; at += part) {
    hipFileIOParams_t request = {};
    request.mode = hipFileBatch;
    request.opcode = opcode;
    request.fh = file.handle();
    request.u.batch.devPtr_base = buffer;
    request.u.batch.devPtr_offset = static_cast<int64_t>(at);
    request.u.batch.file_offset = static_cast<int64_t>(at);
    request.u.batch.size = std::min(part, size - at);
    requests.push_back(request);
  }
  return requests;
}

}  // namespace

int main(int argc, char** argv) {
  const char* arguments = "READ_FILE WRITE_FILE FILE_SIZE GPUID [BATCH_SIZE]";
  if (argc < 5 || argc > 6) return usage(argv[0], arguments);
  use_device(argv[4]);
  const size_t size = to_number(argv[3]);
  const size_t batch_size = argc > 5 ? to_number(argv[5]) : 16;
  if (size == 0 || batch_size == 0 || batch_size > 128) return usage(argv[0], arguments);
  make_pattern_file(argv[1], size);

  void* buffer = nullptr;
  hipFileBatchHandle_t batch = nullptr;
  check(hipMalloc(&buffer, size), "hipMalloc");
  check(hipFileBatchIOSetUp(&batch, static_cast<unsigned>(batch_size)), "hipFileBatchIOSetUp");
  {
    const File input(argv[1], O_RDONLY | O_DIRECT);
    const File output(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT);
    run(batch, split(input, buffer, size, batch_size, hipFileBatchRead));
    run(batch, split(output, buffer, size, batch_size, hipFileBatchWrite));
  }
  hipFileBatchIODestroy(batch);
  check(hipFree(buffer), "hipFree");
  return report(hash_file(argv[1], 0, size), hash_file(argv[2], 0, size));
}
