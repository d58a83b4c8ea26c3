#include "sandbox/cpu/runtime/tensor_cores.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "sandbox/cpu/memory/shared_matrix.h"
#include "sandbox/cpu/runtime/asynchronous.h"

namespace sandbox::cpu::runtime {
namespace {
using memory::ElementType;
using memory::kBytesOfChunk;
using memory::SharedMatrix;
constexpr int kRowsOfProduct = 128, kStep = 16, kWidest = 256;
constexpr uint32_t kNobodyComputed = 0x7fc0dead;  // NaN as a float

// The instruction descriptor of kind::f16.
struct Instruction {
  explicit Instruction(uint32_t what)
      : sums(what >> 4 & 3),
        type_a(what >> 7 & 7),
        type_b(what >> 10 & 7),
        negates(((what >> 13 ^ what >> 14) & 1) != 0),
        a_along_m((what >> 15 & 1) != 0),
        b_along_n((what >> 16 & 1) != 0),
        columns(static_cast<int>(what >> 17 & 63) * 8),
        rows(static_cast<int>(what >> 24 & 31) * 16),
        has_others((what & 0xe080004f) != 0) {}  // sparsity, saturation, shifts, and bits that are 0

  uint32_t sums, type_a, type_b;
  bool negates, a_along_m, b_along_n;
  int columns, rows;
  bool has_others;
};
ElementType type_of(uint32_t type) { return type == 0 ? ElementType::f16 : ElementType::bf16; }

int swizzle_of(uint64_t descriptor) {
  const auto mode = descriptor >> 61;
  return mode == 0 ? 0 : mode == 2 ? 128 : mode == 4 ? 64 : mode == 6 ? 32 : -1;
}

struct Operands {
  std::array<float, kRowsOfProduct * kStep> a;
  std::array<float, kStep * kWidest> b;
};

std::string columns_named(uint32_t first, uint32_t count) {
  if (count == 1) return "column " + std::to_string(first) + " of tensor memory";
  return "columns " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of tensor memory";
}
}  // namespace

struct TensorCores::Call {
  enum Kind { allocate, free, relinquish, load, wait } kind;
  TensorCores* cores;
  uint32_t address, count;
  void* const* places;
  TensorAddress result = 0;  // of the first lane
};

// ---- The block

void TensorCores::begin_block() {
  blocks_.clear();
  threads_.clear();
  epochs_.clear();
  loads_.clear();
  commits_.clear();
}

void TensorCores::end_block() {
  for (const auto& [thread, of] : threads_) {
    if (of.products.empty()) continue;
    const AsyncAccess& access = of.products.front().access;
    return scheduler_.set_fault(FaultKind::race,
                                "the block ends while tcgen05.mma still multiplies for " + scheduler_.describe(thread) +
                                    ": nobody waits at an mbarrier that a tcgen05.commit behind it names",
                                scheduler_.line_at(access.site, access.frame));
  }
  for (const Block& block : blocks_) {
    const auto left = std::ranges::count_if(block.columns, [](const Column& c) { return c.allocation != 0; });
    if (left == 0) continue;
    return scheduler_.set_fault(FaultKind::deadlock,
                                "the block ends with " + std::to_string(left) +
                                    " columns of tensor memory allocated, for which later blocks wait forever: the "
                                    "warp that allocates them also frees them (tcgen05.dealloc)",
                                scheduler_.line_at(block.site, block.frame));
  }
}

TensorCores::Block& TensorCores::block() {
  if (blocks_.empty()) blocks_.resize(static_cast<size_t>(scheduler_.cluster_blocks()));
  Block& own = blocks_[static_cast<size_t>(scheduler_.block())];
  if (own.columns.empty()) {
    own.columns.resize(kColumns);
    own.words.assign(size_t{kLanes} * kColumns, std::bit_cast<float>(kNobodyComputed));
  }
  return own;
}

TensorCores::Column* TensorCores::columns_at(TensorAddress first, uint32_t count, const char* what) {
  Block& own = block();
  const uint32_t column = first & 0xffff;
  const bool inside = column < kColumns && count <= kColumns - column;
  if (!inside || std::any_of(&own.columns[column], &own.columns[column] + count,
                             [](const Column& c) { return c.allocation == 0; })) {
    scheduler_.raise(FaultKind::out_of_bounds, std::string(what) + " " + columns_named(column, count) +
                                                   ", which the block has not allocated (tcgen05.alloc)");
  }
  return &own.columns[column];
}

int64_t TensorCores::agent() const {
  return scheduler_.clocks().agent_of_warp(Clocks::Agent::products,
                                           static_cast<int64_t>(scheduler_.warp_of(scheduler_.thread())));
}
uint32_t& TensorCores::epoch() { return epochs_.try_emplace(agent(), 1).first->second; }
int64_t TensorCores::first_thread() const {
  const auto lanes = static_cast<int64_t>(scheduler_.lanes_in_warp());
  return scheduler_.thread() / lanes * lanes;
}

// ---- What a warp does

void TensorCores::in_warp(const char* name, Call& call) { scheduler_.warp_call(name, 0xffffffff, &carry_out, &call); }
void TensorCores::allocate(uint32_t to, uint32_t columns) {
  Call call{Call::allocate, this, to, columns, nullptr};
  std::byte* place = scheduler_.asynchronous().place(to, 4, 4);
  in_warp("tcgen05.alloc", call);
  if (scheduler_.thread() != first_thread()) return;
  if (scheduler_.checks()) check_access(place, 4, Access::write, scheduler_.site(), scheduler_.frame());
  std::memcpy(place, &call.result, sizeof call.result);
}
void TensorCores::free(TensorAddress first, uint32_t columns) {
  Call call{Call::free, this, first, columns, nullptr};
  in_warp("tcgen05.dealloc", call);
}
void TensorCores::relinquish() {
  Call call{Call::relinquish, this, 0, 0, nullptr};
  in_warp("tcgen05.relinquish_alloc_permit", call);
}
void TensorCores::load(void* const* places, uint32_t count, TensorAddress from) {
  Call call{Call::load, this, from, count, places};
  in_warp("tcgen05.ld", call);
}
void TensorCores::wait_for_loads() {
  Call call{Call::wait, this, 0, 0, nullptr};
  in_warp("tcgen05.wait::ld", call);
}

void TensorCores::carry_out(void* const* lanes, Lanes active) {
  Scheduler& scheduler = *running_scheduler();
  Call& first = *static_cast<Call*>(lanes[__builtin_ctzl(active)]);
  if (active != 0xffffffff) {
    scheduler.raise(FaultKind::warp_misuse,
                    "tcgen05 with lanes that have returned: allocations, loads and their waits take whole warps");
  }
  for (int lane = 1; lane < 32; ++lane) {
    const Call& other = *static_cast<const Call*>(lanes[lane]);
    if (other.kind != first.kind) {
      scheduler.raise(FaultKind::warp_misuse, "lanes of one warp are in different tcgen05 instructions");
    }
    if (other.address != first.address || other.count != first.count) {
      scheduler.raise(FaultKind::warp_misuse, "lanes of one warp give tcgen05 different addresses or columns");
    }
  }
  switch (first.kind) {
    case Call::allocate:
      return first.cores->allocate_for_warp(first);
    case Call::free:
      return first.cores->free_for_warp(first);
    case Call::relinquish:
      first.cores->block().relinquished = true;
      return;
    case Call::load:
      return first.cores->load_for_warp(lanes);
    case Call::wait:
      return first.cores->end_loads_of_warp(lanes);
  }
}

void TensorCores::allocate_for_warp(Call& call) {
  Block& own = block();
  if (call.count < 32 || call.count > kColumns || !std::has_single_bit(call.count)) {
    scheduler_.raise(FaultKind::trap,
                     "tcgen05.alloc of " + std::to_string(call.count) + " columns; it takes 32, 64, 128, 256 or 512");
  }
  if (own.relinquished) {
    scheduler_.raise(FaultKind::trap, "tcgen05.alloc behind the block's tcgen05.relinquish_alloc_permit");
  }
  uint32_t first = 0;
  const auto is_free = [&](uint32_t at) {
    return std::all_of(&own.columns[at], &own.columns[at] + call.count,
                       [](const Column& column) { return column.allocation == 0; });
  };
  while (first < kColumns && !is_free(first)) first += call.count;
  if (first >= kColumns) {
    scheduler_.raise(FaultKind::deadlock,
                     "tcgen05.alloc waits forever: the block itself has so much of its 512 columns "
                     "of tensor memory that no " +
                         std::to_string(call.count) + " are left");
  }
  ++own.allocations;
  own.site = scheduler_.site();
  own.frame = scheduler_.frame();
  for (uint32_t i = 0; i < call.count; ++i) {
    own.columns[first + i] = Column{};
    own.columns[first + i].allocation = own.allocations;
  }
  call.result = first;
}

void TensorCores::free_for_warp(const Call& call) {
  Column* columns = columns_at(call.address, call.count, "tcgen05.dealloc frees");
  const uint32_t first = call.address & 0xffff;
  const auto is_whole = [&](uint32_t from, uint32_t to) {
    return std::ranges::all_of(block().columns, [&](const Column& column) {
      const auto at = static_cast<uint32_t>(&column - block().columns.data());
      return (column.allocation == columns->allocation) == (at >= from && at < to);
    });
  };
  if (call.address >> 16 != 0 || !is_whole(first, first + call.count)) {
    scheduler_.raise(FaultKind::trap, "tcgen05.dealloc of " + columns_named(first, call.count) +
                                          ", which is not what one tcgen05.alloc gave");
  }
  for (const auto& [thread, of] : threads_) {
    for (const Product& product : of.products) {
      const uint32_t at = product.d & 0xffff, count = static_cast<uint32_t>(Instruction(product.what).columns);
      if (product.block != scheduler_.block() || at >= first + call.count || at + count <= first) continue;
      scheduler_.raise(FaultKind::race, "tcgen05.dealloc frees " + columns_named(first, call.count) +
                                            ", to which tcgen05.mma still writes");
    }
  }
  for (uint32_t i = 0; i < call.count; ++i) columns[i] = Column{};
}

// Whether the running thread's warp has waited for what writes the column.
void TensorCores::check_read(const Column& column) const {
  const Clocks& clocks = scheduler_.clocks();
  if (clocks.active()) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int64_t thread = first_thread() + lane;
      if (thread < clocks.threads() && clocks.known(thread, column.agent) > column.epoch) return;
    }
  }
  const auto line = scheduler_.line_at(column.site, column.frame);
  scheduler_.raise(FaultKind::race, "tcgen05.ld reads tensor memory that tcgen05.mma" +
                                        (line ? " in line " + std::to_string(*line) : std::string()) +
                                        " writes, with nothing that waits for its tcgen05.commit in between");
}

