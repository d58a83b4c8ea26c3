#include "verifier/draws/poison.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "verifier/formulas/poison_word.h"

namespace verifier::draws {
namespace {
constexpr size_t kWord = sizeof(uint64_t);
constexpr int kBitsAgainstChance = 20;  // a run by chance in one of 2^20 calls

// Calls visit(offset, poison bytes, count) word by word.
template <typename Visit>
void for_each_word(size_t size, uint64_t key, Visit visit) {
  for (size_t at = 0; at < size; at += kWord) {
    const uint64_t word = formulas::poison_word(key, static_cast<int64_t>(at / kWord));
    std::byte poison[kWord];
    std::memcpy(poison, &word, kWord);
    visit(at, poison, std::min(kWord, size - at));
  }
}

template <typename Element>
Survivors find(std::span<const std::byte> bytes, uint64_t key) {
  const int64_t least = least_run(sizeof(Element), bytes.size() / sizeof(Element), key);
  Survivors survivors;
  int64_t run = 0;
  const auto end_run = [&](size_t next_index) {
    if (run >= least) {
      if (survivors.count == 0) survivors.first = static_cast<int64_t>(next_index) - run;
      survivors.count += run;
    }
    run = 0;
  };
  for_each_word(bytes.size(), key, [&](size_t at, const std::byte* poison, size_t n) {
    if (n == kWord && run == 0) {
      uint64_t here = 0, there = 0;
      std::memcpy(&here, bytes.data() + at, kWord);
      std::memcpy(&there, poison, kWord);
      if (!formulas::any_agrees<Element>(here, there)) return;
    }
    for (size_t k = 0; k + sizeof(Element) <= n; k += sizeof(Element)) {
      if (std::memcmp(bytes.data() + at + k, poison + k, sizeof(Element)) == 0) {
        ++run;
      } else {
        end_run((at + k) / sizeof(Element));
      }
    }
  });
  end_run(bytes.size() / sizeof(Element));
  return survivors;
}
}  // namespace

int64_t least_run(size_t element_bytes, size_t elements, uint64_t key) {
  const double random_bits = 8 * static_cast<double>(element_bytes) * formulas::poison_kind(key).random_share;
  return static_cast<int64_t>(
      std::ceil((static_cast<int>(std::bit_width(elements)) + kBitsAgainstChance) / random_bits));
}

void fill_poison(std::span<std::byte> bytes, uint64_t key) {
  for_each_word(bytes.size(), key,
                [&](size_t at, const std::byte* poison, size_t n) { std::memcpy(bytes.data() + at, poison, n); });
}

Survivors find_poison(std::span<const std::byte> bytes, size_t element_bytes, uint64_t key) {
  switch (element_bytes) {
    case 1:
      return find<uint8_t>(bytes, key);
    case 2:
      return find<uint16_t>(bytes, key);
    case 4:
      return find<uint32_t>(bytes, key);
    default:
      return find<uint64_t>(bytes, key);
  }
}

bool untouched(std::span<const std::byte> bytes, uint64_t key) {
  bool same = true;
  for_each_word(bytes.size(), key, [&](size_t at, const std::byte* poison, size_t n) {
    same = same && std::memcmp(bytes.data() + at, poison, n) == 0;
  });
  return same;
}

}  // namespace verifier::draws
