// SPDX-License-Identifier: MIT
// Every combination of unaligned sizes and offsets moves exactly the bytes asked for: all others,
// in the buffer and in the file, are guarded.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kValues[] = {0, 1, 511, 512, 513, 4095, 4096, 4097};
constexpr size_t kSpace = 16384;     // of the buffer
constexpr size_t kFileSize = 10007;  // ends inside a block

class UnalignedTest : public IoTest {
 protected:
  // Calls `body(size, file_offset, buffer_offset)` for the whole matrix. Kinds that share their
  // path with another get a thinner one.
  template <typename Body>
  void for_each_combination(Body body) {
    const bool is_whole = kind() == MemoryKind::kDevice || kind() == MemoryKind::kHost;
    for (size_t size : kValues) {
      for (size_t file_offset : kValues) {
        for (size_t buffer_offset : kValues) {
          if (!is_whole && (size + file_offset + buffer_offset) % 3 != 0) continue;
          body(size, file_offset, buffer_offset);
          if (HasFailure()) return;
        }
      }
    }
  }
};

TEST_P(UnalignedTest, EveryReadMovesExactlyTheBytesAskedFor) {
  RegisteredFile f(file("f"), kFileSize, 1, O_RDWR | direct_flag());
  Buffer buffer(kSpace, kind());
  for_each_combination([&](size_t size, size_t file_offset, size_t buffer_offset) {
    buffer.fill(0xee);
    const ssize_t n = hipFileRead(f.handle(), buffer.data(), size, static_cast<hoff_t>(file_offset),
                                  static_cast<hoff_t>(buffer_offset));
    const size_t expected_count = std::min(size, kFileSize - file_offset);
    std::vector<uint8_t> expected(kSpace, 0xee);
    fill_pattern(expected.data() + buffer_offset, expected_count, 1, file_offset);
    ASSERT_EQ(static_cast<ssize_t>(expected_count), n)
        << size << " bytes at " << file_offset << " to " << buffer_offset;
    ASSERT_EQ("", first_difference(buffer.get(), expected))
        << size << " bytes at " << file_offset << " to " << buffer_offset;
  });
}

TEST_P(UnalignedTest, EveryReadAcrossTheEndIsShort) {
  RegisteredFile f(file("f"), kFileSize, 1, O_RDWR | direct_flag());
  Buffer buffer(kSpace, kind());
  for_each_combination([&](size_t size, size_t before_end, size_t buffer_offset) {
    const size_t file_offset = kFileSize - before_end;
    buffer.fill(0xee);
    const ssize_t n = hipFileRead(f.handle(), buffer.data(), size, static_cast<hoff_t>(file_offset),
                                  static_cast<hoff_t>(buffer_offset));
    const size_t expected_count = std::min(size, before_end);
    std::vector<uint8_t> expected(kSpace, 0xee);
    fill_pattern(expected.data() + buffer_offset, expected_count, 1, file_offset);
    ASSERT_EQ(static_cast<ssize_t>(expected_count), n)
        << size << " bytes at " << file_offset << " to " << buffer_offset;
    ASSERT_EQ("", first_difference(buffer.get(), expected))
        << size << " bytes at " << file_offset << " to " << buffer_offset;
  });
}

TEST_P(UnalignedTest, EveryWriteMovesExactlyTheBytesAskedFor) {
  RegisteredFile f(file("f"), kFileSize, 1, O_RDWR | direct_flag());
  Fd plain(f.path(), O_RDWR);
  const std::vector<uint8_t> original = make_pattern(kFileSize, 1);
  Buffer buffer(kSpace, kind());
  buffer.set(make_pattern(kSpace, 2));
  for_each_combination([&](size_t size, size_t file_offset, size_t buffer_offset) {
    ASSERT_EQ(static_cast<ssize_t>(kFileSize),
              ::pwrite(plain.get(), original.data(), kFileSize, 0));
    const ssize_t n =
        hipFileWrite(f.handle(), buffer.data(), size, static_cast<hoff_t>(file_offset),
                     static_cast<hoff_t>(buffer_offset));
    std::vector<uint8_t> expected = original;
    fill_pattern(expected.data() + file_offset, size, 2, buffer_offset);
    ASSERT_EQ(static_cast<ssize_t>(size), n)
        << size << " bytes to " << file_offset << " from " << buffer_offset;
    ASSERT_EQ("", first_difference(read_file(f.path()), expected))
        << size << " bytes to " << file_offset << " from " << buffer_offset;
  });
}

TEST_P(UnalignedTest, EveryWriteAcrossTheEndExtendsExactly) {
  RegisteredFile f(file("f"), kFileSize, 1, O_RDWR | direct_flag());
  Fd plain(f.path(), O_RDWR);
  const std::vector<uint8_t> original = make_pattern(kFileSize, 1);
  Buffer buffer(kSpace, kind());
  buffer.set(make_pattern(kSpace, 2));
  for_each_combination([&](size_t size, size_t step, size_t buffer_offset) {
    const size_t file_offset = kFileSize - 4096 + 2 * step;  // before, at and past the end
    ASSERT_EQ(static_cast<ssize_t>(kFileSize),
              ::pwrite(plain.get(), original.data(), kFileSize, 0));
    ASSERT_EQ(0, ::ftruncate(plain.get(), kFileSize));
    const ssize_t n =
        hipFileWrite(f.handle(), buffer.data(), size, static_cast<hoff_t>(file_offset),
                     static_cast<hoff_t>(buffer_offset));
    std::vector<uint8_t> expected = original;
    if (size > 0) expected.resize(std::max(kFileSize, file_offset + size));
    if (size > 0) fill_pattern(expected.data() + file_offset, size, 2, buffer_offset);
    ASSERT_EQ(static_cast<ssize_t>(size), n)
        << size << " bytes to " << file_offset << " from " << buffer_offset;
    ASSERT_EQ("", first_difference(read_file(f.path()), expected))
        << size << " bytes to " << file_offset << " from " << buffer_offset;
  });
}

TEST_P(UnalignedTest, LargeRequestsWithUnalignedEnds) {
  const size_t size = (20 << 20) + 1234;
  RegisteredFile f(file("f"), size + 20000, 1, O_RDWR | direct_flag());
  Buffer buffer(size + 20000, kind());
  const std::pair<size_t, size_t> offsets[] = {{1, 3}, {512, 0}, {4095, 4097}, {4096, 512}};
  for (const auto& [file_offset, buffer_offset] : offsets) {
    const size_t n = size - file_offset;
    const auto at = static_cast<hoff_t>(file_offset);
    const auto to = static_cast<hoff_t>(buffer_offset);
    buffer.fill(0xee);
    ASSERT_EQ(static_cast<ssize_t>(n), hipFileRead(f.handle(), buffer.data(), n, at, to));
    std::vector<uint8_t> expected(size + 20000, 0xee);
    fill_pattern(expected.data() + buffer_offset, n, 1, file_offset);
    ASSERT_EQ("", first_difference(buffer.get(), expected));
    ASSERT_EQ(static_cast<ssize_t>(n), hipFileWrite(f.handle(), buffer.data(), n, at, to));
  }
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(size + 20000, 1)));
}

INSTANTIATE_TEST_SUITE_P(, UnalignedTest, kEveryIo, io_param_name);

}  // namespace
}  // namespace hipfile::test
