// SPDX-License-Identifier: MIT
//
// Fake driver: the device's thread, the thread of host functions, and who waits for them.

#include "fake_engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace fake_cuda {
namespace {

constexpr int kMostQueued = 1020;  // of a connection
constexpr int kMostInARow = 16;    // operations of one stream before the next one's
constexpr std::chrono::microseconds kFirstNap{10};
constexpr std::chrono::microseconds kLongestNap{500};

struct HostCall {
  std::function<void()> function;
  std::atomic<bool> is_done{false};
};

// Lives as long as the process: its threads do.
struct Engine {
  std::mutex mutex;
  std::condition_variable work;      // for the device
  std::condition_variable progress;  // for who waits for it
  std::map<CUstream, StreamHold> streams;
  StreamHold null_streams[kMaxDevices];
  std::vector<StreamHold> active;  // with operations
  std::vector<Connection> connections[kMaxDevices];
  std::size_t next_connection = 0;
  std::uint64_t age = 0;
  bool has_threads = false;
  bool is_in_step = false;  // an operation is being done

  std::mutex host_mutex;
  std::condition_variable host_work;
  std::deque<std::shared_ptr<HostCall>> host_calls;

  std::mutex driver;  // what drains the device holds it
};

Engine& engine() {
  static Engine& instance = *new Engine;
  return instance;
}

thread_local bool runs_host_functions = false;
thread_local bool is_device_thread = false;

int device_of(const CUstream_st& stream) { return stream.context->device; }

// Blocking streams and the null stream of their device take turns. Needs the mutex, as all below.
bool take_turns(const CUstream_st& one, const CUstream_st& other) {
  if (&one == &other || one.is_null == other.is_null) return false;
  const CUstream_st& named = one.is_null ? other : one;
  return (named.flags & 1U) == 0 && device_of(one) == device_of(other);
}

bool is_its_turn(const CUstream_st& stream) {
  if (stream.operations.empty()) return false;
  const std::uint64_t age = stream.operations.front()->age;
  return std::none_of(engine().active.begin(), engine().active.end(), [&](const StreamHold& other) {
    return take_turns(stream, *other) && !other->operations.empty() &&
           other->operations.front()->age < age;
  });
}

void pop(CUstream_st& stream) {
  stream.operations.pop_front();
  --stream.connection->queued;
  engine().progress.notify_all();
}

// True if something was done.
bool run_some(std::unique_lock<std::mutex>& lock, const StreamHold& stream) {
  for (int done = 0; done < kMostInARow; ++done) {
    if (!is_its_turn(*stream)) return done > 0;
    const std::shared_ptr<Operation> operation = stream->operations.front();
    engine().is_in_step = true;
    lock.unlock();
    const bool is_over = operation->step();
    lock.lock();
    engine().is_in_step = false;
    engine().progress.notify_all();
    if (!is_over) return done > 0;
    // It may have been dropped meanwhile.
    if (!stream->operations.empty() && stream->operations.front() == operation) pop(*stream);
  }
  return true;
}

void forget_idle() {
  std::vector<StreamHold>& active = engine().active;
  for (const StreamHold& stream : active) stream->is_active = !stream->operations.empty();
  active.erase(std::remove_if(active.begin(), active.end(),
                              [](const StreamHold& stream) { return !stream->is_active; }),
               active.end());
}

void run_device() {
  is_device_thread = true;
  Engine& it = engine();
  std::unique_lock<std::mutex> lock(it.mutex);
  std::chrono::microseconds nap = kFirstNap;
  for (;;) {
    bool has_moved = false;
    const std::vector<StreamHold> round = it.active;
    for (const StreamHold& stream : round) has_moved |= run_some(lock, stream);
    forget_idle();
    nap = has_moved ? kFirstNap : std::min(nap * 2, kLongestNap);
    if (it.active.empty()) {
      it.work.wait(lock, [&it] { return !it.active.empty(); });
    } else if (!has_moved) {
      it.work.wait_for(lock, nap);
    }
  }
}

void run_host_functions() {
  runs_host_functions = true;
  Engine& it = engine();
  for (;;) {
    std::shared_ptr<HostCall> call;
    {
      std::unique_lock<std::mutex> lock(it.host_mutex);
      it.host_work.wait(lock, [&it] { return !it.host_calls.empty(); });
      call = std::move(it.host_calls.front());
      it.host_calls.pop_front();
    }
    call->function();
    call->function = nullptr;
    call->is_done = true;
    it.work.notify_one();
  }
}

void start_threads() {
  if (engine().has_threads) return;
  engine().has_threads = true;
  std::thread(&run_device).detach();
  std::thread(&run_host_functions).detach();
}

Connection* next_connection(int device) {
  std::vector<Connection>& all = engine().connections[device];
  if (all.empty()) all.resize(setting("CUDA_DEVICE_MAX_CONNECTIONS", 8));
  return &all[engine().next_connection++ % all.size()];
}

const StreamHold& null_stream(CUcontext context) {
  StreamHold& stream = engine().null_streams[context->device];
  if (stream == nullptr) {
    stream = std::make_shared<CUstream_st>();
    stream->context = context;
    stream->is_null = true;
    stream->connection = next_connection(context->device);
  }
  return stream;
}

// Older than `age`, in one of the streams that `is_meant`.
template <class Predicate>
bool is_any_left(std::uint64_t age, Predicate is_meant) {
  return std::any_of(engine().active.begin(), engine().active.end(), [&](const StreamHold& one) {
    return is_meant(*one) && !one->operations.empty() && one->operations.front()->age < age;
  });
}

// A device that is lost does nothing more.
template <class Predicate>
CUresult wait(std::unique_lock<std::mutex>& lock, Predicate is_done) {
  while (!is_done() && lost_with() == CUDA_SUCCESS) {
    engine().progress.wait_for(lock, std::chrono::milliseconds(10));
  }
  return lost_with();
}

// For what is queued now.
template <class Predicate>
CUresult wait_until_done(Predicate is_meant) {
  std::unique_lock<std::mutex> lock(engine().mutex);
  const std::uint64_t age = engine().age;
  return wait(lock, [&] { return !is_any_left(age, is_meant); });
}

void drop(CUstream_st& stream) {
  stream.connection->queued -= static_cast<int>(stream.operations.size());
  stream.operations.clear();
  engine().progress.notify_all();
}

}  // namespace

