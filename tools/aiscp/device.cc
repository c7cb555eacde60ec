// SPDX-License-Identifier: MIT
#include "device.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <hipfile.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace aiscp {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr char kOurRuntime[] = "libhip_portable.so.0";

/// Our runtime lies beside the library.
std::string path_of_our_runtime() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&hipFileDriverOpen), &info) == 0 ||
      info.dli_fname == nullptr) {
    return kOurRuntime;
  }
  const std::string library = info.dli_fname;
  const size_t slash = library.rfind('/');
  return slash == std::string::npos ? kOurRuntime : library.substr(0, slash + 1) + kOurRuntime;
}

}  // namespace

Status Device::prepare_environment(const Options& options) {
  bool is_set = true;
  if (options.gpu.kind == GpuChoice::Kind::kHost) {
    is_set = ::setenv("HIP_PORTABLE_BACKEND", "emulated", 1) == 0 &&
             ::setenv("HIPFILE_HIP_LIBRARY", path_of_our_runtime().c_str(), 1) == 0;
  }
  // The fast path is O_DIRECT by nature; the other one asks the descriptor (see Buffers::prepare).
  if (options.direct == Direct::kNever) {
    is_set = ::setenv("HIPFILE_FORCE_COMPAT_MODE", "true", 1) == 0 && is_set;
  }
  return is_set ? Status() : Status::of_errno("cannot set the environment", errno);
}

Status Device::open(const Options& options) {
  if (state_ == State::kOpen) return {};
  if (state_ == State::kFailed) return failure_;
  Status status = bind(options);
  if (status.ok()) status = choose(options);
  state_ = status.ok() ? State::kOpen : State::kFailed;
  failure_ = status;
  if (status.ok()) tell_choice(options);
  return status;
}

Status Device::bind(const Options& options) {
  const auto bound = hipfile::gpu::bind();
  if (!bound.ok()) {
    return Status::failure("cannot use a GPU runtime: " + hipfile::gpu::bind_failure());
  }
  runtime_ = bound.value();
  is_automatic_ = options.gpu.kind == GpuChoice::Kind::kAuto;
  return {};
}

Status Device::choose(const Options& options) {
  int count = 0;
  hipError_t error = hip().Init(0);
  if (error == hipSuccess) error = hip().GetDeviceCount(&count);
  if (error == hipSuccess && count == 0) error = hipErrorNoDevice;
  if (error != hipSuccess) return Status::failure("cannot use a GPU: " + error_name(error));
  ordinals_ = options.gpu.devices;
  if (ordinals_.empty()) ordinals_.push_back(0);
  for (int ordinal : ordinals_) {
    error = ordinal < count ? hip().SetDevice(ordinal) : hipErrorInvalidDevice;
    if (error != hipSuccess) {
      return Status::failure("cannot use GPU " + std::to_string(ordinal) + ": " +
                             error_name(error));
    }
  }
  const auto ask = hip().PortableDeviceIsEmulated;
  is_emulated_ = ask != nullptr && ask(ordinals_[0]) == 1;
  return {};
}

std::string Device::unusable_gpu() const {
  struct Driver {
    const char* node;
    const char* name;
  };
  // /dev/kfd and /dev/nvidia0 are there for cards only, not for a driver alone.
  for (const Driver& driver : {Driver{"/dev/kfd", "AMD"}, Driver{"/dev/nvidia0", "NVIDIA"},
                               Driver{"/dev/dxg", "NVIDIA"}}) {
    if (::access(driver.node, F_OK) != 0) continue;
    const int fd = ::open(driver.node, O_RDWR | O_CLOEXEC);
    const int error = fd < 0 ? errno : 0;
    if (fd >= 0) ::close(fd);
    std::string reason;
    if (error != 0) {
      reason = std::string(driver.node) + ": " + std::strerror(error);
    } else if (std::strcmp(driver.name, "AMD") == 0) {
      reason = hipfile::gpu::describe_binding();
    } else if (hip().PortablePassedOver != nullptr) {
      reason = "its driver: " + error_name(hip().PortablePassedOver());
    }
    return std::string("the ") + driver.name + " GPU cannot be used (" + reason + ")";
  }
  const auto passed_over = hip().PortablePassedOver;
  const hipError_t error = passed_over != nullptr ? passed_over() : hipSuccess;
  if (error == hipSuccess || error == hipErrorNoDevice) return {};
  return "the NVIDIA GPU cannot be used (its driver: " + error_name(error) + ")";
}

void Device::tell_choice(const Options& options) const {
  if (!is_automatic_ || !is_emulated_) return;
  const char* wish = std::getenv("HIP_PORTABLE_BACKEND");
  if (wish != nullptr && std::strcmp(wish, "emulated") == 0) return;  // asked for, not met
  const std::string reason = unusable_gpu();
  if (!reason.empty()) {
    complain(reason + "; going through an emulated device in main memory");
  } else if (options.is_verbose || ::isatty(STDERR_FILENO) == 1) {
    complain("no GPU; going through an emulated device in main memory");
  }
}

size_t Device::memory_budget() const {
  return (is_emulated_ && is_automatic_ ? 32 : 256) * kMiB;
}

std::string Device::describe() const {
  char name[256] = "unknown device";
  (void)hip().DeviceGetName(name, sizeof name, ordinals_[0]);
  return std::string(name) + (is_emulated_ ? " (emulated)" : "");
}

std::string Device::error_name(hipError_t error) const {
  const char* name = hip().GetErrorName(error);
  return name != nullptr ? name : "HIP error " + std::to_string(static_cast<int>(error));
}

}  // namespace aiscp
