// SPDX-License-Identifier: MIT
//
// Work that is queued in a stream of the program. Everything is queued by the program's own thread
// inside its call; nothing here is ever called while an operation runs (rule 10).
#pragma once

#include <cstdint>

#include "gpu/guards.h"
#include "gpu/loader.h"
#include "util/result.h"

namespace hipfile {

/// A stream of the program, with the runtime and the device it belongs to.
struct UserStream {
  const gpu::Runtime* runtime = nullptr;
  int device = 0;
  hipStream_t stream = nullptr;  ///< NULL: the null stream of `device`
};

/// True on a thread that runs a host function of a stream, where the runtime answers no call. What
/// waits for a stream there waits for ever. Of a runtime that is not bound yet this is not known:
/// nothing of ours is in a stream of it, and no request waits for it.
bool is_in_host_function();

/// NULL if operations can be queued in streams of that device: they wait for a value that the
/// processor stores, and take late-bound copies. Else what they lack, for people.
const char* lack_of_streams(const gpu::Runtime& runtime, int device);

/// The device of a stream handle. Fails with the HIP code of a handle that the runtime does not
/// know. The null stream is that of the calling thread's current device.
Result<UserStream> find_stream(const gpu::Runtime* runtime, hipStream_t stream);

/// True if work queued now would be recorded in a graph instead of run.
Result<bool> is_capturing(const UserStream& stream);
/// True if nothing is queued in it that has not run.
bool is_idle(const UserStream& stream);
Status synchronize(const UserStream& stream);

/// Each call queues one thing. Its memory must stay until the stream got there. While this object
/// lives, the stream's device is the thread's current one.
class StreamQueue {
 public:
  explicit StreamQueue(const UserStream& stream);

  Status host_function(hipHostFn_t function, void* context);
  /// Wait until *value is at least `wanted`. Pinned memory.
  Status wait_until(uint32_t* value, uint32_t wanted);
  /// The copy that the descriptor describes when the stream gets there. Pinned memory.
  Status late_bound_copy(const hipPortableIndirectCopy_t* descriptor);

 private:
  Status ready() const;

  const UserStream stream_;
  const gpu::HipTable& hip_;
  const LastErrorGuard errors_;
  const DeviceGuard current_;
};

}  // namespace hipfile
