// SPDX-License-Identifier: MIT
//
// Start, fork and end of the runtime.

#include "runtime.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "backend.h"

namespace hip_portable {
namespace {

std::atomic<Runtime*> g_runtime{nullptr};

// One byte that the kernel zeroes in every child. Where it cannot be had, null: a child is then
// not recognised.
volatile const std::uint8_t* make_fork_mark() {
  constexpr std::size_t kPage = 4096;
  void* page =
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, kPage, MADV_WIPEONFORK) != 0) {
    (void)::munmap(page, kPage);
    return nullptr;
  }
  auto* mark = static_cast<std::uint8_t*>(page);
  *mark = 1;
  return mark;
}

// Streams of one thread, by device. A pthread key, because a thread_local destructor would also
// run for the main thread while the process exits.
using ThreadStreams = std::vector<std::shared_ptr<Stream>>;

void free_thread_streams(void* streams) { delete static_cast<ThreadStreams*>(streams); }

bool thread_streams_key(pthread_key_t* key) {
  static pthread_key_t made;
  static const bool is_made = ::pthread_key_create(&made, &free_thread_streams) == 0;
  *key = made;
  return is_made;
}

}  // namespace

ThreadState& this_thread() {
  static thread_local constinit ThreadState state;
  return state;
}

Runtime* Runtime::start() {
  static Mutex& mutex = *new Mutex;
  const MutexLock lock(mutex);
  Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime != nullptr) return runtime;
  runtime = new Runtime;
  runtime->is_ours_ = make_fork_mark();
  runtime->settings_ = read_settings();
  runtime->start_error_ = make_devices(runtime->settings_, &runtime->devices_);
  if (runtime->start_error_ != hipSuccess) runtime->devices_.clear();
  for (int ordinal = 0; ordinal < runtime->device_count(); ++ordinal) {
    auto stream = std::make_shared<Stream>();
    stream->work = &runtime->device(ordinal).null_stream();
    stream->device = ordinal;
    runtime->null_streams_.push_back(std::move(stream));
  }
  if (runtime->start_error_ == hipSuccess) (void)std::atexit(&Runtime::at_exit);
  g_runtime.store(runtime, std::memory_order_release);
  return runtime;
}

hipError_t Runtime::state() const {
  if (is_ours_ != nullptr && *is_ours_ == 0) return hipErrorNotInitialized;
  if (start_error_ != hipSuccess) return start_error_;
  if (is_exiting_.load(std::memory_order_acquire) && !devices_.front()->is_emulated()) {
    return hipErrorDeinitialized;
  }
  return hipSuccess;
}

hipError_t Runtime::enter(Runtime** runtime) {
  Runtime* found = g_runtime.load(std::memory_order_acquire);
  *runtime = found != nullptr ? found : start();
  return (*runtime)->state();
}

// Runs before the program's own handlers where the runtime was loaded late: it frees nothing.
void Runtime::at_exit() {
  Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr || runtime->state() != hipSuccess) return;
  runtime->is_exiting_.store(true, std::memory_order_release);
  for (const std::unique_ptr<Device>& device : runtime->devices_) device->shut_down();
}

hipError_t Runtime::create_stream(int device, unsigned flags, int priority,
                                  std::shared_ptr<Stream>* stream) {
  int least = 0;
  int greatest = 0;
  hipError_t error = this->device(device).priority_range(&least, &greatest);
  if (error != hipSuccess) return error;
  auto made = std::make_shared<Stream>();
  error = this->device(device).create_stream(flags, std::clamp(priority, greatest, least),
                                             &made->owned);
  if (error != hipSuccess) return error;
  made->work = made->owned.get();
  made->device = device;
  made->flags = flags;
  *stream = std::move(made);
  return hipSuccess;
}

std::shared_ptr<Stream> Runtime::stream_of_thread(int device) {
  pthread_key_t key;
  if (!thread_streams_key(&key)) return nullptr;
  auto* streams = static_cast<ThreadStreams*>(::pthread_getspecific(key));
  if (streams == nullptr) {
    auto made = std::make_unique<ThreadStreams>(devices_.size());
    if (::pthread_setspecific(key, made.get()) != 0) return nullptr;
    streams = made.release();
  }
  std::shared_ptr<Stream>& stream = (*streams)[static_cast<std::size_t>(device)];
  if (stream != nullptr && !stream->work->is_alive()) stream = nullptr;
  if (stream == nullptr) (void)create_stream(device, hipStreamDefault, 0, &stream);
  return stream;
}

// Not kept: the driver may give the address to another stream once this one is destroyed.
std::shared_ptr<Stream> Runtime::adopt_stream(hipStream_t handle) {
  if (streams_.is_ours(handle)) return nullptr;
  auto adopted = std::make_shared<Stream>();
  for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
    if (device(ordinal).adopt_stream(handle, &adopted->owned) != hipSuccess) continue;
    adopted->work = adopted->owned.get();
    adopted->device = ordinal;
    return adopted;
  }
  return nullptr;
}

hipError_t Runtime::find_stream(hipStream_t handle, int device, std::shared_ptr<Stream>* stream) {
  if (handle == nullptr || handle == hipStreamLegacy) {
    *stream = null_streams_[static_cast<std::size_t>(device)];
  } else if (handle == hipStreamPerThread) {
    *stream = stream_of_thread(device);
  } else {
    *stream = streams_.find(handle);
    if (*stream == nullptr) *stream = adopt_stream(handle);
  }
  return *stream != nullptr ? hipSuccess : hipErrorInvalidHandle;
}

}  // namespace hip_portable