void TensorCores::load_for_warp(void* const* lanes) {
  const Call& call = *static_cast<const Call*>(lanes[0]);
  Column* columns = columns_at(call.address, call.count, "tcgen05.ld reads");
  const size_t warp = scheduler_.warp_of(scheduler_.thread()) % scheduler_.warps_of_block();
  const auto quarter = static_cast<uint32_t>(warp % 4);
  if (call.address >> 16 != 32 * quarter) {
    scheduler_.raise(FaultKind::out_of_bounds,
                     "tcgen05.ld of 32 lanes from lane " + std::to_string(call.address >> 16) + " on by warp " +
                         std::to_string(warp) + " of the block, which reaches only those from lane " +
                         std::to_string(32 * quarter) + " on");
  }
  for (uint32_t i = 0; i < call.count; ++i) {
    if (!columns[i].written) {
      scheduler_.raise(FaultKind::uninitialised, "tcgen05.ld reads " + columns_named((call.address & 0xffff) + i, 1) +
                                                     ", which nothing has written");
    }
    if (!scheduler_.checks()) continue;
    const Column& before = columns[i > 0 ? i - 1 : 0];
    if (i == 0 || columns[i].agent != before.agent || columns[i].epoch != before.epoch) check_read(columns[i]);
    columns[i].readers[quarter] = {true, false, first_thread(), 0, 0, scheduler_.site(), scheduler_.frame()};
  }
  const std::vector<float>& words = block().words;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Loads& loads = loads_[first_thread() + lane];
    void* const* places = static_cast<const Call*>(lanes[lane])->places;
    const float* row = &words[size_t{32 * quarter + lane} * kColumns + (call.address & 0xffff)];
    loads.places.insert(loads.places.end(), places, places + call.count);
    loads.words.insert(loads.words.end(), row, row + call.count);
    if (lane == 0) loads.from.insert(loads.from.end(), {call.address & 0xffff, (call.address & 0xffff) + call.count});
    for (uint32_t i = 0; i < call.count; ++i) std::memcpy(places[i], &kNobodyComputed, sizeof kNobodyComputed);
  }
}

