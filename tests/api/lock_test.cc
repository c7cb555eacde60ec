// SPDX-License-Identifier: MIT
//
// Rule 30: once a thread is warm, small requests take no lock of the library, whatever way they
// go. This program has the lock functions of libc in front of libc's, and counts the calls that
// come from the library; those of the runtime are its own affair.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "api_fixture.h"

namespace {

std::atomic<uintptr_t> g_begin{0}, g_end{0};  // where the library is mapped
std::atomic<uint64_t> g_locks{0};

int find_range(dl_phdr_info* info, size_t, void* base) {
  if (reinterpret_cast<void*>(info->dlpi_addr) != base) return 0;
  uintptr_t end = 0;
  for (int at = 0; at < info->dlpi_phnum; ++at) {
    const ElfW(Phdr)& part = info->dlpi_phdr[at];
    if (part.p_type == PT_LOAD) end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  g_begin = info->dlpi_addr;
  g_end = end;
  return 1;
}

void note(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (address >= g_begin && address < g_end) ++g_locks;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// IN_FRONT(name, parameters, arguments)
#define IN_FRONT(name, parameters, arguments)                                     \
  extern "C" __attribute__((visibility("default"))) int name parameters noexcept( \
      noexcept(name arguments)) { /* as the header declares it */                 \
    static std::atomic<int(*) parameters> real{nullptr};                          \
    if (real.load() == nullptr) real = next<int(*) parameters>(#name);            \
    note(__builtin_return_address(0));                                            \
    return real.load() arguments;                                                 \
  }

IN_FRONT(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
IN_FRONT(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
IN_FRONT(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
IN_FRONT(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
IN_FRONT(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
IN_FRONT(pthread_once, (pthread_once_t * once, void (*function)()), (once, function))

namespace hipfile::test {
namespace {

constexpr int kRequests = 1000;
constexpr size_t kSize = 16384;

class LockTest : public ApiTest, public testing::WithParamInterface<MemoryKind> {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    Dl_info info{};
    ASSERT_NE(0, ::dladdr(reinterpret_cast<void*>(&hipFileRead), &info));
    ASSERT_EQ(1, ::dl_iterate_phdr(&find_range, info.dli_fbase));
  }

  // Locks taken by `call` in a thousand turns, after one to warm up.
  template <typename Call>
  static uint64_t locks_of(Call call) {
    call();
    const uint64_t before = g_locks;
    for (int turn = 0; turn < kRequests; ++turn) call();
    return g_locks - before;
  }
};

TEST_P(LockTest, Rule30_WarmThreadTakesNoLock) {
  RegisteredFile f(file("f"), kSize, 1, O_RDWR | direct_flag_of(dir_.path()));
  Buffer buffer(kSize, GetParam());
  const auto read = [&](size_t size, hoff_t offset) {
    EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(f.handle(), buffer.data(), size, offset, 0));
  };
  const auto write = [&](size_t size, hoff_t offset) {
    EXPECT_EQ(static_cast<ssize_t>(size), hipFileWrite(f.handle(), buffer.data(), size, offset, 0));
  };
  for (const char* state : {"unregistered", "registered"}) {
    if (state == std::string("registered")) {
      EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), kSize, 0));
    }
    EXPECT_EQ(0u, locks_of([&] { read(4096, 4096); })) << state << " aligned read";
    EXPECT_EQ(0u, locks_of([&] { read(1001, 77); })) << state << " unaligned read";
    EXPECT_EQ(0u, locks_of([&] { write(4096, 4096); })) << state << " aligned write";
    EXPECT_EQ(0u, locks_of([&] { write(1001, 77); })) << state << " unaligned write";
  }
}

TEST_F(LockTest, LocksOfTheLibraryAreSeen) {
  EXPECT_EQ(uint64_t{kRequests}, locks_of([] { (void)hipFileDriverOpen().err; }));
}

INSTANTIATE_TEST_SUITE_P(, LockTest,
                         testing::Values(MemoryKind::kDevice, MemoryKind::kPinned,
                                         MemoryKind::kManaged, MemoryKind::kHost),
                         [](const auto& kind) { return memory_kind_name(kind.param); });

}  // namespace
}  // namespace hipfile::test
