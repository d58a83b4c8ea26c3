#include "sandbox/cpu/memory/global_writes.h"

#include <algorithm>

namespace sandbox::cpu::memory {

void GlobalWrites::begin_launch(const std::vector<size_t>& writable_bytes, bool overlaps_previous) {
  stamps_.resize(std::max(stamps_.size(), writable_bytes.size()));
  for (size_t i = 0; i < writable_bytes.size(); ++i) {
    const size_t pairs = writable_bytes[i] / 2 + 1;
    if (stamps_[i].size() < pairs) stamps_[i].resize(pairs);
  }
  const Launch last{first_, last_segment_ + 1};
  first_ = last.end;
  if (!waits_) behind_wait_ = at_begin_;
  if (waits_first_) at_begin_ = behind_wait_;
  at_begin_.push_back(last);
  if (!overlaps_previous) {
    at_begin_.clear();
    behind_wait_.clear();
  }
  waits_ = waits_first_ = false;
  owners_.clear();
  published_.clear();
  new_segment(0);
}

uint32_t GlobalWrites::new_segment(uint32_t cluster) {
  owners_.push_back(cluster);
  published_.push_back(false);
  return ++last_segment_;
}

void GlobalWrites::begin_clusters(size_t count) {
  clusters_.resize(count);
  for (Cluster& cluster : clusters_) {
    cluster = Cluster{};
    cluster.number = ++last_cluster_;
    cluster.segment = new_segment(cluster.number);
  }
  running_ = clusters_.data();
}

void GlobalWrites::fence() {
  if (!running_->wrote) return;
  running_->closed.push_back(running_->segment);
  running_->segment = new_segment(running_->number);
  running_->wrote = false;
}

void GlobalWrites::observe(Kind by) {
  running_->observed = true;
  running_->used_atomics = running_->used_atomics || by == Kind::atomic;
}

uint32_t GlobalWrites::stamp_of(Kind kind, bool behind_fence) const {
  if (kind == Kind::atomic) return first_ * 2;
  return running_->segment * 2 + (kind == Kind::plain && !behind_fence ? 1 : 0);
}

void GlobalWrites::write(const Place& place, Kind kind, bool behind_fence) {
  for (const uint32_t segment : running_->closed) published_[segment - first_] = true;
  running_->closed.clear();
  running_->wrote = true;
  const uint32_t stamp = stamp_of(kind, behind_fence);
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
    return !(running_->observed && is_published(stamp)) && (kind == Kind::plain || loose);
  });
}

bool GlobalWrites::overwrites_others(const Place& place) const {
  return !running_->used_atomics && any(place, [&](uint32_t stamp) { return is_of_others(stamp); });
}

void GlobalWrites::wait_for_previous(bool first) {
  waits_ = true;
  waits_first_ = waits_first_ || first;
}

bool GlobalWrites::is_of_unfinished_launch(const Place& place, bool has_waited) const {
  return std::ranges::any_of(has_waited ? behind_wait_ : at_begin_, [&](const Launch& launch) {
    return any(place, [&](uint32_t stamp) { return stamp / 2 > launch.first && stamp / 2 < launch.end; });
  });
}

bool GlobalWrites::is_of_this_launch(const Place& place) const {
  return any(place, [&](uint32_t stamp) { return stamp / 2 >= first_; });
}

}  // namespace sandbox::cpu::memory
