#include "core/hash.h"

#include <gtest/gtest.h>

namespace core {
namespace {

TEST(Hash, OfAFileIsWhatSha256sumPrints) {
  EXPECT_EQ(file_sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(file_sha256_hex("abc"), sha256_hex("abc"));
}

TEST(Hash, KeepsFieldsApart) { EXPECT_NE(Hasher().field("ab", "c").hex(), Hasher().field("a", "bc").hex()); }

}  // namespace
}  // namespace core
