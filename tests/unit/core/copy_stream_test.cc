// SPDX-License-Identifier: MIT
//
// Copy streams are a thread's own until it ends, then another's.
#include "gpu/copy_stream.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace hipfile {
namespace {

class StockTest : public ::testing::Test {
 protected:
  std::unique_ptr<CopyStream> make(int device) {
    auto stream = std::make_unique<CopyStream>();  // without a stream of HIP there is no call
    stream->runtime = &runtime_;
    stream->device = device;
    return stream;
  }
  std::unique_ptr<CopyStream> take(int device) { return stock_->take(&runtime_, device); }

  gpu::Runtime runtime_;
  const std::shared_ptr<StreamStock> stock_ = std::make_shared<StreamStock>();
};

TEST_F(StockTest, Rule30_StreamIsTheThreadsOwn) {
  std::unique_ptr<CopyStream> stream = make(0);
  const CopyStream* mine = stream.get();
  stock_->give_back(std::move(stream));
  std::thread([&] { EXPECT_EQ(take(0), nullptr); }).join();
  EXPECT_EQ(take(0).get(), mine);
}

TEST_F(StockTest, StreamOfAThreadThatEndedIsUsedAgain) {
  const CopyStream* left = nullptr;
  std::thread([&] {
    std::unique_ptr<CopyStream> stream = make(0);
    left = stream.get();
    stock_->give_back(std::move(stream));
  }).join();
  EXPECT_EQ(take(0).get(), left);
  EXPECT_EQ(take(0), nullptr);
}

TEST_F(StockTest, StreamIsFoundByRuntimeAndDevice) {
  for (int device : {2, 0, 1}) stock_->give_back(make(device));
  const gpu::Runtime other;
  EXPECT_EQ(stock_->take(&other, 0), nullptr);
  for (int device : {0, 1, 2}) {
    const std::unique_ptr<CopyStream> stream = take(device);
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(stream->device, device);
  }
}

}  // namespace
}  // namespace hipfile
