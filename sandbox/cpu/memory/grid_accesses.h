// Which block of a cooperative launch read and wrote which global memory, and whether anything orders the accesses of
// different blocks: a barrier of the grid, or a fence, a write that others watch, and a read that sees it.
//
// A segment is what a block does between two of its own barriers; for each other block, a block remembers up to which
// segment it knows the accesses. A fence covers what its block did before the last barrier, and what the fence's warp
// has done since. All threads of a block learn together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sandbox::cpu::memory {

class GridAccesses {
 public:
  struct Access {
    size_t buffer = 0, offset = 0, bytes = 0;
    bool reads = false, writes = false;
    bool strong = false;  // volatile or atomic: two of them do not race
    int64_t block = 0;
    unsigned warp = 0;  // in the block
    uint32_t site = 0;
  };
  struct Conflict {  // with an access of another block
    int64_t block;
    uint32_t site;
    bool wrote;
  };

  // `bytes`: of each buffer; 0 for one that is not written.
  void begin_launch(const std::vector<size_t>& bytes, int64_t blocks);
  // A barrier of so many blocks.
  void meet(int64_t first, int64_t count);
  void meet_all();
  // `of_block`: it covers all that its block has done, whose threads meet in ways that are not told here.
  void fence(int64_t block, unsigned warp, bool of_block);
  // Notes the access. An earlier one that conflicts with it, if there is one.
  std::optional<Conflict> access(const Access& access);

 private:
  struct Mark {
    uint32_t segment = 0, site = 0;
    uint8_t warp = 0;
    bool strong = false;
    bool fenced = false;  // of a write: a fence of its block stands before it
  };
  struct Cell {  // of a word, or of one of its bytes
    Mark write;
    std::array<Mark, 2> reads;  // of two blocks
    uint32_t split = 0;         // of a word: where its bytes are, if they differ, plus one
  };
  // By block: the segment before which all accesses are known, and above it by warp those within it.
  using Known = std::vector<uint64_t>;
  struct Released {
    std::shared_ptr<const Known> known;
    std::shared_ptr<const Known> last;  // that was added
  };

  static constexpr size_t kCellsOfPage = 1024;
  static constexpr size_t kMostReleased = size_t{128} << 20;  // bytes

  Cell& word(size_t buffer, size_t nth);
  std::optional<Conflict> visit(Cell& cell, const Access& access, const Mark& mine);
  bool is_ordered(const Mark& before, int64_t block) const;
  bool conflicts(const Mark& before, const Access& now, bool wrote);
  int64_t block_of(const Mark& mark) const { return blocks_[mark.segment - first_]; }
  void begin_segment(int64_t block);
  void learn(int64_t block, const Known& more);
  static void join(Known& all, const Known& more);
  void acquire(const Access& access);
  void release(const Access& access);

  std::vector<std::vector<std::unique_ptr<std::array<Cell, kCellsOfPage>>>> pages_;  // by buffer
  std::vector<std::array<Cell, 4>> bytes_;
  uint32_t first_ = 1, next_ = 1;                     // segments: of this launch; the next one
  uint32_t ordered_ = 1;                              // all accesses of earlier segments are known to all
  std::vector<int32_t> blocks_;                       // by segment of this launch
  std::vector<uint32_t> segments_;                    // by block: in progress
  std::vector<Known> known_;                          // by block; empty: nothing
  std::vector<std::shared_ptr<const Known>> fenced_;  // by block: what its next release tells; null: nothing
  std::unordered_map<uint64_t, Released> released_;   // by place
  Released elsewhere_;                                // at places that are too many
};

}  // namespace sandbox::cpu::memory
