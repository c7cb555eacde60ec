// SPDX-License-Identifier: MIT
// The operation that fails is either kept from the real queue, or handed to it with half its size.
#include "faulty_engine.h"

#include <deque>
#include <utility>

namespace hipfile::test {
namespace {

constexpr size_t kBlock = 4096;

class FaultyQueue : public IoQueue {
 public:
  FaultyQueue(std::unique_ptr<IoQueue> real, EngineFault* fault)
      : real_(std::move(real)), fault_(fault) {}

  void submit(const IoOp& op) override {
    if (++fault_->operations != fault_->nth) return pass_on(op);
    IoOp half = op;
    half.size = op.size / 2 / kBlock * kBlock;
    if (!fault_->moves_half || half.size == 0) {
      IoDone done;
      done.tag = op.tag;
      done.error = fault_->error;
      failed_.push_back(done);
      return;
    }
    halved_tag_ = op.tag;
    has_halved_ = true;
    pass_on(half);
  }

  // The failure comes as late as it can: what was submitted behind it has ended by then.
  IoDone reap() override {
    if (in_flight_ == 0) {
      const IoDone done = failed_.front();
      failed_.pop_front();
      return done;
    }
    --in_flight_;
    IoDone done = real_->reap();
    if (has_halved_ && done.tag == halved_tag_) {
      has_halved_ = false;
      if (done.error == 0) done.error = fault_->error;
    }
    return done;
  }

  unsigned depth() const override { return real_->depth(); }

 private:
  void pass_on(const IoOp& op) {
    ++in_flight_;
    real_->submit(op);
  }

  const std::unique_ptr<IoQueue> real_;
  EngineFault* const fault_;
  std::deque<IoDone> failed_;
  uint64_t halved_tag_ = 0;
  bool has_halved_ = false;
  unsigned in_flight_ = 0;  // with the real queue
};

class FaultyEngine : public Engine {
 public:
  FaultyEngine(std::unique_ptr<Engine> real, EngineFault* fault)
      : real_(std::move(real)), fault_(fault) {}
  const char* name() const override { return real_->name(); }
  std::unique_ptr<IoQueue> open_queue(unsigned depth, std::shared_ptr<Turns> turns,
                                      bool is_polled) override {
    return std::make_unique<FaultyQueue>(real_->open_queue(depth, std::move(turns), is_polled),
                                         fault_);
  }

 private:
  const std::unique_ptr<Engine> real_;
  EngineFault* const fault_;
};

}  // namespace

EngineChoice make_faulty(EngineChoice choice, EngineFault* fault) {
  if (choice.uring) {
    choice.uring = std::make_unique<FaultyEngine>(std::move(choice.uring), fault);
  }
  choice.threads = std::make_unique<FaultyEngine>(std::move(choice.threads), fault);
  return choice;
}

}  // namespace hipfile::test
