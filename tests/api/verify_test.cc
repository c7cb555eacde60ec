// SPDX-License-Identifier: MIT
// Data that a program changes between a read and a write arrive exactly, and nothing beside them
// changes, in sizes around the pieces that a transfer is cut into.
#include <algorithm>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kPiece = 16 << 20;

class VerifyTest : public ApiTest, public testing::WithParamInterface<size_t> {
 protected:
  // Twice every byte, as a kernel would make it.
  static std::vector<uint8_t> doubled(std::vector<uint8_t> bytes) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte * 2);
    return bytes;
  }
};

TEST_P(VerifyTest, DoubledDataArriveAndSlackStaysUntouched) {
  const size_t size = GetParam();
  const size_t whole = size + 2 * kPage;
  RegisteredFile from(file("from"), whole, 1, O_RDONLY | direct_flag_of(dir_.path()));
  RegisteredFile to(file("to"), whole, 2, O_RDWR | direct_flag_of(dir_.path()));
  Buffer buffer(whole);
  buffer.fill(0xee);
  const auto count = static_cast<ssize_t>(size);
  ASSERT_EQ(count, hipFileRead(from.handle(), buffer.data(), size, kPage, kPage));
  const std::vector<uint8_t> guard(kPage, 0xee);
  EXPECT_EQ("", first_difference(buffer.get(0, kPage), guard));
  EXPECT_EQ("", first_difference(buffer.get(kPage + size, kPage), guard));
  buffer.set(doubled(buffer.get(kPage, size)), kPage);
  ASSERT_EQ(count, hipFileWrite(to.handle(), buffer.data(), size, kPage, kPage));

  std::vector<uint8_t> expected = make_pattern(whole, 2);
  const std::vector<uint8_t> middle = doubled(make_pattern(size, 1, kPage));
  std::copy(middle.begin(), middle.end(), expected.begin() + kPage);
  EXPECT_EQ("", first_difference(read_file(to.path()), expected));
  EXPECT_EQ("", first_difference(read_file(from.path()), make_pattern(whole, 1)));
}

TEST_P(VerifyTest, FileGrowsByAppendHoleAndOverwrite) {
  const size_t size = GetParam();
  const auto count = static_cast<ssize_t>(size);
  const auto offset = [&](size_t parts) { return static_cast<hoff_t>(parts * size); };
  RegisteredFile f(file("f"), 0, 0, O_RDWR | direct_flag_of(dir_.path()));
  Buffer buffer(size);
  buffer.set(make_pattern(size, 1));
  ASSERT_EQ(count, hipFileWrite(f.handle(), buffer.data(), size, 0, 0));
  ASSERT_EQ(count, hipFileWrite(f.handle(), buffer.data(), size, offset(1), 0));
  ASSERT_EQ(count, hipFileWrite(f.handle(), buffer.data(), size, offset(3), 0));
  buffer.set(make_pattern(size, 2));
  ASSERT_EQ(count, hipFileWrite(f.handle(), buffer.data(), size, offset(1), 0));
  std::vector<uint8_t> expected(4 * size);
  fill_pattern(expected.data(), size, 1);
  fill_pattern(expected.data() + size, size, 2);
  fill_pattern(expected.data() + 3 * size, size, 1);
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

INSTANTIATE_TEST_SUITE_P(, VerifyTest,
                         testing::Values(kPage, kPiece - kPage, kPiece, kPiece + kPage, 2 * kPiece),
                         [](const auto& size) { return std::to_string(size.param); });

}  // namespace
}  // namespace hipfile::test
