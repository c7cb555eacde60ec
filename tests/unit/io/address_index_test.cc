// SPDX-License-Identifier: MIT
#include "driver/address_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace hipfile {
namespace {

const void* address(uint64_t number) {
  return reinterpret_cast<const void*>(static_cast<uintptr_t>(number));
}

TEST(AddressIndex, NullIsNeverThereEvenAfterAnErase) {
  AddressIndex index;
  ASSERT_TRUE(index.insert(address(4096), 7));
  index.erase(address(4096));
  EXPECT_EQ(index.find(nullptr), 0u);
  EXPECT_EQ(index.find(address(4096)), 0u);
}

TEST(AddressIndex, AgreesWithAMapOverRandomChanges) {
  AddressIndex index;
  std::map<uint64_t, uint64_t> model;
  std::mt19937_64 random(1);
  for (uint64_t step = 1; step < 50000; ++step) {
    const uint64_t key = (random() % 700 + 1) * 4096;
    if (model.count(key) != 0) {
      index.erase(address(key));
      model.erase(key);
    } else {
      ASSERT_TRUE(index.insert(address(key), step));
      model[key] = step;
    }
    const uint64_t other = (random() % 700 + 1) * 4096;
    const auto expected = model.find(other);
    ASSERT_EQ(index.find(address(other)), expected == model.end() ? 0 : expected->second);
  }
}

}  // namespace
}  // namespace hipfile
