// The judge's policy: which shapes are checked at which effort, and how samples are taken. The defaults hold for every
// device; a device that must differ says so in its DeviceTraits, with the reason.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "verifier/draws/shapes.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::judging {

// Each launch, at every effort, has poisoned outputs, workspaces and slack, keyed by draws of the judgement's seed that
// cannot be traced back from what a candidate sees (statistics::one_way).
struct CheckPolicy {
  int repeats = 3;  // launches of one draw, to see whether the bits are the same

  // Bench shapes are checked from this effort on, with one draw: a kernel may do something else there. At lower efforts
  // their timed launches are audited all the same.
  verdicts::Effort bench_shapes_from = verdicts::Effort::full;
  // Limits of shapes drawn for this judgement: elements of a tensor, operations.
  int64_t unseen_elements = 4 << 20, unseen_flops = int64_t{2} << 30;
  // A win must hold at one drawn shape of up to so many times a bench shape's elements and operations, too: it may not
  // be right at the timed shapes alone.
  int64_t beyond_bench = 1;

  // A win must also hold at small shapes that take each residue of each axis ...
  draws::Residues residues = {
      .count = 128, .inner_reach = 1 << 14, .most_elements = 1 << 18, .most_flops = int64_t{2} << 30};
  // ... at so many in which a set of axes is round and the others are not, for each set, or for the only axis ...
  int crossed_shapes = 10, crossed_shapes_of_one_axis = 32;
  // ... at so many whose axes are or pass the numbers that its source names, each up to the size of a residue's shape
  // or of an unseen one ...
  size_t shapes_of_numbers = 64;
  // ... at so many larger ones, in which several axes meet such numbers, or one passes the end of a narrow type, with
  // up to so many elements ...
  size_t wide_shapes_of_numbers = 12;
  int64_t wide_elements_of_numbers = 1 << 19, wide_flops_of_numbers = 1 << 26;
  // ... at so many in which two axes are equal or related, up to so many elements ...
  size_t shapes_of_related_axes = 36;
  int64_t elements_of_related_axes = 1 << 21;
  // ... at those where everyday slips in index arithmetic show, up to so many elements ...
  int64_t elements_of_indices = 1 << 19;
  // ... and two where bands of blocks need more ...
  int64_t elements_of_bands = (1 << 24) + (1 << 21), flops_of_bands = 1 << 26;
  // ... at so many that meet what its source asks of several axes at once, as paths for whole tiles do ...
  size_t shapes_of_conditions = 5;
  int64_t elements_of_conditions = 1 << 21, flops_of_conditions = 1 << 28;
  // ... at so many short ones that meet what it asks of one axis, with inputs of each distribution ...
  size_t short_shapes_of_conditions = 6;
  int64_t elements_of_short_shapes = 1 << 20;
  // ... at so many on both sides of what it asks of several axes together, one of them larger ...
  size_t shapes_of_products = 4;
  int more_rounds_of_products = 8;  // of them, whose other axes have other residues
  int64_t elements_of_products = 1 << 22, flops_of_products = 1 << 25;
  // ... at longer ones, up to so many elements or a bench shape's, one for each distribution ...
  int64_t middle_elements = INT64_MAX;
  int64_t middle_shapes = INT64_MAX;  // at most
  // ... at a square, with each input regular in each way twice and simple in each way, up to so many draws of each ...
  int64_t square_elements = 1 << 20, square_flops = int64_t{2} << 30, square_draws = 16;
  // ... and at the ends of the domain, as far as so many elements of a tensor and operations reach.
  int64_t far_elements = (int64_t{1} << 28) + (1 << 16), far_flops = int64_t{1} << 34;
  // Those with several large axes have so many times a bench shape's operations, a quarter of far_flops at least: all
  // sides of a product are longer there than at any bench shape.
  int64_t large_times_bench = 3;
  // A drawn shape comes nearer until a plan launches no more threads there than these, or, at an end of the domain,
  // than its largest tensor has elements. The last but one is for the many that a win must hold at up to a bench
  // shape's size, the last for the checking build, without exception.
  int64_t far_threads = INT64_MAX, threads_of_indices = INT64_MAX, long_threads = INT64_MAX, middle_threads = INT64_MAX,
          checking_build_threads = INT64_MAX;
  // ... and, at an end of the domain, until it takes about so long, told by what an operation or a byte took before.
  double far_us = INFINITY;
  // A grid of so many threads or more, with as many at a nearer drawn shape, is timed there first.
  int64_t persistent_threads = INT64_MAX;
  // Where a plan launches more, or a shape costs more (bytes read plus operations), a longer or far shape sees one
  // draw.
  int64_t threads_for_draws = INT64_MAX, cost_for_draws = INT64_MAX;
  // A shape at an end of the domain also does where a tensor has more elements than these.
  int64_t elements_for_draws_at_ends = INT64_MAX;
  double far_patience = 6;  // times the deadline of other launches: a block for each of 65536 rows takes its time

