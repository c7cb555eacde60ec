// SPDX-License-Identifier: MIT
//
// Fake driver: code. It knows a few kernels by name, and does what they do when they are launched
// the way they must be. A test may ask how often code was loaded and launched.

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../pattern.h"
#include "fake_engine.h"

// A kernel, called with its parameters.
struct CUfunc_st {
  const char* name;
  std::vector<std::size_t> sizes;  // of the parameters
  void (*run)(void** parameters);
  bool is_copy = false;  // which is launched in one shape only
};
struct CUmod_st {
  std::string image;
};
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;

namespace {

std::mutex modules_mutex;
std::set<CUmodule>& modules() {
  static auto* all = new std::set<CUmodule>;
  return *all;
}
std::atomic<int> loads{0};
std::atomic<int> copies{0};

// hipPortableIndirectCopy_t
struct Descriptor {
  void* destination;
  const void* source;
  std::uint64_t size;
  std::uint64_t* flag;
  std::uint64_t flag_value;
};

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// For the device of whoever launched it, which the fake driver does not keep: any will do.
bool is_reached(const void* end, std::size_t size, int access) {
  for (int device = 0; device < fake_cuda::device_count(); ++device) {
    if (fake_cuda::is_reachable(address_of(end), size, device, access)) return true;
  }
  return false;
}

bool is_right(const Descriptor& copy) {
  const bool is_copy_right = copy.size == 0 || (is_reached(copy.destination, copy.size, 3) &&
                                                is_reached(copy.source, copy.size, 1));
  const bool is_flag_right =
      copy.flag == nullptr ||
      (address_of(copy.flag) % sizeof(*copy.flag) == 0 && is_reached(copy.flag, 8, 3));
  return is_copy_right && is_flag_right;
}

void copy(void** parameters) {
  const auto* const descriptor = *static_cast<const Descriptor**>(parameters[0]);
  if (descriptor == nullptr) return;
  ++copies;
  Descriptor read;
  std::memcpy(&read, descriptor, sizeof(read));
  if (!is_right(read)) return fake_cuda::fault(CUDA_ERROR_ILLEGAL_ADDRESS);
  if (read.size != 0) {
    std::memmove(fake_cuda::view(address_of(read.destination)),
                 fake_cuda::view(address_of(read.source)), read.size);
  }
  if (read.flag == nullptr) return;
  auto* const flag = reinterpret_cast<std::uint64_t*>(fake_cuda::view(address_of(read.flag)));
  __atomic_store_n(flag, read.flag_value, __ATOMIC_RELEASE);
}

template <class Value>
Value value_of(void* parameter) {
  return *static_cast<Value*>(parameter);
}

// The device's view of a pointer among the parameters.
template <class Type>
Type* pointer_of(void* parameter) {
  return reinterpret_cast<Type*>(fake_cuda::view(value_of<CUdeviceptr>(parameter)));
}

// Those of tests/support/kernels.cu.
void sum(void** parameters) {
  const auto* const bytes = pointer_of<const std::uint8_t>(parameters[0]);
  auto* const sum = pointer_of<std::uint64_t>(parameters[2]);
  for (std::uint64_t at = 0; at < value_of<std::uint64_t>(parameters[1]); ++at) *sum += bytes[at];
}

void add(void** parameters) {
  auto* const bytes = pointer_of<std::uint8_t>(parameters[0]);
  for (std::uint64_t at = 0; at < value_of<std::uint64_t>(parameters[1]); ++at) {
    bytes[at] = static_cast<std::uint8_t>(bytes[at] + value_of<std::uint64_t>(parameters[2]));
  }
}

void fill(void** parameters) {
  hipfile::test::fill_pattern(
      pointer_of<void>(parameters[0]), value_of<std::uint64_t>(parameters[1]),
      value_of<std::uint64_t>(parameters[2]), value_of<std::uint64_t>(parameters[3]));
}

void count_wrong(void** parameters) {
  const auto* const bytes = pointer_of<const std::uint8_t>(parameters[0]);
  const auto position = value_of<std::uint64_t>(parameters[3]);
  auto* const wrong = pointer_of<std::uint64_t>(parameters[4]);
  for (std::uint64_t at = 0; at < value_of<std::uint64_t>(parameters[1]); ++at) {
    const std::uint8_t right =
        hipfile::test::pattern_byte(value_of<std::uint64_t>(parameters[2]), position + at);
    *wrong += bytes[at] != right;
  }
}

// That of ais-bench: it runs, and its time is over at once.
void be_busy(void** parameters) {
  *pointer_of<volatile std::uint32_t>(parameters[0]) = value_of<std::uint32_t>(parameters[1]);
}

CUfunc_st kernels[] = {{"hip_portable_indirect_copy", {8}, &copy, true},
                       {"hipfile_test_sum", {8, 8, 8}, &sum},
                       {"hipfile_test_add", {8, 8, 8}, &add},
                       {"hipfile_test_fill", {8, 8, 8, 8}, &fill},
                       {"hipfile_test_count_wrong", {8, 8, 8, 8, 8}, &count_wrong},
                       {"ais_bench_busy", {8, 4}, &be_busy}};

// Null where the module has none of that name, or nobody here knows it.
CUfunction find(const CUmod_st& module, const std::string& name) {
  if (module.image.find(".entry " + name + "(") == std::string::npos) return nullptr;
  for (CUfunc_st& kernel : kernels) {
    if (name == kernel.name) return &kernel;
  }
  return nullptr;
}

bool is_loaded(CUmodule module) {
  const std::lock_guard<std::mutex> lock(modules_mutex);
  return modules().count(module) != 0;
}

bool is_kernel(CUfunction function) {
  for (CUfunc_st& kernel : kernels) {
    if (function == &kernel) return true;
  }
  return false;
}

// What a launch keeps of its parameters, each in a word.
using Kept = std::vector<std::uint64_t>;

Kept keep(const CUfunc_st& kernel, void** parameters) {
  Kept kept(kernel.sizes.size());
  for (std::size_t at = 0; at < kept.size(); ++at) {
    std::memcpy(&kept[at], parameters[at], kernel.sizes[at]);
  }
  return kept;
}

// The packed form, of parameters that take eight bytes each: the list ends with a null pointer.
bool unpack(void** extra, std::vector<void*>* parameters) {
  const auto key = [extra](int at) { return reinterpret_cast<std::uintptr_t>(extra[at]); };
  if (key(0) != 1 || key(2) != 2 || key(4) != 0) return false;
  for (std::size_t at = 0; at < *static_cast<std::size_t*>(extra[3]); at += 8) {
    parameters->push_back(static_cast<char*>(extra[1]) + at);
  }
  return true;
}

}  // namespace

