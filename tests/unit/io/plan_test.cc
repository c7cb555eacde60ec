// SPDX-License-Identifier: MIT
//
// The decision by table: backends whose answers are set by the test.
#include "io/plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>

#include "io/transfer.h"

namespace hipfile {
namespace {

class Stub : public Backend {
 public:
  Stub(hipFileExtBackend_t id, std::function<hipFileExtRefusal_t(const Request&)> refuses,
       std::function<Outcome(const Request&)> run)
      : id_(id), refuses_(std::move(refuses)), run_(std::move(run)) {}
  hipFileExtBackend_t id() const override { return id_; }
  hipFileExtRefusal_t refuses(const Request& request) const override { return refuses_(request); }
  Outcome run(const Request& request) override { return run_(request); }

 private:
  hipFileExtBackend_t id_;
  std::function<hipFileExtRefusal_t(const Request&)> refuses_;
  std::function<Outcome(const Request&)> run_;
};

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : stream_(std::tmpfile()), file_(File::open(fileno(stream_))) {
    request_.file = file_.value().get();
    request_.size = 1 << 20;
  }
  ~PlanTest() override { std::fclose(stream_); }

  void add(
      hipFileExtBackend_t id, hipFileExtRefusal_t refusal,
      std::function<Outcome(const Request&)> run = [](const Request& r) {
        return Outcome::moved(r.size);
      }) {
    backends_.push_back(std::make_unique<Stub>(
        id, [refusal](const Request&) { return refusal; }, std::move(run)));
  }

  std::FILE* stream_;
  Result<std::unique_ptr<File>> file_;
  Request request_;
  BackendList backends_;
};

TEST_F(PlanTest, FirstThatDoesNotRefuseIsKept) {
  add(hipFileExtBackendFastpath, hipFileExtRefusalNone);
  add(hipFileExtBackendBounce, hipFileExtRefusalNone);
  EXPECT_EQ(make_plan(backends_, request_).whole->id(), hipFileExtBackendFastpath);
}

TEST_F(PlanTest, RefusalsAreKeptByName) {
  add(hipFileExtBackendFastpath, hipFileExtRefusalFileSystem);
  add(hipFileExtBackendBounce, hipFileExtRefusalNone);
  const Plan plan = make_plan(backends_, request_);
  EXPECT_EQ(plan.whole->id(), hipFileExtBackendBounce);
  EXPECT_EQ(plan.refusals[hipFileExtBackendFastpath], hipFileExtRefusalFileSystem);
}

TEST_F(PlanTest, NobodyAcceptsIsInternalError) {
  add(hipFileExtBackendFastpath, hipFileExtRefusalFileSystem);
  add(hipFileExtBackendBounce, hipFileExtRefusalCompatDisallowed);
  EXPECT_FALSE(make_plan(backends_, request_).is_accepted());
  EXPECT_EQ(transfer(backends_, request_).error.code, hipFileInternalError);
}

TEST_F(PlanTest, EligibleFailureGoesToTheNextBackendOnce) {
  int runs = 0;
  add(hipFileExtBackendFastpath, hipFileExtRefusalNone,
      [](const Request&) { return Outcome::failure(Error::from_errno(ENODEV)); });
  add(hipFileExtBackendBounce, hipFileExtRefusalNone, [&runs](const Request& r) {
    ++runs;
    return Outcome::moved(r.size);
  });
  EXPECT_EQ(transfer(backends_, request_).done, request_.size);
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(request_.file->has_fastpath_failed());
}

TEST_F(PlanTest, Rule23_IneligibleFailureIsTheAnswer) {
  for (const int error : {EIO, EFAULT, ENOSPC}) {
    backends_.clear();
    add(hipFileExtBackendFastpath, hipFileExtRefusalNone,
        [error](const Request&) { return Outcome::failure(Error::from_errno(error)); });
    add(hipFileExtBackendBounce, hipFileExtRefusalNone);
    EXPECT_EQ(transfer(backends_, request_).error.sys_errno, error);
  }
}

TEST_F(PlanTest, FailureAfterSomeBytesIsNotRetried) {
  add(hipFileExtBackendFastpath, hipFileExtRefusalNone,
      [](const Request&) { return Outcome::failure(Error::from_errno(ENODEV), 512); });
  add(hipFileExtBackendBounce, hipFileExtRefusalNone);
  EXPECT_EQ(transfer(backends_, request_).done, 512u);
}

TEST_F(PlanTest, ZeroSizeAsksNobody) {
  request_.size = 0;
  const Outcome outcome = transfer(backends_, request_);
  EXPECT_FALSE(outcome.failed());
  EXPECT_EQ(outcome.done, 0u);
}

}  // namespace
}  // namespace hipfile