void TensorCores::end_loads_of_warp(void* const*) {
  const int64_t first = first_thread();
  const size_t quarter = scheduler_.warp_of(scheduler_.thread()) % scheduler_.warps_of_block() % 4;
  for (int64_t lane = 0; lane < 32; ++lane) {
    const auto found = loads_.find(first + lane);
    if (found == loads_.end()) continue;
    Loads& loads = found->second;
    for (size_t i = 0; i < loads.places.size(); ++i) std::memcpy(loads.places[i], &loads.words[i], sizeof(float));
    for (size_t i = 0; scheduler_.checks() && i + 1 < loads.from.size(); i += 2) {
      for (uint32_t column = loads.from[i]; column < loads.from[i + 1]; ++column) {
        Reader& reader = block().columns[column].readers[quarter];
        if (reader.first_thread != first) continue;  // of another warp of this quarter, later
        reader.done = true;
        reader.block_epoch = scheduler_.epoch();
        reader.warp_epoch = scheduler_.warp_epoch();
      }
    }
    loads.places.clear();
    loads.words.clear();
    loads.from.clear();
  }
}

// ---- Products

bool TensorCores::is_behind(const Reader& reader, const AsyncAccess& access) const {
  if (!reader.any) return true;
  if (!reader.done) return false;
  const auto lanes = static_cast<int64_t>(scheduler_.lanes_in_warp());
  if (access.block_epoch > reader.block_epoch || access.thread / lanes * lanes == reader.first_thread) return true;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const auto thread = static_cast<size_t>(reader.first_thread + lane);
    if (thread < access.known.size() && access.known[thread] > reader.warp_epoch) return true;
  }
  return false;
}

