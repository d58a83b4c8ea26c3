#include "results/archive/samples.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace results::archive {
namespace {
constexpr size_t kPairBytes = 2 * sizeof(double) + 1;
constexpr size_t kClockBytes = 2 * sizeof(float) + 1;

bool clock_known(const verifier::statistics::Pair& pair) {
  return pair.candidate_mhz != 0 || pair.incumbent_mhz != 0 || pair.throttled;
}
}  // namespace

std::vector<char> pack(const std::vector<verifier::statistics::Pair>& pairs) {
  std::vector<char> bytes(pairs.size() * kPairBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    char* at = bytes.data() + i * kPairBytes;
    std::memcpy(at, &pairs[i].candidate_us, sizeof(double));
    std::memcpy(at + sizeof(double), &pairs[i].incumbent_us, sizeof(double));
    at[2 * sizeof(double)] = pairs[i].candidate_first ? 1 : 0;
  }
  return bytes;
}

std::vector<char> pack_clocks(const std::vector<verifier::statistics::Pair>& pairs) {
  if (std::none_of(pairs.begin(), pairs.end(), clock_known)) return {};
  std::vector<char> bytes(pairs.size() * kClockBytes);
  for (size_t i = 0; i < pairs.size(); ++i) {
    char* at = bytes.data() + i * kClockBytes;
    std::memcpy(at, &pairs[i].candidate_mhz, sizeof(float));
    std::memcpy(at + sizeof(float), &pairs[i].incumbent_mhz, sizeof(float));
    at[2 * sizeof(float)] = pairs[i].throttled ? 1 : 0;
  }
  return bytes;
}

std::vector<verifier::statistics::Pair> unpack(const std::vector<char>& bytes, const std::vector<char>& clocks) {
  std::vector<verifier::statistics::Pair> pairs(bytes.size() / kPairBytes);
  if (!clocks.empty() && clocks.size() != pairs.size() * kClockBytes) {
    throw core::SystemError("the archive holds clocks that do not fit their samples");
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    const char* at = bytes.data() + i * kPairBytes;
    std::memcpy(&pairs[i].candidate_us, at, sizeof(double));
    std::memcpy(&pairs[i].incumbent_us, at + sizeof(double), sizeof(double));
    pairs[i].candidate_first = at[2 * sizeof(double)] != 0;
    if (clocks.empty()) continue;
    at = clocks.data() + i * kClockBytes;
    std::memcpy(&pairs[i].candidate_mhz, at, sizeof(float));
    std::memcpy(&pairs[i].incumbent_mhz, at + sizeof(float), sizeof(float));
    pairs[i].throttled = at[2 * sizeof(float)] != 0;
  }
  return pairs;
}

}  // namespace results::archive
