// SPDX-License-Identifier: MIT
//
// The kernel's side of the direct path answers an errno, and an operation in a stream meets it
// (specification 4.3 and 12.3 "Failover"): ENODEV and its like lead through host memory, others are
// the end of the operation.
#include "async_fixture.h"
#include "faulty_runtime.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kSize = 1 << 20;

class FailoverTest : public ApiTest, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    hip_fault_file_status(GetParam());
  }
  void TearDown() override {
    hip_fault_file_status(0);
    ApiTest::TearDown();
  }
  // Without O_DIRECT there is no direct path that could fail.
  bool is_direct() const { return !is_on_nvidia() && direct_flag_of(dir_.path()) != 0; }

  TestStream stream_;
};

class EligibleFaultTest : public FailoverTest {};
class IneligibleFaultTest : public FailoverTest {};

TEST_P(EligibleFaultTest, LeadsThroughHostMemory) {
  RegisteredFile f(file("f"), kSize, 1, O_RDWR | direct_flag_of(dir_.path()));
  RegisteredFile g(file("g"), 0, 0, O_RDWR | direct_flag_of(dir_.path()));
  Buffer buffer(kSize);
  AsyncCall read{kSize}, write{kSize};
  EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
  EXPECT_CODE(hipFileSuccess, write.write(g.handle(), buffer, stream_));
  synchronize(stream_);
  EXPECT_EQ(ssize_t(kSize), read.bytes);
  EXPECT_EQ(ssize_t(kSize), write.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(kSize, 1)));
  EXPECT_EQ("", first_difference(read_file(g.path()), make_pattern(kSize, 1)));
  EXPECT_EQ(is_direct(), hip_fault_file_calls() != 0);
}

TEST_P(IneligibleFaultTest, IsTheEndAndTouchesNothing) {
  if (!is_direct()) GTEST_SKIP() << "no direct path here";
  RegisteredFile f(file("f"), kSize, 1, O_RDWR | O_DIRECT);
  Buffer buffer(kSize);
  buffer.fill(0xee);
  AsyncCall read{kSize}, write{kSize};
  EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
  EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream_));
  synchronize(stream_);
  EXPECT_EQ(negated(hipFileInternalError), read.bytes);
  EXPECT_EQ(negated(hipFileInternalError), write.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(kSize, 0xee)));
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(kSize, 1)));
  EXPECT_EQ(hipSuccess, hipStreamQuery(stream_));
}

const auto kName = [](const auto& status) { return std::string(strerrorname_np(status.param)); };
INSTANTIATE_TEST_SUITE_P(Errno, EligibleFaultTest, testing::Values(ENODEV, EREMOTEIO), kName);
INSTANTIATE_TEST_SUITE_P(Errno, IneligibleFaultTest, testing::Values(EIO, ENOMEM), kName);

}  // namespace
}  // namespace hipfile::test
