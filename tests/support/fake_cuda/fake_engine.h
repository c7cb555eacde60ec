// SPDX-License-Identifier: MIT
//
// Fake driver: the device at work. Streams hold operations in order; one thread, the device, looks
// again and again for those whose turn it is. A stream that waits holds up no other one, but for
// the null stream and the blocking ones, which take turns by age.
//
// What programs trip over on a real driver is played:
//
// - the streams of a device share CUDA_DEVICE_MAX_CONNECTIONS (8) queues, in turn, and a queue
//   takes 1,020 operations: behind streams that stand still, queueing blocks the caller;
// - what frees memory or loads code waits for the device, and holds a lock that every copy and
//   launch needs meanwhile;
// - one thread runs the host functions of all streams, and may not call the driver;
// - a fault of the device is for good: what is queued is dropped, and every call says so.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "fake_cuda.h"

namespace fake_cuda {

// One operation, called until it is done: false: it is not its time yet.
using Step = std::function<bool()>;

struct Operation {
  Step step;
  std::uint64_t age;  // lower is older, over all streams
};

struct Connection {
  int queued = 0;
};

}  // namespace fake_cuda

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  CUcontext context = nullptr;
  int capture_status = 0;
  bool is_null = false;
  bool is_active = false;
  fake_cuda::Connection* connection = nullptr;
  std::deque<std::shared_ptr<fake_cuda::Operation>> operations;
};
using CUstream = CUstream_st*;

namespace fake_cuda {

using StreamHold = std::shared_ptr<CUstream_st>;

// A stream of the current context. The null stream has no name but 0, 1 and 2. Null: unknown.
StreamHold find_stream(CUstream handle);
StreamHold make_stream(unsigned flags, int priority);
// What is queued is still done.
bool forget_stream(CUstream handle);

// Blocks while the queue of the stream's connection is full.
CUresult queue(const StreamHold& stream, Step step);
CUresult queue_host_function(const StreamHold& stream, std::function<void()> function);
// Waits for what is queued now.
CUresult wait_for(const StreamHold& stream);
CUresult wait_for_device(int device);
// Waits until the device has made `is_done` true.
CUresult wait_until(const std::function<bool()>& is_done);
bool is_idle(const StreamHold& stream);

// At the beginning of a call that frees, or loads code; of one that queues a copy or a launch.
CUresult drain(int device);
void admit();

// What is queued is lost, and every call answers `result` from now on.
void fault(CUresult result);
void drop_all_of(int device);
// The calling thread runs host functions.
bool is_host_function_thread();

}  // namespace fake_cuda
