#include "sandbox/cpu/runtime/global_writes.h"

#include <algorithm>
#include <utility>

namespace sandbox::cpu::runtime {

void GlobalWrites::begin_launch(const std::vector<Buffer>& buffers) {
  stamps_.resize(std::max(stamps_.size(), buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    const size_t pairs = buffers[i].writable ? buffers[i].bytes / 2 + 1 : 0;
    if (stamps_[i].size() < pairs) stamps_[i].resize(pairs);
  }
  first_of_last_ = std::exchange(first_, segment_ + 1);
  published_.clear();
}

void GlobalWrites::begin_block() {
  first_of_block_ = unpublished_ = ++segment_;
  wrote_ = observed_ = used_atomics_ = false;
}

void GlobalWrites::fence() {
  if (!wrote_) return;
  ++segment_;
  wrote_ = false;
}

void GlobalWrites::observe(Kind by) {
  observed_ = true;
  used_atomics_ = used_atomics_ || by == Kind::atomic;
}

uint32_t GlobalWrites::stamp_of(Kind kind) const {
  if (kind == Kind::atomic) return 0;
  const bool loose = kind == Kind::plain && segment_ == first_of_block_;
  return segment_ * 2 + (loose ? 1 : 0);
}

void GlobalWrites::publish() {
  if (published_.size() < segment_ - first_) published_.resize(segment_ - first_);
  for (; unpublished_ < segment_; ++unpublished_) published_[unpublished_ - first_] = true;
}

void GlobalWrites::write(const Place& place, Kind kind) {
  if (unpublished_ < segment_) publish();
  wrote_ = true;
  const uint32_t stamp = stamp_of(kind);
  std::vector<uint32_t>& stamps = stamps_[place.buffer];
  const size_t end = place.offset + place.bytes;
  for (size_t at = place.offset; at < end;) {
    uint32_t& pair = stamps[at / 2];
    const bool whole = at % 2 == 0 && end - at >= 2;
    if (whole && (pair & kSplit) == 0) {
      pair = stamp;
      at += 2;
      continue;
    }
    if ((pair & kSplit) == 0) {
      bytes_.push_back({pair, pair});
      pair = kSplit | static_cast<uint32_t>(bytes_.size() - 1);
    }
    bytes_[pair & ~kSplit][at % 2] = stamp;
    ++at;
  }
}

template <typename IsBad>
bool GlobalWrites::any(const Place& place, IsBad is_bad) const {
  const std::vector<uint32_t>& stamps = stamps_[place.buffer];
  const size_t end = place.offset + place.bytes;
  for (size_t at = place.offset; at < end; ++at) {
    const uint32_t pair = stamps[at / 2];
    const bool split = (pair & kSplit) != 0;
    if (is_bad(split ? bytes_[pair & ~kSplit][at % 2] : pair)) return true;
    if (!split) at |= 1;  // the other byte has the same stamp
  }
  return false;
}

bool GlobalWrites::may_read(const Place& place, Kind kind) const {
  return !any(place, [&](uint32_t stamp) {
    if (!is_of_others(stamp)) return false;
    const bool loose = stamp % 2 != 0;
    return !(observed_ && is_published(stamp)) && (kind == Kind::plain || loose);
  });
}

bool GlobalWrites::overwrites_others(const Place& place) const {
  return !used_atomics_ && any(place, [&](uint32_t stamp) { return is_of_others(stamp); });
}

bool GlobalWrites::is_of_last_launch(const Place& place) const {
  return any(place, [&](uint32_t stamp) { return stamp / 2 >= first_of_last_ && stamp / 2 < first_; });
}

}  // namespace sandbox::cpu::runtime