// For tests.
FAKE_CUDA_API int fakeCudaModuleLoads(void) { return loads.load(); }
FAKE_CUDA_API int fakeCudaIndirectCopies(void) { return copies.load(); }

FAKE_CUDA_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_CUDA_NEED_CONTEXT();
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult drained = fake_cuda::drain(fake_cuda::current_context()->device);
  if (drained != CUDA_SUCCESS) return drained;
  const std::size_t lack = fake_cuda::setting("FAKE_CUDA_NO_JIT", 0);
  if (lack == 1) return 223;  // CUDA_ERROR_JIT_COMPILATION_DISABLED
  if (lack != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (std::strstr(static_cast<const char*>(image), ".entry ") == nullptr) return 200;
  ++loads;
  *module = new CUmod_st{static_cast<const char*>(image)};
  const std::lock_guard<std::mutex> lock(modules_mutex);
  modules().insert(*module);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuModuleUnload(CUmodule module) {
  FAKE_CUDA_NEED_CONTEXT();
  const std::lock_guard<std::mutex> lock(modules_mutex);
  if (modules().erase(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete module;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                           const char* name) {
  FAKE_CUDA_NEED_CONTEXT();
  if (!is_loaded(module)) return CUDA_ERROR_INVALID_HANDLE;
  *function = find(*module, name);
  return *function != nullptr ? CUDA_SUCCESS : 500;  // CUDA_ERROR_NOT_FOUND
}

FAKE_CUDA_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared_bytes, CUstream handle,
                                      void** parameters, void** extra) {
  FAKE_CUDA_NEED_CONTEXT();
  fake_cuda::admit();
  const fake_cuda::StreamHold stream = fake_cuda::find_stream(handle);
  if (!is_kernel(function) || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const bool is_two_blocks = grid_x == 2 && grid_y == 1 && grid_z == 1;
  const bool is_full = block_x == 1024 && block_y == 1 && block_z == 1;
  const bool is_right = is_two_blocks && is_full && shared_bytes == 0;
  if (function->is_copy && !is_right) return CUDA_ERROR_INVALID_VALUE;
  if (grid_x * grid_y * grid_z * block_x * block_y * block_z == 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<void*> packed;
  if (extra != nullptr && !unpack(extra, &packed)) return CUDA_ERROR_INVALID_VALUE;
  Kept kept = keep(*function, extra != nullptr ? packed.data() : parameters);
  return fake_cuda::queue(stream, [function, kept]() mutable {
    std::vector<void*> words;
    for (std::uint64_t& word : kept) words.push_back(&word);
    function->run(words.data());
    return true;
  });
}
