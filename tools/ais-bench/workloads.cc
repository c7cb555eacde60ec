// SPDX-License-Identifier: MIT
#include "workloads.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace ais_bench {
namespace {

// Calls are made with the start of the allocation and an offset, as programs with one buffer do.
void transfer(const Bench& bench, hipFileHandle_t handle, Way way, size_t at, size_t bytes) {
  const auto buffer_offset =
      static_cast<hoff_t>(bench.target() - bench.memory()) + static_cast<hoff_t>(at);
  const ssize_t done =
      way == Way::kRead
          ? hipFileRead(handle, bench.memory(), bytes, static_cast<hoff_t>(at), buffer_offset)
          : hipFileWrite(handle, bench.memory(), bytes, static_cast<hoff_t>(at), buffer_offset);
  if (done == static_cast<ssize_t>(bytes)) return;
  const std::string name = way == Way::kRead ? "hipFileRead" : "hipFileWrite";
  if (done == -1) fail_errno(name, errno);
  if (done < 0) fail(name + ": " + HIPFILE_ERRSTR(static_cast<int>(done)));
  fail(name + " moved " + std::to_string(done) + " of " + std::to_string(bytes) + " bytes");
}

std::string describe(const Options& options) {
  return std::string(options.is_cold ? ", cold" : ", cached") +
         (options.is_direct ? ", O_DIRECT" : "");
}

// An operation whose values stay where they are until its stream got there.
struct Operation {
  size_t size = 0;
  hoff_t file_offset = 0;
  hoff_t buffer_offset = 0;
  ssize_t done = -1;
};

std::vector<Operation> cut(const Bench& bench) {
  std::vector<Operation> operations;
  const size_t call = bench.options().call;
  for (size_t at = 0; at < bench.size(); at += call) {
    Operation operation;
    operation.size = std::min(call, bench.size() - at);
    operation.file_offset = static_cast<hoff_t>(at);
    operation.buffer_offset =
        static_cast<hoff_t>(bench.target() - bench.memory()) + static_cast<hoff_t>(at);
    operations.push_back(operation);
  }
  return operations;
}

/// Streams known to the library; all values of their operations are fixed.
class Registered {
 public:
  Registered(const Bench& bench, unsigned count) : bench_(bench), count_(count) {
    constexpr unsigned kFixed = HIPFILE_STREAM_FIXED_BUF_OFFSET | HIPFILE_STREAM_FIXED_FILE_OFFSET |
                                HIPFILE_STREAM_FIXED_FILE_SIZE;
    for (unsigned i = 0; i < count; ++i) {
      check(hipFileStreamRegister(bench.streams()[i], kFixed), "hipFileStreamRegister");
    }
  }
  ~Registered() {
    for (unsigned i = 0; i < count_; ++i) {
      check(hipFileStreamDeregister(bench_.streams()[i]), "hipFileStreamDeregister");
    }
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  const Bench& bench_;
  const unsigned count_;
};

void queue(const Bench& bench, hipFileHandle_t handle, Way way, Operation& operation,
           hipStream_t stream) {
  const auto call = way == Way::kRead ? hipFileReadAsync : hipFileWriteAsync;
  check(call(handle, bench.memory(), &operation.size, &operation.file_offset,
             &operation.buffer_offset, &operation.done, stream),
        way == Way::kRead ? "hipFileReadAsync" : "hipFileWriteAsync");
}

void wait_for(const Bench& bench, unsigned streams) {
  for (unsigned i = 0; i < streams; ++i) {
    bench.device().check(bench.device().hip().StreamSynchronize(bench.streams()[i]),
                         "a stream failed");
  }
}

}  // namespace

void check(hipFileError_t error, const char* what) {
  if (error.err != hipFileSuccess) {
    fail(std::string(what) + ": " + hipFileGetOpErrorString(error.err));
  }
}

Library::Library(Bench& bench) : bench_(bench) {
  hipFileDescr_t descr = {};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = bench.file().descriptor(bench.options().is_direct);
  check(hipFileHandleRegister(&handle_, &descr), "hipFileHandleRegister");
  if (bench.options().is_registered) {
    check(hipFileBufRegister(bench.memory(), bench.memory_size(), 0), "hipFileBufRegister");
  }
}

Library::~Library() {
  if (bench_.options().is_registered) {
    check(hipFileBufDeregister(bench_.memory()), "hipFileBufDeregister");
  }
  hipFileHandleDeregister(handle_);
}

Work synchronous(Bench& bench, const Library& library, Way way, unsigned threads) {
  const size_t call = bench.options().call;
  // With several threads each has something to do.
  const size_t part = (bench.size() / threads + 4095) / 4096 * 4096;
  const size_t grain = std::min(call, std::max<size_t>(part, 4096));
  Work work;
  work.name = std::string(way == Way::kRead ? "hipFileRead" : "hipFileWrite") +
              describe(bench.options()) + ", " + std::to_string(threads) +
              (threads == 1 ? " thread" : " threads");
  work.bytes = bench.size();
  work.calls = (bench.size() + grain - 1) / grain;
  work.prepare = [&bench, way](unsigned run) { bench.prepare(way, run); };
  work.run = [&bench, handle = library.handle(), way, threads, grain] {
    return time_threads(threads, [&](unsigned index) {
      bench.device().make_current();
      const Range range = bench.share(index, threads, grain);
      for (size_t at = range.begin; at < range.end; at += grain) {
        transfer(bench, handle, way, at, std::min(grain, range.end - at));
      }
    });
  };
  work.check = [&bench] { bench.check(); };
  return work;
}

Work asynchronous(Bench& bench, const Library& library, Way way) {
  const Options& options = bench.options();
  const auto registered = std::make_shared<Registered>(bench, options.streams);
  Work work;
  work.name = std::string(way == Way::kRead ? "hipFileReadAsync" : "hipFileWriteAsync") +
              describe(options) + ", " + std::to_string(options.streams) +
              (options.streams == 1 ? " stream" : " streams");
  work.bytes = bench.size();
  work.calls = (bench.size() + options.call - 1) / options.call;
  work.prepare = [&bench, way](unsigned run) { bench.prepare(way, run); };
  work.run = [&bench, registered, handle = library.handle(), way, &options] {
    std::vector<Operation> operations = cut(bench);
    const size_t round = options.queue == 0 ? operations.size() : options.queue * options.streams;
    const Sample sample = time_threads(1, [&](unsigned) {
      for (size_t i = 0; i < operations.size(); ++i) {
        queue(bench, handle, way, operations[i], bench.streams()[i % options.streams]);
        if ((i + 1) % round == 0) wait_for(bench, options.streams);
      }
      wait_for(bench, options.streams);
    });
    for (const Operation& operation : operations) {
      if (operation.done != static_cast<ssize_t>(operation.size)) {
        fail("an asynchronous call answered " + std::to_string(operation.done));
      }
    }
    return sample;
  };
  work.check = [&bench] { bench.check(); };
  return work;
}

}  // namespace ais_bench
