// SPDX-License-Identifier: MIT
// One batch, its requests and its events.
#pragma once

#include <ctime>
#include <map>

#include "api_fixture.h"

namespace hipfile::test {

class BatchTest : public ApiTest {
 protected:
  void set_up(unsigned capacity) {
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch_, capacity));
  }
  void TearDown() override {
    hipFileBatchIODestroy(batch_);
    ApiTest::TearDown();
  }
  static hipFileIOParams_t request(hipFileOpcode_t opcode, hipFileHandle_t file, void* base,
                                   size_t size, hoff_t file_offset = 0, hoff_t buffer_offset = 0,
                                   uintptr_t cookie = 1) {
    hipFileIOParams_t params = {};
    params.mode = hipFileBatch;
    params.u.batch.devPtr_base = base;
    params.u.batch.file_offset = file_offset;
    params.u.batch.devPtr_offset = buffer_offset;
    params.u.batch.size = size;
    params.fh = file;
    params.opcode = opcode;
    params.cookie = reinterpret_cast<void*>(cookie);
    return params;
  }
  // Reads of the file's beginning into slices of the buffer, cookies from 1.
  static std::vector<hipFileIOParams_t> slices(hipFileHandle_t file, const Buffer& buffer,
                                               size_t count) {
    const size_t size = buffer.size() / count;
    std::vector<hipFileIOParams_t> reads;
    for (uintptr_t at = 0; at < count; ++at) {
      reads.push_back(
          request(hipFileBatchRead, file, buffer.data(), size, 0, hoff_t(at * size), at + 1));
    }
    return reads;
  }
  hipFileError_t submit(std::vector<hipFileIOParams_t> params) {
    return hipFileBatchIOSubmit(batch_, static_cast<unsigned>(params.size()), params.data(), 0);
  }
  // Events by cookie; each must come once.
  std::map<uintptr_t, hipFileIOEvents_t> collect(unsigned least, unsigned most,
                                                 timespec* timeout = nullptr) {
    std::vector<hipFileIOEvents_t> events(most);
    unsigned count = most;
    EXPECT_CODE(hipFileSuccess,
                hipFileBatchIOGetStatus(batch_, least, &count, events.data(), timeout));
    std::map<uintptr_t, hipFileIOEvents_t> by_cookie;
    for (unsigned at = 0; at < count; ++at) {
      by_cookie[reinterpret_cast<uintptr_t>(events[at].cookie)] = events[at];
    }
    EXPECT_EQ(count, by_cookie.size());
    return by_cookie;
  }

  hipFileBatchHandle_t batch_ = nullptr;
};

}  // namespace hipfile::test
