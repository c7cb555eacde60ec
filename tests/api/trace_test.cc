// SPDX-License-Identifier: MIT
// The dispatch table: every exported function goes through it, a profiler gets it at the first
// call, and ranges are drawn where they are asked for. The program runs beside stand-ins of
// rocprofiler-register, rocTX and NVTX (fake_profiler.cc), or alone: then nothing is found.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hipfile-api-trace.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "fake_profiler.h"

namespace hipfile::test {
namespace {

using Table = hipFileDispatchTable;

// Every member, in the order of the table.
constexpr auto kMembers = std::make_tuple(
    &Table::pfn_hipfile_get_op_error_string, &Table::pfn_hipfile_handle_register,
    &Table::pfn_hipfile_handle_deregister, &Table::pfn_hipfile_buf_register,
    &Table::pfn_hipfile_buf_deregister, &Table::pfn_hipfile_read, &Table::pfn_hipfile_write,
    &Table::pfn_hipfile_driver_open, &Table::pfn_hipfile_driver_close,
    &Table::pfn_hipfile_use_count, &Table::pfn_hipfile_driver_get_properties,
    &Table::pfn_hipfile_driver_set_poll_mode, &Table::pfn_hipfile_driver_set_max_direct_io_size,
    &Table::pfn_hipfile_driver_set_max_cache_size,
    &Table::pfn_hipfile_driver_set_max_pinned_mem_size, &Table::pfn_hipfile_batch_io_set_up,
    &Table::pfn_hipfile_batch_io_submit, &Table::pfn_hipfile_batch_io_get_status,
    &Table::pfn_hipfile_batch_io_cancel, &Table::pfn_hipfile_batch_io_destroy,
    &Table::pfn_hipfile_read_async, &Table::pfn_hipfile_write_async,
    &Table::pfn_hipfile_stream_register, &Table::pfn_hipfile_stream_deregister,
    &Table::pfn_hipfile_get_version, &Table::pfn_hipfile_get_parameter_size_t,
    &Table::pfn_hipfile_get_parameter_bool, &Table::pfn_hipfile_get_parameter_string,
    &Table::pfn_hipfile_set_parameter_size_t, &Table::pfn_hipfile_set_parameter_bool,
    &Table::pfn_hipfile_set_parameter_string, &Table::pfn_hipfile_get_stats_l1,
    &Table::pfn_hipfile_get_stats_l2, &Table::pfn_hipfile_get_stats_l3);
constexpr size_t kCount = std::tuple_size_v<decltype(kMembers)>;

int g_calls[kCount];

// A function of the type of member `Index` that counts its calls and does nothing else.
template <size_t Index, class Pointer>
struct Counting;
template <size_t Index, class Result, class... Arguments>
struct Counting<Index, Result (*)(Arguments...)> {
  static Result call(Arguments...) {
    ++g_calls[Index];
    return Result();
  }
};

template <class Visit, size_t... Index>
void for_each_member(Visit&& visit, std::index_sequence<Index...>) {
  (visit(std::integral_constant<size_t, Index>()), ...);
}
template <class Visit>
void for_each_member(Visit&& visit) {
  for_each_member(visit, std::make_index_sequence<kCount>());
}

void call_everything() {
  (void)hipFileGetOpErrorString(hipFileSuccess);
  (void)hipFileHandleRegister(nullptr, nullptr);
  (void)hipFileHandleDeregister(nullptr);
  (void)hipFileBufRegister(nullptr, 0, 0);
  (void)hipFileBufDeregister(nullptr);
  (void)hipFileRead(nullptr, nullptr, 0, 0, 0);
  (void)hipFileWrite(nullptr, nullptr, 0, 0, 0);
  (void)hipFileDriverOpen();
  (void)hipFileDriverClose();
  (void)hipFileUseCount();
  (void)hipFileDriverGetProperties(nullptr);
  (void)hipFileDriverSetPollMode(false, 0);
  (void)hipFileDriverSetMaxDirectIOSize(0);
  (void)hipFileDriverSetMaxCacheSize(0);
  (void)hipFileDriverSetMaxPinnedMemSize(0);
  (void)hipFileBatchIOSetUp(nullptr, 0);
  (void)hipFileBatchIOSubmit(nullptr, 0, nullptr, 0);
  (void)hipFileBatchIOGetStatus(nullptr, 0, nullptr, nullptr, nullptr);
  (void)hipFileBatchIOCancel(nullptr);
  (void)hipFileBatchIODestroy(nullptr);
  (void)hipFileReadAsync(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  (void)hipFileWriteAsync(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  (void)hipFileStreamRegister(nullptr, 0);
  (void)hipFileStreamDeregister(nullptr);
  (void)hipFileGetVersion(nullptr, nullptr, nullptr);
  (void)hipFileGetParameterSizeT(hipFileParamProfileStats, nullptr);
  (void)hipFileGetParameterBool(hipFileParamProfileNvtx, nullptr);
  (void)hipFileGetParameterString(hipFileParamLogDir, nullptr, 0);
  (void)hipFileSetParameterSizeT(hipFileParamProfileStats, 0);
  (void)hipFileSetParameterBool(hipFileParamProfileNvtx, false);
  (void)hipFileSetParameterString(hipFileParamLogDir, nullptr);
  (void)hipFileGetStatsL1(nullptr);
  (void)hipFileGetStatsL2(nullptr);
  (void)hipFileGetStatsL3(nullptr);
}

// The first calls of the process come from many threads at once.
class FirstCalls : public testing::Environment {
  void SetUp() override {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        ready.fetch_add(1);
        while (ready.load() < 16) std::this_thread::yield();
        EXPECT_EQ(hipFileSuccess, hipFileGetVersion(nullptr, nullptr, nullptr).err);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};
const testing::Environment* const g_first_calls = testing::AddGlobalTestEnvironment(new FirstCalls);

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    unsigned major = 0;
    ASSERT_EQ(hipFileSuccess, hipFileGetVersion(&major, nullptr, nullptr).err);
    fake_ = find_fake_profiler();
    if (fake_ == nullptr) GTEST_SKIP() << "no profiler beside this run";
  }
  FakeProfiler* fake_ = nullptr;
};

TEST(TraceAloneTest, CallsWorkWithAndWithoutAProfiler) {
  unsigned minor = 0;
  EXPECT_EQ(hipFileSuccess, hipFileGetVersion(nullptr, &minor, nullptr).err);
  EXPECT_EQ(unsigned{HIPFILE_VERSION_MINOR}, minor);
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(TraceTest, RegistersOnceWithNameAndVersion) {
  EXPECT_EQ(1, fake_->registrations);
  EXPECT_STREQ("hipFile", fake_->name);
  const unsigned version =
      10000 * HIPFILE_VERSION_MAJOR + 100 * HIPFILE_VERSION_MINOR + HIPFILE_VERSION_PATCH;
  EXPECT_EQ(version, fake_->version);
  EXPECT_EQ(1u, fake_->table_count);
  ASSERT_NE(nullptr, fake_->import);
  EXPECT_EQ(version, fake_->import());
  void* const import = dlsym(RTLD_DEFAULT, "rocprofiler_register_import_hipFile");
  EXPECT_EQ(import, reinterpret_cast<void*>(fake_->import));
}

TEST_F(TraceTest, TableIsCompleteAndSaysItsSize) {
  EXPECT_EQ(sizeof(Table), fake_->table->size);
  for_each_member([this](auto index) {
    EXPECT_NE(nullptr, fake_->table->*std::get<index>(kMembers)) << index;
  });
}

TEST_F(TraceTest, ProfilerMayCallTheLibraryWhileItRegisters) {
  EXPECT_EQ(hipFileSuccess, fake_->answer_inside);
}

TEST_F(TraceTest, EachExportedFunctionCallsItsEntryAndNoOther) {
  const Table before = *fake_->table;
  for_each_member([this](auto index) {
    auto& entry = fake_->table->*std::get<index>(kMembers);
    entry = &Counting<index, std::remove_reference_t<decltype(entry)>>::call;
  });
  call_everything();
  *fake_->table = before;
  for (size_t index = 0; index < kCount; ++index) EXPECT_EQ(1, g_calls[index]) << index;
}

TEST_F(TraceTest, ReplacedEntryMayCallTheOneBefore) {
  static PfnHipFileGetVersion real = fake_->table->pfn_hipfile_get_version;
  fake_->table->pfn_hipfile_get_version = [](unsigned* major, unsigned* minor, unsigned* patch) {
    const hipFileError_t result = real(major, minor, patch);
    *patch = 77;
    return result;
  };
  unsigned minor = 0, patch = 0;
  EXPECT_EQ(hipFileSuccess, hipFileGetVersion(nullptr, &minor, &patch).err);
  EXPECT_EQ(unsigned{HIPFILE_VERSION_MINOR}, minor);
  EXPECT_EQ(77u, patch);
  fake_->table->pfn_hipfile_get_version = real;
}

TEST_F(TraceTest, CallingThroughTheTableEqualsCallingDirectly) {
  EXPECT_STREQ(hipFileGetOpErrorString(hipFileBatchFull),
               fake_->table->pfn_hipfile_get_op_error_string(hipFileBatchFull));
  EXPECT_EQ(hipFileUseCount(), fake_->table->pfn_hipfile_use_count());
  errno = 0;
  EXPECT_EQ(-1, fake_->table->pfn_hipfile_read(nullptr, nullptr, 0, 0, 0));
  EXPECT_EQ(EINVAL, errno);
}

class RangesTest : public TraceTest {
 protected:
  void TearDown() override { (void)hipFileDriverClose(); }

  // Makes one call; how many ranges each library saw around it.
  int ranges_around_a_call() {
    for (FakeRanges* ranges : {&fake_->roctx, &fake_->nvtx, &fake_->injected}) {
      *ranges = FakeRanges();
    }
    errno = 0;
    EXPECT_LT(hipFileRead(nullptr, nullptr, 0, -1, 0), 0);
    EXPECT_NE(EXDEV, errno) << "a range changed errno";
    const bool is_injected = std::getenv("NVTX_INJECTION64_PATH") != nullptr;
    EXPECT_EQ(0, (is_injected ? fake_->nvtx : fake_->injected).pushes) << "not twice";
    for (const FakeRanges& ranges : {fake_->roctx, is_injected ? fake_->injected : fake_->nvtx}) {
      EXPECT_EQ(fake_->roctx.pushes, ranges.pushes);
      EXPECT_EQ(fake_->roctx.pushes, ranges.pops);
      EXPECT_STREQ(ranges.pushes ? "hipFileRead" : "", ranges.last);
    }
    return fake_->roctx.pushes;
  }
  // What the environment of this run asks for.
  static int by_environment() {
    const char* text = std::getenv("HIPFILE_PROFILE_NVTX");
    return text != nullptr && std::strcmp(text, "true") == 0 ? 1 : 0;
  }
};

TEST_F(RangesTest, EnvironmentHoldsFromTheFirstOpenOn) {
  ASSERT_EQ(hipFileSuccess, hipFileDriverOpen().err);
  EXPECT_EQ(by_environment(), ranges_around_a_call());
}

TEST_F(RangesTest, ParameterHoldsWhileTheLibraryIsOpen) {
  for (const bool is_on : {true, false}) {
    ASSERT_EQ(hipFileSuccess, hipFileSetParameterBool(hipFileParamProfileNvtx, is_on).err);
    ASSERT_EQ(hipFileSuccess, hipFileDriverOpen().err);
    EXPECT_EQ(is_on ? 1 : 0, ranges_around_a_call());
    ASSERT_EQ(hipFileSuccess, hipFileDriverClose().err);
    EXPECT_EQ(by_environment(), ranges_around_a_call());
  }
}

TEST_F(RangesTest, ErrnoOfACallSurvivesTheRange) {
  ASSERT_EQ(hipFileSuccess, hipFileSetParameterBool(hipFileParamProfileNvtx, true).err);
  ASSERT_EQ(hipFileSuccess, hipFileDriverOpen().err);
  ASSERT_EQ(hipFileSuccess, hipFileDriverClose().err);
  ASSERT_EQ(hipFileSuccess, hipFileSetParameterBool(hipFileParamProfileNvtx, true).err);
  ASSERT_EQ(hipFileSuccess, hipFileDriverOpen().err);
  hipFileDescr_t descr = {};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = ::open("/dev/null", O_RDWR);
  hipFileHandle_t handle = nullptr;
  ASSERT_EQ(hipFileSuccess, hipFileHandleRegister(&handle, &descr).err);
  char byte = 0;
  errno = 0;
  EXPECT_EQ(-1, hipFileRead(handle, &byte, 1, -1, 0));
  EXPECT_EQ(EINVAL, errno);
  hipFileHandleDeregister(handle);
  ::close(descr.handle.fd);
}

}  // namespace
}  // namespace hipfile::test