void TensorCores::multiply(TensorAddress d, uint64_t a, uint64_t b, uint32_t what, bool adds) {
  const Instruction of(what);
  if (of.has_others || of.sums != 1 || of.type_a > 1 || of.type_a != of.type_b || of.rows != kRowsOfProduct) {
    scheduler_.raise(FaultKind::unsupported,
                     "tcgen05.mma of another kind than 128 rows of f16 or of bf16 with sums in f32, without sparsity");
  }
  if (of.columns < 16 || of.columns > kWidest || of.columns % 16 != 0) {
    scheduler_.raise(FaultKind::trap, "tcgen05.mma of " + std::to_string(of.columns) +
                                          " columns; with 128 rows it takes multiples of 16 up to 256");
  }
  for (const uint64_t descriptor : {a, b}) {
    if ((descriptor >> 46 & 7) != 1) {
      scheduler_.raise(FaultKind::trap, "tcgen05.mma with a descriptor that has not 1 in bits 46 to 48");
    }
    if (swizzle_of(descriptor) < 0 || SharedMatrix::has_base_offset(descriptor) || (descriptor >> 52 & 1) != 0) {
      scheduler_.raise(
          FaultKind::unsupported,
          "tcgen05.mma with a base offset in a descriptor, or a layout of another kind than swizzles of 0, "
          "32, 64 or 128 bytes");
    }
  }
  if (d >> 16 != 0) scheduler_.raise(FaultKind::out_of_bounds, "tcgen05.mma of 128 rows from another lane than 0 on");
  Column* columns = columns_at(d, static_cast<uint32_t>(of.columns), "tcgen05.mma writes");

  Product product{scheduler_.block(), d, a, b, what, adds, scheduler_.asynchronous().issue(agent(), epoch())};
  for (int n = 0; n < of.columns; ++n) {
    Column& column = columns[n];
    if (adds && !column.written) {
      scheduler_.raise(FaultKind::uninitialised, "tcgen05.mma adds to " +
                                                     columns_named((d & 0xffff) + static_cast<uint32_t>(n), 1) +
                                                     ", which nothing has written");
    }
    column.written = true;
    if (!scheduler_.checks()) continue;
    for (Reader& reader : column.readers) {
      if (!is_behind(reader, product.access)) {
        const auto line = scheduler_.line_at(reader.site, reader.frame);
        scheduler_.raise(FaultKind::race, "tcgen05.mma writes tensor memory that tcgen05.ld" +
                                              (line ? " in line " + std::to_string(*line) : std::string()) +
                                              " reads, with nothing that waits for it in between");
      }
      reader.any = false;
    }
    column.agent = product.access.agent;
    column.epoch = product.access.epoch;
    column.site = product.access.site;
    column.frame = product.access.frame;
  }
  Thread& mine = threads_[scheduler_.thread()];
  ++mine.begun;
  mine.products.push_back(std::move(product));
}

