// SPDX-License-Identifier: MIT
// hipfile_ext.h: which path a request would take, and why not another.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "api_fixture.h"
#include "modes.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

namespace hipfile::test {
namespace {

class ExtensionTest : public ApiTest {
 protected:
  hipFileExtPath_t query(hipFileHandle_t handle, const void* base, size_t size, hoff_t file_offset,
                         hoff_t buffer_offset, hipFileOpcode_t opcode = hipFileBatchRead) {
    hipFileExtPath_t path{};
    EXPECT_CODE(hipFileSuccess,
                hipFileExtQueryPath(handle, base, size, file_offset, buffer_offset, opcode, &path));
    return path;
  }
  static bool is_forced_compat() {
    const char* value = std::getenv("HIPFILE_FORCE_COMPAT_MODE");
    return value != nullptr && std::strcmp(value, "true") == 0;
  }
  // The file lies on a file system whose direct I/O the fast path takes.
  bool is_direct(hipFileHandle_t handle) {
    hipFileExtFileInfo_t info{};
    EXPECT_CODE(hipFileSuccess, hipFileExtGetFileInfo(handle, &info));
    return info.offset_alignment != 0 && info.reads_direct == 1;
  }
  // Out of the page cache.
  static void drop(const RegisteredFile& f) {
    const Fd fd(f.path(), O_RDWR);
    EXPECT_EQ(0, ::fsync(fd.get()));
    EXPECT_EQ(0, ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED));
  }
};

TEST_F(ExtensionTest, AlignedDeviceRequestTakesTheFastpathOrNamesWhyNot) {
  RegisteredFile f(file("f"), 65536, 1);
  drop(f);
  Buffer buffer(65536);
  const hipFileExtPath_t path = query(f.handle(), buffer.data(), 65536, 0, 0);
  EXPECT_EQ(hipFileExtRefusalNotHostMemory, path.refusals[hipFileExtBackendHost]);
  EXPECT_EQ(hipFileExtRefusalNone, path.refusals[hipFileExtBackendBounce]);
  if (is_forced_compat()) {
    EXPECT_EQ(hipFileExtBackendBounce, path.backend);
    EXPECT_EQ(hipFileExtRefusalForcedCompat, path.refusals[hipFileExtBackendFastpath]);
  } else if (path.backend == hipFileExtBackendFastpath) {
    EXPECT_EQ(hipFileExtRefusalNone, path.refusals[hipFileExtBackendFastpath]);
    EXPECT_EQ(hipFileExtCachingDirect, path.caching);
    EXPECT_EQ(65536u, path.direct_bytes);
  } else {
    EXPECT_EQ(hipFileExtBackendBounce, path.backend);
    const hipFileExtRefusal_t why = path.refusals[hipFileExtBackendFastpath];
    EXPECT_TRUE(why == hipFileExtRefusalNoDirectView || why == hipFileExtRefusalFileSystem ||
                why == hipFileExtRefusalRuntimeLacksDirect)
        << hipFileExtRefusalName(why);
  }
}

TEST_F(ExtensionTest, FastpathOfTheEmulatedDeviceReadsFromTheCacheWhatIsThere) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  if (query(f.handle(), buffer.data(), 65536, 0, 0).backend != hipFileExtBackendFastpath) {
    GTEST_SKIP() << "no fast path here";
  }
  const bool can_ask = ::syscall(SYS_cachestat, -1, nullptr, nullptr, 0) != -1 || errno != ENOSYS;
  const bool asks = can_ask && !has_kernel_rules();
  const hipFileExtPath_t warm = query(f.handle(), buffer.data(), 65536, 0, 0);
  EXPECT_EQ(asks ? hipFileExtCachingCache : hipFileExtCachingDirect, warm.caching);
  EXPECT_EQ(asks ? 0u : 65536u, warm.direct_bytes);
  drop(f);
  const hipFileExtPath_t cold = query(f.handle(), buffer.data(), 65536, 0, 0);
  EXPECT_EQ(hipFileExtCachingDirect, cold.caching);
  EXPECT_EQ(65536u, cold.direct_bytes);
}

TEST_F(ExtensionTest, UnalignedRequestsNameTheirRefusal) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  if (is_forced_compat() || !is_direct(f.handle()) ||
      query(f.handle(), buffer.data(), 4096, 0, 0).backend != hipFileExtBackendFastpath) {
    return;  // the fast path is refused before alignment is looked at
  }
  const auto refusal = [&](size_t size, hoff_t file_offset, hoff_t buffer_offset) {
    return query(f.handle(), buffer.data(), size, file_offset, buffer_offset)
        .refusals[hipFileExtBackendFastpath];
  };
  EXPECT_EQ(hipFileExtRefusalUnalignedFileOffset, refusal(4096, 100, 0));
  EXPECT_EQ(hipFileExtRefusalUnalignedSize, refusal(100, 0, 0));
  EXPECT_EQ(hipFileExtRefusalUnalignedMemory, refusal(4096, 0, 3));
  EXPECT_EQ(hipFileExtBackendBounce, query(f.handle(), buffer.data(), 100, 0, 0).backend);
}

TEST_F(ExtensionTest, HostMemoryTakesTheHostBackend) {
  RegisteredFile f(file("f"), 65536, 1);
  for (MemoryKind kind : {MemoryKind::kHost, MemoryKind::kPinned, MemoryKind::kManaged}) {
    Buffer buffer(65536, kind);
    const hipFileExtPath_t path = query(f.handle(), buffer.data(), 65536, 0, 0);
    EXPECT_EQ(hipFileExtBackendHost, path.backend) << memory_kind_name(kind);
    EXPECT_EQ(hipFileExtRefusalNone, path.refusals[hipFileExtBackendHost]);
    if (!is_forced_compat()) {
      EXPECT_EQ(hipFileExtRefusalNotDeviceMemory, path.refusals[hipFileExtBackendFastpath]);
    }
  }
}

