#include "verifier/poison.h"

#include <algorithm>
#include <cstring>

#include "verifier/keys.h"

namespace verifier {
namespace {
constexpr size_t kWord = sizeof(uint64_t);
constexpr int64_t kLeastRunOfBytes = 4;

// Calls visit(offset, poison bytes, count) word by word.
template <typename Visit>
void for_each_word(size_t size, uint64_t key, Visit visit) {
  Keys keys(key);
  for (size_t at = 0; at < size; at += kWord) {
    const uint64_t word = keys.next();
    std::byte poison[kWord];
    std::memcpy(poison, &word, kWord);
    visit(at, poison, std::min(kWord, size - at));
  }
}
}  // namespace

void fill_poison(std::span<std::byte> bytes, uint64_t key) {
  for_each_word(bytes.size(), key,
                [&](size_t at, const std::byte* poison, size_t n) { std::memcpy(bytes.data() + at, poison, n); });
}

Survivors find_poison(std::span<const std::byte> bytes, size_t element_bytes, uint64_t key) {
  Survivors survivors;
  int64_t run = 0;
  const auto end_run = [&](int64_t next_index) {
    if (run > 0 && (element_bytes > 1 || run >= kLeastRunOfBytes)) {
      if (survivors.count == 0) survivors.first = next_index - run;
      survivors.count += run;
    }
    run = 0;
  };
  const size_t step = std::min(element_bytes, kWord);
  for_each_word(bytes.size(), key, [&](size_t at, const std::byte* poison, size_t n) {
    for (size_t k = 0; k + step <= n; k += step) {
      const bool same = std::memcmp(bytes.data() + at + k, poison + k, step) == 0;
      if (same) {
        ++run;
      } else {
        end_run(static_cast<int64_t>((at + k) / step));
      }
    }
  });
  end_run(static_cast<int64_t>(bytes.size() / step));
  return survivors;
}

bool untouched(std::span<const std::byte> bytes, uint64_t key) {
  bool same = true;
  for_each_word(bytes.size(), key, [&](size_t at, const std::byte* poison, size_t n) {
    same = same && std::memcmp(bytes.data() + at, poison, n) == 0;
  });
  return same;
}

}  // namespace verifier
