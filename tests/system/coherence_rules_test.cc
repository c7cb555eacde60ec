// SPDX-License-Identifier: MIT
// Rule 21: what the library writes is seen by read(2) at once, and what write(2) wrote is seen by
// the library, whatever views, sizes and alignments meet. A model of the file says what is right.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "apart.h"

namespace hipfile::test {
namespace {

constexpr size_t kFileSize = 4 << 20;
constexpr int kSteps = 60;

class CoherenceTest : public ApartTest, public testing::WithParamInterface<IoParam> {
 protected:
  struct Range {
    size_t offset, size;
  };
  // Large and small, on blocks and off them.
  Range any_range() {
    const size_t unit = random_() % 2 == 0 ? 4096 : 1;
    const size_t most = random_() % 4 == 0 ? kFileSize : 65536;
    const size_t size = std::max(unit, random_() % most / unit * unit);
    return {random_() % (kFileSize - size + 1) / unit * unit, size};
  }
  std::vector<uint8_t> expected(const Range& range) const {
    const auto begin = model_.begin() + static_cast<ptrdiff_t>(range.offset);
    return {begin, begin + static_cast<ptrdiff_t>(range.size)};
  }
  void change_model(const Range& range, uint64_t seed) {
    fill_pattern(model_.data() + range.offset, range.size, seed);
  }

  void step(hipFileHandle_t handle, int outside, Buffer& buffer, uint64_t seed) {
    const Range range = any_range();
    const auto size = static_cast<ssize_t>(range.size);
    const auto offset = static_cast<off_t>(range.offset);
    std::vector<uint8_t> bytes(range.size);
    switch (random_() % 4) {
      case 0:
        change_model(range, seed);
        bytes = expected(range);
        ASSERT_EQ(size, ::pwrite(outside, bytes.data(), range.size, offset));
        break;
      case 1:
        change_model(range, seed);
        buffer.set(expected(range));
        ASSERT_EQ(size, hipFileWrite(handle, buffer.data(), range.size, offset, 0));
        break;
      case 2:
        ASSERT_EQ(size, ::pread(outside, bytes.data(), range.size, offset));
        ASSERT_EQ("", first_difference(bytes, expected(range))) << "read from outside";
        break;
      default:
        ASSERT_EQ(size, hipFileRead(handle, buffer.data(), range.size, offset, 0));
        ASSERT_EQ("", first_difference(buffer.get(0, range.size), expected(range)))
            << "read by the library";
    }
  }

  std::mt19937 random_{20};
  std::vector<uint8_t> model_;
};

TEST_P(CoherenceTest, Rule21_WritesOfBothSidesAreSeenByBoth) {
  EXPECT_APART([this] {
    const int direct = std::get<1>(GetParam()) ? direct_flag_of(dir_.path()) : 0;
    model_ = make_pattern(kFileSize, 1);
    const RegisteredFile f(file("f"), kFileSize, 1, O_RDWR | direct);
    const Fd outside(file("f"), O_RDWR);
    Buffer buffer(kFileSize, std::get<0>(GetParam()));
    for (int at = 0; at < kSteps && !HasFailure(); ++at) {
      step(f.handle(), outside.get(), buffer, static_cast<uint64_t>(at) + 2);
    }
    EXPECT_EQ("", first_difference(read_file(file("f")), model_));
  });
}

INSTANTIATE_TEST_SUITE_P(, CoherenceTest,
                         testing::Combine(testing::Values(MemoryKind::kDevice, MemoryKind::kPinned),
                                          testing::Bool()),
                         io_param_name);

}  // namespace
}  // namespace hipfile::test