TEST_F(ExtensionTest, QueryMovesNoData) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  buffer.fill(0xee);
  query(f.handle(), buffer.data(), 65536, 0, 0, hipFileBatchRead);
  query(f.handle(), buffer.data(), 65536, 65536, 0, hipFileBatchWrite);
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(65536, 0xee)));
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(65536, 1)));
}

TEST_F(ExtensionTest, QueryRefusesBadArguments) {
  RegisteredFile f(file("f"), 4096, 1);
  Buffer buffer(4096);
  hipFileExtPath_t path{};
  const auto code = [&](hipFileHandle_t handle, const void* base, size_t size, hoff_t file_offset,
                        hoff_t buffer_offset) {
    return hipFileExtQueryPath(handle, base, size, file_offset, buffer_offset, hipFileBatchRead,
                               &path)
        .err;
  };
  EXPECT_EQ(hipFileHandleNotRegistered, code(nullptr, buffer.data(), 4096, 0, 0));
  EXPECT_EQ(hipFileInvalidValue, code(f.handle(), nullptr, 4096, 0, 0));
  EXPECT_EQ(hipFileInvalidValue, code(f.handle(), buffer.data(), 4096, -1, 0));
  EXPECT_EQ(hipFileInvalidValue, code(f.handle(), buffer.data(), 4096, 0, -1));
  EXPECT_EQ(hipFileInvalidValue, code(f.handle(), buffer.data(), 4097, 0, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileExtQueryPath(f.handle(), buffer.data(), 4096, 0, 0,
                                                       hipFileBatchRead, nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileExtQueryPath(f.handle(), buffer.data(), 4096, 0, 0,
                                                       static_cast<hipFileOpcode_t>(7), &path));
  close_library();
  EXPECT_EQ(hipFileInvalidValue, code(f.handle(), buffer.data(), 4096, 0, 0));
}

TEST_F(ExtensionTest, FileInfoGivesAlignmentsOrAReason) {
  RegisteredFile f(file("f"), 4096, 1);
  hipFileExtFileInfo_t info{};
  EXPECT_CODE(hipFileSuccess, hipFileExtGetFileInfo(f.handle(), &info));
  if (info.reads_direct == 1) {
    EXPECT_EQ(hipFileExtViewOk, info.view);
  }
  if (info.offset_alignment != 0) {
    EXPECT_EQ(0u, info.write_alignment % info.offset_alignment);
    EXPECT_EQ(0u, info.memory_alignment & (info.memory_alignment - 1));
  }
  EXPECT_CODE(hipFileInvalidValue, hipFileExtGetFileInfo(f.handle(), nullptr));
  EXPECT_CODE(hipFileHandleNotRegistered, hipFileExtGetFileInfo(nullptr, &info));
}

TEST_F(ExtensionTest, FileInfoOfAPipeNamesTheFileType) {
  int ends[2];
  ASSERT_EQ(0, ::pipe2(ends, O_CLOEXEC));
  Fd reader(ends[0]), writer(ends[1]);
  hipFileExtFileInfo_t info{};
  EXPECT_CODE(hipFileSuccess, hipFileExtGetFileInfo(register_fd(reader.get()), &info));
  EXPECT_EQ(hipFileExtViewFileType, info.view);
}

TEST_F(ExtensionTest, NamesAreConstantAndDistinct) {
  std::set<std::string> backends, refusals, reasons;
  for (int i = 0; i < hipFileExtBackendCount; ++i) {
    backends.insert(hipFileExtBackendName(static_cast<hipFileExtBackend_t>(i)));
  }
  for (int i = 0; i < hipFileExtRefusalCount; ++i) {
    refusals.insert(hipFileExtRefusalName(static_cast<hipFileExtRefusal_t>(i)));
  }
  for (int i = 0; i <= hipFileExtViewOther; ++i) {
    reasons.insert(hipFileExtViewReasonName(static_cast<hipFileExtViewReason_t>(i)));
  }
  EXPECT_EQ(static_cast<size_t>(hipFileExtBackendCount), backends.size());
  EXPECT_EQ(static_cast<size_t>(hipFileExtRefusalCount), refusals.size());
  EXPECT_EQ(static_cast<size_t>(hipFileExtViewOther) + 1, reasons.size());
  EXPECT_NE(nullptr, hipFileExtBackendName(static_cast<hipFileExtBackend_t>(99)));
  EXPECT_NE(nullptr, hipFileExtRefusalName(static_cast<hipFileExtRefusal_t>(-5)));
  EXPECT_NE(nullptr, hipFileExtViewReasonName(static_cast<hipFileExtViewReason_t>(99)));
}

TEST_F(ExtensionTest, EngineIsTheOneAskedFor) {
  const char* reason = nullptr;
  const std::string engine = hipFileExtEngine(&reason);
  ASSERT_NE(nullptr, reason);
  EXPECT_STRNE("", reason);
  EXPECT_EQ(engine, hipFileExtEngine(nullptr));
  const char* wanted = std::getenv("HIPFILE_ENGINE");
  if (wanted != nullptr) {
    EXPECT_EQ(wanted, engine) << reason;
  } else {
    EXPECT_TRUE(engine == "uring" || engine == "threads") << engine;
  }
}

}  // namespace
}  // namespace hipfile::test
