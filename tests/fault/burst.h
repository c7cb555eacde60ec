// SPDX-License-Identifier: MIT
// A step of a random program: operations in several streams and a batch, in flight at once. Each
// stream, and each part of the batch, has a file and a memory to itself; so what they do is known
// whatever their order. Meanwhile values change, files are deregistered, the library is closed.
#pragma once

#include <memory>
#include <vector>

#include "world.h"

namespace hipfile::test {

class Burst {
 public:
  explicit Burst(World& world) : world_(world), random_(world.random), journal_(world.journal) {}

  // Returns how many operations it was.
  size_t run();

 private:
  // Pointers of the call lead to `size` and its neighbours.
  struct Operation {
    bool is_read = true;
    Range range;  // at the call
    Range late;   // what counts
    size_t size = 0;
    hoff_t file_offset = 0, buffer_offset = 0;
    ssize_t bytes = 4711;
    ssize_t wanted = 0;
  };
  struct Lane {
    ModelStream* stream = nullptr;  // NULL: of the batch
    ModelFile* file = nullptr;
    ModelMemory* memory = nullptr;
    bool is_standing = false;
    std::vector<std::unique_ptr<Operation>> operations;
  };
  struct Request {
    Lane* lane = nullptr;
    bool is_read = true;
    Range range;
    bool has_ended = false;
  };

  void choose_lanes();
  void stand_still(Lane& lane);
  void queue_all(Lane& lane);
  void queue(Lane& lane, Operation& operation);
  void change_late(const Lane& lane, Operation& operation);
  void set_wanted(const Lane& lane, Operation& operation);
  void disturb(Lane& lane);
  static bool is_busy(const Lane& lane);
  bool has_queued() const;
  void close_all();
  void let_go(Lane& lane);
  void judge(Lane& lane);

  void set_up_batch();
  void cut_requests(Lane& lane);
  hipFileIOParams_t params_of(size_t request) const;
  void submit();
  void submit_wrongly();
  void fetch_all();
  void take_event(const hipFileIOEvents_t& event, bool may_be_cancelled);

  World& world_;
  Random& random_;
  Journal& journal_;
  bool will_close_ = false;  // while all stand still
  size_t operations_ = 0;
  std::vector<Lane> lanes_;        // of streams
  std::vector<Lane> batch_lanes_;  // of the batch
  hipFileBatchHandle_t batch_ = nullptr;
  unsigned capacity_ = 0;
  std::vector<Request> requests_;
};

}  // namespace hipfile::test
