#include "results/samples.h"

#include <cstring>

namespace results {
namespace {
constexpr size_t kPairBytes = 2 * sizeof(double) + 1;
}  // namespace

std::vector<char> pack(const std::vector<verifier::Pair>& pairs) {
  std::vector<char> bytes(pairs.size() * kPairBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    char* at = bytes.data() + i * kPairBytes;
    std::memcpy(at, &pairs[i].candidate_us, sizeof(double));
    std::memcpy(at + sizeof(double), &pairs[i].incumbent_us, sizeof(double));
    at[2 * sizeof(double)] = pairs[i].candidate_first ? 1 : 0;
  }
  return bytes;
}

std::vector<verifier::Pair> unpack(const std::vector<char>& bytes) {
  std::vector<verifier::Pair> pairs(bytes.size() / kPairBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const char* at = bytes.data() + i * kPairBytes;
    std::memcpy(&pairs[i].candidate_us, at, sizeof(double));
    std::memcpy(&pairs[i].incumbent_us, at + sizeof(double), sizeof(double));
    pairs[i].candidate_first = at[2 * sizeof(double)] != 0;
  }
  return pairs;
}

}  // namespace results
