#include "verifier/draws/poison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "verifier/statistics/keys.h"

namespace verifier::draws {
namespace {
using Bytes = std::vector<std::byte>;

Bytes poisoned(size_t size, uint64_t key) {
  Bytes bytes(size);
  fill_poison(bytes, key);
  return bytes;
}
// Overwrites elements [begin, end) as a kernel would, with something else than the poison.
void write(Bytes& bytes, size_t element_bytes, size_t begin, size_t end) {
  for (size_t i = begin * element_bytes; i < end * element_bytes; ++i) bytes[i] = ~bytes[i];
}

constexpr uint64_t kNaNs = uint64_t{2} << 62, kPlausible = uint64_t{3} << 62;
constexpr uint64_t kKinds[] = {0, uint64_t{1} << 62, kNaNs, kPlausible};

float float_at(const Bytes& bytes, size_t index) {
  float value = 0;
  std::memcpy(&value, &bytes[4 * index], 4);
  return value;
}

TEST(Poison, VariesWithItsKeyAndRepeatsWithIt) {
  for (const uint64_t kind : kKinds) {
    EXPECT_EQ(poisoned(1001, kind + 5), poisoned(1001, kind + 5));
    EXPECT_NE(poisoned(1001, kind + 5), poisoned(1001, kind + 6));
  }
}

TEST(Poison, IsOfTheKindThatItsKeyNames) {
  const Bytes nans = poisoned(4096, kNaNs + 1), plausible = poisoned(4096, kPlausible + 1);
  for (size_t i = 0; i < 1024; ++i) {
    EXPECT_FALSE(std::isfinite(float_at(nans, i))) << i;
    EXPECT_GE(float_at(plausible, i), 1) << i;
    EXPECT_LT(float_at(plausible, i), 2) << i;
  }
}

TEST(Poison, NothingWrittenIsAllLeft) {
  for (const uint64_t kind : kKinds) {
    for (const size_t element : {1, 2, 4, 8}) {
      const Bytes bytes = poisoned(1000 * element, kind + 9);
      const Survivors left = find_poison(bytes, element, kind + 9);
      EXPECT_EQ(left.count, 1000) << element;
      EXPECT_EQ(left.first, 0) << element;
    }
  }
}

TEST(Poison, AllWrittenIsNoneLeft) {
  for (const size_t element : {1, 2, 4, 8}) {
    Bytes bytes = poisoned(1000 * element, 9);
    write(bytes, element, 0, 1000);
    EXPECT_EQ(find_poison(bytes, element, 9).count, 0) << element;
  }
}

TEST(Poison, ALostTileIsLocated) {
  for (const size_t element : {1, 2, 4, 8}) {
    Bytes bytes = poisoned(1000 * element, 11);
    write(bytes, element, 0, 601);
    write(bytes, element, 633, 1000);
    const Survivors left = find_poison(bytes, element, 11);
    EXPECT_EQ(left.count, 32) << element;
    EXPECT_EQ(left.first, 601) << element;
  }
}

TEST(Poison, OneLostFloatOfASmallOutputIsSeen) {
  Bytes bytes = poisoned(4 * 257, 3);
  write(bytes, 4, 0, 256);
  EXPECT_EQ(find_poison(bytes, 4, 3).count, 1);
  EXPECT_EQ(find_poison(bytes, 4, 3).first, 256);
}

// A million f16 outputs agree with their poison in about 15 places, and none of it may be held against the kernel.
TEST(Poison, ChanceAgreementIsNoSurvivor) {
  for (const size_t element : {1, 2, 4}) {
    Bytes bytes(element << 20);
    statistics::Keys keys(element);
    int64_t agreeing = 0;
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(keys.next());
    const Bytes poison = poisoned(bytes.size(), 17);
    for (size_t i = 0; i < bytes.size(); i += element) {
      agreeing += std::equal(&bytes[i], &bytes[i] + element, &poison[i]);
    }
    EXPECT_EQ(agreeing > 0, element < 4);
    EXPECT_EQ(find_poison(bytes, element, 17).count, 0) << element;
  }
}

// Numbers that look like the poison itself: from 1 to 2, as many results are.
TEST(Poison, ResultsThatLookLikeItAreNoSurvivors) {
  for (const uint64_t key : {uint64_t{1}, uint64_t{2}, uint64_t{3}}) {
    const Bytes results = poisoned(4 << 20, kPlausible + key);
    EXPECT_EQ(find_poison(results, 4, kPlausible + key + 3).count, 0);
    for (size_t begin = 0; begin < results.size(); begin += 4096) {  // as small outputs
      const std::span<const std::byte> small(results.data() + begin, 4096);
      EXPECT_EQ(find_poison(small, 4, kPlausible + begin).count, 0);
    }
  }
}

TEST(Poison, OneChangedByteOfSlackIsSeen) {
  for (const size_t size : {1, 7, 8, 9, 4096}) {
    for (const size_t at : {size_t{0}, size / 2, size - 1}) {
      Bytes bytes = poisoned(size, 21);
      EXPECT_TRUE(untouched(bytes, 21));
      bytes[at] ^= std::byte{1};
      EXPECT_FALSE(untouched(bytes, 21)) << size << " " << at;
    }
  }
  EXPECT_TRUE(untouched({}, 21));
}

}  // namespace
}  // namespace verifier::draws