void TensorCores::commit(uint32_t barrier) {
  const uint64_t upto = threads_[scheduler_.thread()].begun;
  commits_.push_back({barrier, scheduler_.thread(), upto, agent(), ++epoch()});
}

TensorCores::Completion TensorCores::complete_at(uint32_t barrier) {
  return complete(std::ranges::find(commits_, barrier, &Commit::barrier));
}
TensorCores::Completion TensorCores::complete_oldest() { return complete(commits_.begin()); }

TensorCores::Completion TensorCores::complete(std::deque<Commit>::iterator commit) {
  if (commit == commits_.end()) return {};
  const Commit done = *commit;
  commits_.erase(commit);
  Thread& of = threads_[done.thread];
  for (; of.done < done.upto; ++of.done) {
    const Product product = std::move(of.products.front());
    of.products.pop_front();
    carry_out(product);
  }
  return {true, done.barrier, done.agent, done.epoch};
}

void TensorCores::carry_out(const Product& product) {
  static Operands matrices;  // too large for a thread's stack
  const Instruction of(product.what);
  const auto read = [&](SharedAddress address) {
    Asynchronous& asynchronous = scheduler_.asynchronous();
    const std::byte* chunk = asynchronous.place(asynchronous.map(address, product.block), kBytesOfChunk, kBytesOfChunk);
    if (scheduler_.checks()) check_async_access(chunk, kBytesOfChunk, Access::read, product.access);
    return chunk;
  };
  SharedMatrix(product.a, swizzle_of(product.a), !of.a_along_m)
      .load(type_of(of.type_a), 0, kRowsOfProduct, read,
            [&](int row, int k) -> float& { return matrices.a[static_cast<size_t>(row * kStep + k)]; });
  SharedMatrix(product.b, swizzle_of(product.b), !of.b_along_n)
      .load(type_of(of.type_b), 0, of.columns, read,
            [&](int column, int k) -> float& { return matrices.b[static_cast<size_t>(k * kWidest + column)]; });
  const float sign = of.negates ? -1.0f : 1.0f;
  const auto columns = static_cast<size_t>(of.columns);
  for (size_t row = 0; row < kRowsOfProduct; ++row) {
    float* sums = &blocks_[static_cast<size_t>(product.block)].words[row * kColumns + (product.d & 0xffff)];
    if (!product.adds) std::fill_n(sums, columns, 0.0f);
    for (size_t k = 0; k < kStep; ++k) {
      const float factor = sign * matrices.a[row * kStep + k];
      const float* with = &matrices.b[k * kWidest];
      for (size_t n = 0; n < columns; ++n) sums[n] += factor * with[n];
    }
  }
}

}  // namespace sandbox::cpu::runtime
