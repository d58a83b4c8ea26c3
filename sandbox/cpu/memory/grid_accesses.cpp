#include "sandbox/cpu/memory/grid_accesses.h"

#include <algorithm>

namespace sandbox::cpu::memory {
namespace {
constexpr uint64_t kEveryWarp = 0xffffffff;
uint64_t covering(uint32_t segment, uint64_t warps) { return uint64_t{segment} << 32 | warps; }
uint64_t both(uint64_t a, uint64_t b) { return a >> 32 == b >> 32 ? a | b : std::max(a, b); }
uint64_t place_of(size_t buffer, size_t offset) { return uint64_t{buffer} << 48 | offset; }
}  // namespace

void GridAccesses::begin_launch(const std::vector<size_t>& bytes, int64_t blocks) {
  pages_.resize(std::max(pages_.size(), bytes.size()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t pages = (bytes[i] / 4 + kCellsOfPage) / kCellsOfPage;
    if (pages_[i].size() < pages) pages_[i].resize(pages);
  }
  const auto count = static_cast<size_t>(blocks);
  first_ = ordered_ = next_;
  blocks_.clear();
  segments_.assign(count, 0);
  known_.assign(count, {});
  fenced_.assign(count, nullptr);
  released_.clear();
  elsewhere_ = {};
  for (int64_t block = 0; block < blocks; ++block) begin_segment(block);
}

void GridAccesses::begin_segment(int64_t block) {
  segments_[static_cast<size_t>(block)] = next_++;
  blocks_.push_back(static_cast<int32_t>(block));
}

void GridAccesses::meet(int64_t first, int64_t count) {
  if (count > 1) {
    Known all(segments_.size(), 0);
    for (int64_t block = first; block < first + count; ++block) {
      join(all, known_[static_cast<size_t>(block)]);
      all[static_cast<size_t>(block)] = covering(segments_[static_cast<size_t>(block)], kEveryWarp);
    }
    for (int64_t block = first; block < first + count; ++block) known_[static_cast<size_t>(block)] = all;
  }
  for (int64_t block = first; block < first + count; ++block) begin_segment(block);
}

void GridAccesses::meet_all() {
  ordered_ = next_;
  for (size_t block = 0; block < segments_.size(); ++block) begin_segment(static_cast<int64_t>(block));
}

void GridAccesses::fence(int64_t block, unsigned warp, bool of_block) {
  const auto at = static_cast<size_t>(block);
  Known& known = known_[at];
  known.resize(segments_.size(), 0);
  const uint64_t before = known[at];
  known[at] = both(before, covering(segments_[at], of_block ? kEveryWarp : uint64_t{1} << warp % 32));
  if (fenced_[at] == nullptr || *fenced_[at] != known) fenced_[at] = std::make_shared<const Known>(known);
}

void GridAccesses::join(Known& all, const Known& more) {
  if (all.size() < more.size()) all.resize(more.size(), 0);
  for (size_t i = 0; i < more.size(); ++i) all[i] = both(all[i], more[i]);
}

void GridAccesses::learn(int64_t block, const Known& more) {
  Known& known = known_[static_cast<size_t>(block)];
  const uint64_t own = known.empty() ? 0 : known[static_cast<size_t>(block)];
  join(known, more);
  known[static_cast<size_t>(block)] = own;  // what its fences cover, which others cannot tell it
}

void GridAccesses::acquire(const Access& access) {
  const auto found = released_.find(place_of(access.buffer, access.offset));
  if (found != released_.end()) learn(access.block, *found->second.known);
  if (elsewhere_.known != nullptr) learn(access.block, *elsewhere_.known);
}

void GridAccesses::release(const Access& access) {
  const std::shared_ptr<const Known>& told = fenced_[static_cast<size_t>(access.block)];
  if (told == nullptr) return;
  const uint64_t place = place_of(access.buffer, access.offset);
  const bool full = released_.size() * segments_.size() * sizeof(uint64_t) >= kMostReleased;
  Released& to = full && !released_.contains(place) ? elsewhere_ : released_[place];
  if (to.last == told) return;
  if (to.known == nullptr) {
    to.known = told;
  } else {
    Known all = *to.known;
    join(all, *told);
    to.known = std::make_shared<const Known>(std::move(all));
  }
  to.last = told;
}

bool GridAccesses::is_ordered(const Mark& before, int64_t block) const {
  if (before.segment < ordered_) return true;
  const int64_t of = block_of(before);
  if (of == block) return true;
  const Known& known = known_[static_cast<size_t>(block)];
  if (known.empty()) return false;
  const uint64_t until = known[static_cast<size_t>(of)];
  return before.segment < until >> 32 || (before.segment == until >> 32 && (until >> before.warp & 1) != 0);
}

bool GridAccesses::conflicts(const Mark& before, const Access& now, bool wrote) {
  if (is_ordered(before, now.block) || (before.strong && now.strong)) return false;
  if (wrote && before.fenced && now.strong && !now.writes) {  // a flag that is written plainly
    if (const auto& told = fenced_[static_cast<size_t>(block_of(before))]) learn(now.block, *told);
    return false;
  }
  return true;
}

std::optional<GridAccesses::Conflict> GridAccesses::visit(Cell& cell, const Access& access, const Mark& mine) {
  std::optional<Conflict> found;
  if (conflicts(cell.write, access, true)) found = Conflict{block_of(cell.write), cell.write.site, true};
  if (access.writes) {
    for (const Mark& read : cell.reads) {
      if (!found && conflicts(read, access, false)) found = Conflict{block_of(read), read.site, false};
    }
    cell.write = mine;
    cell.reads = {};
    return found;
  }
  // A read that is ordered makes room; a plain one is not forgotten for a strong one.
  Mark* room = nullptr;
  for (Mark& read : cell.reads) {
    const bool by_me = read.segment >= first_ && block_of(read) == access.block;
    if (by_me && read.segment == mine.segment && mine.strong && !read.strong) return found;
    if (by_me || (room == nullptr && is_ordered(read, access.block))) room = &read;
    if (by_me) break;
  }
  (room != nullptr ? *room : cell.reads[1]) = mine;
  return found;
}

GridAccesses::Cell& GridAccesses::word(size_t buffer, size_t nth) {
  auto& page = pages_[buffer][nth / kCellsOfPage];
  if (page == nullptr) page = std::make_unique<std::array<Cell, kCellsOfPage>>();
  return (*page)[nth % kCellsOfPage];
}

std::optional<GridAccesses::Conflict> GridAccesses::access(const Access& access) {
  if (access.strong && access.reads) acquire(access);
  const Mark mine{segments_[static_cast<size_t>(access.block)], access.site, static_cast<uint8_t>(access.warp % 32),
                  access.strong, fenced_[static_cast<size_t>(access.block)] != nullptr};
  std::optional<Conflict> found;
  const size_t end = access.offset + access.bytes;
  for (size_t at = access.offset; at < end;) {
    Cell& cell = word(access.buffer, at / 4);
    const size_t past = std::min(end, at / 4 * 4 + 4);
    if (cell.split == 0 && past - at < 4) {
      bytes_.push_back({cell, cell, cell, cell});
      cell.split = static_cast<uint32_t>(bytes_.size());
    }
    if (cell.split == 0) {
      const auto conflict = visit(cell, access, mine);
      if (!found) found = conflict;
    } else {
      for (size_t byte = at; byte < past; ++byte) {
        const auto conflict = visit(bytes_[cell.split - 1][byte % 4], access, mine);
        if (!found) found = conflict;
      }
    }
    at = past;
  }
  if (access.strong && access.writes) release(access);
  return found;
}

}  // namespace sandbox::cpu::memory
