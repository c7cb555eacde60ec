// SPDX-License-Identifier: MIT
//
// The table, and its registration with rocprofiler-register, which is looked for at run time and
// never linked: in the process first, then by its name.
#include "api/trace.h"

#include <dlfcn.h>

#include "api/entry.h"

#define HIPFILE_ROCP_REG_VERSION_MAJOR HIPFILE_VERSION_MAJOR
#define HIPFILE_ROCP_REG_VERSION_MINOR HIPFILE_VERSION_MINOR
#define HIPFILE_ROCP_REG_VERSION_PATCH HIPFILE_VERSION_PATCH

namespace {

// rocprofiler-register's way to write a version.
constexpr uint32_t kVersion = 10000 * HIPFILE_ROCP_REG_VERSION_MAJOR +
                              100 * HIPFILE_ROCP_REG_VERSION_MINOR + HIPFILE_ROCP_REG_VERSION_PATCH;

// rocprofiler_register_library_api_table() and its types.
using Import = uint32_t (*)();
struct RegisteredLibrary {
  uint64_t handle;
};
using Register = int (*)(const char* name, Import import, uint32_t version, void** tables,
                         uint64_t table_count, RegisteredLibrary* id);

Register find_register() {
  constexpr const char* kName = "rocprofiler_register_library_api_table";
  void* found = dlsym(RTLD_DEFAULT, kName);
  for (const char* file : {"librocprofiler-register.so.0", "librocprofiler-register.so"}) {
    if (found != nullptr) break;
    void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library != nullptr) found = dlsym(library, kName);
  }
  return reinterpret_cast<Register>(found);
}

}  // namespace

// By this symbol rocprofiler-register tells which library calls it, and in which version.
extern "C" HIPFILE_API uint32_t rocprofiler_register_import_hipFile(void);
uint32_t rocprofiler_register_import_hipFile(void) { return kVersion; }

namespace hipfile::trace {
namespace {
std::atomic_flag g_is_announced;
}

hipFileDispatchTable g_table = {
    sizeof(hipFileDispatchTable),
    &entry::get_op_error_string,
    &entry::handle_register,
    &entry::handle_deregister,
    &entry::buf_register,
    &entry::buf_deregister,
    &entry::read,
    &entry::write,
    &entry::driver_open,
    &entry::driver_close,
    &entry::use_count,
    &entry::driver_get_properties,
    &entry::driver_set_poll_mode,
    &entry::driver_set_max_direct_io_size,
    &entry::driver_set_max_cache_size,
    &entry::driver_set_max_pinned_mem_size,
    &entry::batch_io_set_up,
    &entry::batch_io_submit,
    &entry::batch_io_get_status,
    &entry::batch_io_cancel,
    &entry::batch_io_destroy,
    &entry::read_async,
    &entry::write_async,
    &entry::stream_register,
    &entry::stream_deregister,
    &entry::get_version,
    &entry::get_parameter_size_t,
    &entry::get_parameter_bool,
    &entry::get_parameter_string,
    &entry::set_parameter_size_t,
    &entry::set_parameter_bool,
    &entry::set_parameter_string,
    &entry::get_stats_l1,
    &entry::get_stats_l2,
    &entry::get_stats_l3,
};

void announce() {
  if (g_is_announced.test_and_set(std::memory_order_relaxed)) return;
  if (const Register register_table = find_register()) {
    void* table = &g_table;
    RegisteredLibrary id = {0};
    (void)register_table("hipFile", &rocprofiler_register_import_hipFile, kVersion, &table, 1, &id);
  }
  g_attention.fetch_and(~uint32_t{kUnannounced}, std::memory_order_release);
}

}  // namespace hipfile::trace