StreamHold find_stream(CUstream handle) {
  const std::lock_guard<std::mutex> lock(engine().mutex);
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return null_stream(current_context());
  const auto found = engine().streams.find(handle);
  return found != engine().streams.end() ? found->second : nullptr;
}

StreamHold make_stream(unsigned flags, int priority) {
  const std::lock_guard<std::mutex> lock(engine().mutex);
  auto stream = std::make_shared<CUstream_st>();
  stream->flags = flags;
  stream->priority = priority;
  stream->context = current_context();
  stream->connection = next_connection(stream->context->device);
  engine().streams[stream.get()] = stream;
  return stream;
}

bool forget_stream(CUstream handle) {
  const std::lock_guard<std::mutex> lock(engine().mutex);
  return engine().streams.erase(handle) == 1;
}

CUresult queue(const StreamHold& stream, Step step) {
  Engine& it = engine();
  std::unique_lock<std::mutex> lock(it.mutex);
  start_threads();
  it.progress.wait(lock, [&] { return stream->connection->queued < kMostQueued; });
  if (const CUresult lost = lost_with(); lost != CUDA_SUCCESS) return lost;
  ++stream->connection->queued;
  if (!stream->is_active) it.active.push_back(stream);
  stream->is_active = true;
  stream->operations.push_back(std::make_shared<Operation>(Operation{std::move(step), it.age++}));
  it.work.notify_one();
  return CUDA_SUCCESS;
}

CUresult queue_host_function(const StreamHold& stream, std::function<void()> function) {
  auto call = std::make_shared<HostCall>();
  call->function = std::move(function);
  return queue(stream, [call, is_handed_on = false]() mutable {
    if (!is_handed_on) {
      is_handed_on = true;
      const std::lock_guard<std::mutex> lock(engine().host_mutex);
      engine().host_calls.push_back(call);
      engine().host_work.notify_one();
    }
    return call->is_done.load();
  });
}

CUresult wait_for(const StreamHold& stream) {
  return wait_until_done([&](const CUstream_st& one) {
    return &one == stream.get() || (stream->is_null && take_turns(*stream, one));
  });
}

CUresult wait_for_device(int device) {
  return wait_until_done([device](const CUstream_st& one) { return device_of(one) == device; });
}

CUresult wait_until(const std::function<bool()>& is_done) {
  std::unique_lock<std::mutex> lock(engine().mutex);
  return wait(lock, is_done);
}

bool is_idle(const StreamHold& stream) {
  const std::lock_guard<std::mutex> lock(engine().mutex);
  return !is_any_left(engine().age, [&](const CUstream_st& one) {
    return &one == stream.get() || (stream->is_null && take_turns(*stream, one));
  });
}

CUresult drain(int device) {
  const std::lock_guard<std::mutex> lock(engine().driver);
  return wait_for_device(device);
}

void admit() { const std::lock_guard<std::mutex> lock(engine().driver); }

void drop_all_of(int device) {
  const std::lock_guard<std::mutex> lock(engine().mutex);
  for (const StreamHold& stream : engine().active) {
    if (device_of(*stream) == device) drop(*stream);
  }
}

// What is dropped is not in the middle of it, unless it found the fault itself.
void fault(CUresult result) {
  lose_for_good(result);
  std::unique_lock<std::mutex> lock(engine().mutex);
  if (!is_device_thread) engine().progress.wait(lock, [] { return !engine().is_in_step; });
  for (const StreamHold& stream : engine().active) drop(*stream);
}

bool is_host_function_thread() { return runs_host_functions; }

}  // namespace fake_cuda
