// SPDX-License-Identifier: MIT
// The limits of a process: descriptors, file sizes, addresses, processors, and a system of which
// parts are not mounted. No crash, no hang, no wrong byte; what cannot be done says so.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "apart.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kSize = 3 << 20;
constexpr int kDegraded = 3;  // exit status: right, but not all that could be had was had

class LimitsTest : public ApartTest {
 protected:
  static void set_limit(int resource, size_t most) {
    const rlimit limit = {most, RLIM_INFINITY};
    ASSERT_EQ(0, ::setrlimit(static_cast<__rlimit_resource>(resource), &limit));
  }

  void expect_round_trip() {
    const RegisteredFile f(file("f"), kSize, 1);
    for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kHost}) {
      const auto seed = static_cast<uint64_t>(kind) + 5;
      expect_writes(f.handle(), kSize, seed, kind);
      expect_reads(f.handle(), kSize, seed, kind);
      EXPECT_EQ("", first_difference(read_file(file("f")), make_pattern(kSize, seed)));
    }
  }
};

// One run with room for `extra` descriptors more than are open.
void run_with_descriptors(const std::string& path, size_t extra) {
  const Fd fd(path, O_RDWR);
  rlimit limit = {};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &limit));
  limit.rlim_cur = static_cast<rlim_t>(fd.get()) + 1 + extra;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &limit));
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t handle = nullptr;
  const hipFileError_t error = hipFileHandleRegister(&handle, &descr);
  if (extra == 0) {  // no room for the duplicate
    EXPECT_EQ(hipFileGetNewFDFailed, error.err);
    ::_exit(testing::Test::HasFailure() ? 1 : kDegraded);
  }
  ASSERT_EQ(hipFileSuccess, error.err) << "a registration failed for want of more than one";
  Buffer buffer(kSize);
  ASSERT_EQ(static_cast<ssize_t>(kSize), hipFileRead(handle, buffer.data(), kSize, 0, 0))
      << strerror(errno);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(kSize, 1)));
  ASSERT_EQ(static_cast<ssize_t>(kSize), hipFileWrite(handle, buffer.data(), kSize, 0, 0))
      << strerror(errno);
  EXPECT_EQ(1000, hipFileRead(handle, buffer.data(), 1000, 3, 1)) << strerror(errno);
  const hipFileExtViewReason_t view = info_of(handle).view;
  const bool has_view = view == hipFileExtViewOk || view == hipFileExtViewNotSupported;
  const bool has_all = has_view && std::string(hipFileExtEngine(nullptr)) == "uring";
  hipFileHandleDeregister(handle);
  close_library();
  if (!has_all && !testing::Test::HasFailure()) ::_exit(kDegraded);
}

TEST_F(LimitsTest, Rule18_RegistrationNeedsOneDescriptorAndIoNoMore) {
  if (is_on_nvidia()) GTEST_SKIP() << "NVIDIA's driver needs more";
  write_file(file("f"), make_pattern(kSize, 1));
  for (const char* compat : {"false", "true"}) {
    size_t extra = 0;
    for (int status = kDegraded; status == kDegraded && extra < 64; ++extra) {
      status = run_apart([&] {
        ::setenv("HIPFILE_FORCE_COMPAT_MODE", compat, 1);
        run_with_descriptors(file("f"), extra);
      });
      EXPECT_TRUE(status == 0 || status == kDegraded)
          << "status " << status << " with " << extra << " descriptors";
    }
    EXPECT_LE(2u, extra);
    EXPECT_GT(64u, extra) << "no run was untouched";
  }
}