  // Errors of the naive solution in outputs of this many elements hardly change from one ordinary draw to the next:
  // once they are known for a shape, only the reference is computed. Errors of few elements change with each draw.
  int64_t naive_errors_stay_from = 1 << 20;

  // The checking build runs test shapes of at most this cost, bytes read plus operations, and the smallest at any cost;
  // bench shapes when a win is confirmed, and axes of so many times the listed sizes. A tile that needs little of a
  // long sum takes as long as one that needs all: 9 s for K = 12550.
  int64_t checking_build_cost = 2'000'000, checking_build_cost_at_ends = 8'000'000,
          checking_build_bench_cost = 200'000'000, checking_build_times_listed = 8;
  // Small shapes for it: rows begin at each residue, at which wide loads are misaligned.
  draws::Residues checking_build_residues = {
      .count = 16, .inner_reach = 64, .most_elements = 1 << 12, .most_flops = 1 << 18};
  // Of a kernel that is for a GPU: shapes of this many elements and operations in which a pipeline comes round.
  int64_t rows_of_tiles_elements = 1 << 20, rows_of_tiles_flops = 64'000'000;
  // Shapes at which a grid that stops growing comes round.
  int64_t rounds_elements = 1 << 25, rounds_flops = 1 << 28, rounds_threads = 1 << 23;
  double rounds_us = 8'000'000;  // that they may take, told by the quickest of the other shapes
  // A drawn shape comes nearer until it takes about so long, told by what a thread took at the listed ones, but not
  // below so many threads: a block may compute a whole tile of which the shape asks for a row.
  double checking_build_us = 400'000;
  int64_t checking_build_least_threads = 1 << 12;

  // The covering build runs until all of its code has, for so long at most, at shapes of at most this cost first.
  double covering_us = 4'000'000;
  int64_t covering_cost = 20'000'000;
};

// A part of the drawn shapes, for several judges side by side: those whose place in the list leaves `part` when divided
// by `parts`. All of them have the same seed.
struct Share {
  size_t part = 0, parts = 1;
  bool has(size_t place) const { return place % parts == part; }
};

struct TimingPolicy {
  int pings = 15;               // empty requests whose median time is taken off each sample
  double least_time_us = 0.05;  // of a sample: never nothing

  // Kernels shorter than this are timed in sequences of up to `most_slots` launches, each on buffers of its own. Every
  // launch is timed, since a difference of two sequences would reward a kernel for being slow in the shorter one. 0:
  // all are timed one by one.
  double short_us = 20;
  size_t most_slots = 12, most_slot_bytes = size_t{256} << 20;
  size_t most_descriptors = 60;  // in one message to a candidate process

  // Where buffers lie in memory makes a kernel up to two percent faster or slower, so the sides exchange outputs after
  // this many draws, and an untimed launch follows. 0: they keep them.
  int draws_in_place = 4;
  int tries = 4;  // of a sample whose launches were not queued in time
};

// A kind of device.
struct DeviceTraits {
  std::string backend;                          // as problems and solutions call it
  std::string clock, hot_clock;                 // what its times are called, with cold and with hot caches
  std::vector<std::string> thread_orders = {};  // that a first draw is launched in; empty: the device has no choice
  bool has_checking_build = false;
  int64_t most_workspace_bytes = INT64_MAX;  // of one workspace
  CheckPolicy check = {};
  TimingPolicy timing = {};
};

}  // namespace verifier::judging