// As pwrite(2): bytes up to the limit, then EFBIG.
TEST_F(LimitsTest, FileSizeLimitGivesAShortCountThenEfbig) {
  for (const size_t most : {size_t{1} << 20, (size_t{1} << 20) + 100}) {
    for (const char* compat : {"false", "true"}) {
      for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinned}) {
        EXPECT_APART([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          ::setenv("HIPFILE_FORCE_COMPAT_MODE", compat, 1);
          const Fd fd(file("f"), O_RDWR | O_CREAT | O_TRUNC | direct_flag_of(dir_.path()));
          const hipFileHandle_t handle = register_fd(fd.get());
          Buffer buffer(kSize, kind);
          buffer.set(make_pattern(kSize, 1));
          set_limit(RLIMIT_FSIZE, most);
          const ssize_t n = hipFileWrite(handle, buffer.data(), kSize, 0, 0);
          ASSERT_LT(0, n) << strerror(errno);
          ASSERT_GE(static_cast<ssize_t>(most), n);
          const auto count = static_cast<size_t>(n);
          std::vector<uint8_t> written = read_file(file("f"));
          ASSERT_LE(count, written.size());
          written.resize(count);
          EXPECT_EQ("", first_difference(written, make_pattern(count, 1)));
          EXPECT_ERRNO(EFBIG, hipFileWrite(handle, buffer.data(), 4096,
                                           static_cast<hoff_t>((most + 4095) / 4096 * 4096), 0));
        });
      }
    }
  }
}

size_t mapped_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages;
  return pages * 4096;
}

// Memory or an error that says so; with enough, all works.
TEST_F(LimitsTest, SmallAddressSpaceWorksOrSaysThatItIsFull) {
  if (is_on_nvidia()) GTEST_SKIP() << "NVIDIA's driver needs more";
  for (const size_t mebibytes : {4, 16, 64, 128, 256, 1024}) {
    EXPECT_APART([&] {
      write_file(file("f"), make_pattern(kSize, 1));
      const Fd fd(file("f"), O_RDWR);
      set_limit(RLIMIT_AS, mapped_bytes() + (mebibytes << 20));
      void* device = nullptr;
      const hipError_t error = hipMalloc(&device, kSize);
      if (error != hipSuccess) {
        EXPECT_EQ(hipErrorOutOfMemory, error);
        EXPECT_GE(256u, mebibytes) << "that should have been enough";
        return;
      }
      hipFileDescr_t descr = describe(fd.get());
      hipFileHandle_t handle = nullptr;
      if (hipFileHandleRegister(&handle, &descr).err != hipFileSuccess) {
        EXPECT_GE(64u, mebibytes);
        return;
      }
      const ssize_t n = hipFileRead(handle, device, kSize, 0, 0);
      const int error_number = errno;
      set_limit(RLIMIT_AS, RLIM_INFINITY);  // what is checked needs memory of its own
      if (n < 0) {
        EXPECT_GE(256u, mebibytes) << strerror(error_number);
        return;
      }
      std::vector<uint8_t> bytes(static_cast<size_t>(n));
      EXPECT_EQ(hipSuccess, hipMemcpy(bytes.data(), device, bytes.size(), hipMemcpyDeviceToHost));
      EXPECT_EQ("", first_difference(bytes, make_pattern(bytes.size(), 1)));
    });
  }
}

TEST_F(LimitsTest, OneProcessorIsEnough) {
  for (const char* engine : {"uring", "threads"}) {
    for (const char* compat : {"false", "true"}) {
      EXPECT_APART([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
        ASSERT_EQ(0, ::sched_setaffinity(0, sizeof one, &one));
        ::setenv("HIPFILE_ENGINE", engine, 1);
        ::setenv("HIPFILE_FORCE_COMPAT_MODE", compat, 1);
        expect_round_trip();
      });
    }
  }
}

TEST_F(LimitsTest, SystemWithoutSysOrProcOrEitherWorks) {
  if (is_on_nvidia()) GTEST_SKIP() << "NVIDIA's driver needs more";
  for (const auto& hidden :
       std::vector<std::vector<std::string>>{{"/sys"}, {"/proc"}, {"/sys", "/proc"}}) {
    EXPECT_APART([&] {
      ASSERT_TRUE(enter_private_mounts());
      for (const std::string& place : hidden) ASSERT_TRUE(hide(place)) << place;
      expect_round_trip();
    });
  }
}

}  // namespace
}  // namespace hipfile::test
