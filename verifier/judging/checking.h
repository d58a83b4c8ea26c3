// Is the candidate right? The part of a judgement that comes before any timing.
#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verifier/judging/launch_harness.h"
#include "verifier/judging/policy.h"
#include "verifier/verdicts/first_failure.h"

namespace verifier::judging {

class Checking {
 public:
  Checking(Oracle& oracle, const verdicts::CheckSettings& settings, statistics::Keys& keys)
      : oracle_(oracle),
        traits_(oracle.device().traits()),
        settings_(settings),
        keys_(keys),
        draw_keys_(keys),
        middle_turn_(keys.below(1 << 16)),
        dear_turn_(keys.below(1 << 16)),
        checking_draw_turn_(keys.below(1 << 16)) {}

  // The checking build, which finds out-of-bounds access, races and uninitialised reads, on the small listed shapes;
  // for a confirmation also at bench shapes.
  std::optional<verdicts::Verdict> checking_build(Contender& contender, verdicts::Effort effort);
  // The same of a kernel that is for a GPU: as for a confirmation, and at rows of tiles. A share has all listed shapes.
  std::optional<verdicts::Verdict> checking_build_for_gpu(Contender& contender, const Share& share);
  // The build that is timed. Its plan is bound at every corner of the domain first. A screening takes one draw of every
  // listed test shape. A full check adds the other draws and distributions and unseen shapes; a confirmation adds an
  // unseen shape of a bench shape's size, shapes of every residue, longer ones up to a bench shape's size and beyond
  // any listed, and the ends of the domain that the device reaches. CheckPolicy says when bench shapes are checked.
  std::optional<verdicts::Verdict> fast_build(Contender& contender, verdicts::Effort effort);

  // The build that tells which of its lines ran: at shapes and draws as for a confirmation, until all have or time is
  // over. What never ran becomes part of the scope.
  std::optional<verdicts::Verdict> covering_build(Contender& contender);

  const verdicts::Correct& findings() const { return findings_; }

 private:
  struct Shape {
    LaunchHarness& harness;
    const LentBuffers& inputs;
    const core::Bindings& axes;
    verdicts::Where where;
  };
  struct NamedShape {
    std::string name;
    core::Bindings axes;
    const benchsuite::Workload* workload = nullptr;  // of a listed shape
  };
  // How many draws a shape sees. A longer and a far shape see one of theirs where launches are dear.
  enum class Depth {
    glance,   // one ordinary draw, repeated
    scales,   // the same, and moderate ones where scales show
    residue,  // an ordinary one; and one that may be ordinary or not, in which the ends of rows decide, or a simple one
    middle,   // an ordinary one, and the adversarial distributions in turn
    longer,   // one that may be ordinary or not, and those in which the ends of rows decide, with more patience
    far,      // the same, at an end of the domain, as far as the device reaches
    square,   // regular and simple ones
    wide,     // an ordinary one, and one of a single value where that counts
    indices,  // an ordinary one, where places decide
    values,   // one of each number that the source names
    some,     // ordinary, patchwork and one adversarial distribution
    all,      // every distribution
  };
  using Check = std::function<std::optional<verdicts::Verdict>(Shape& shape)>;

  // Prepares the contender at a shape and checks it there. InvalidPlan when its plan cannot be bound to the shape.
  std::optional<verdicts::Verdict> at_shape(Contender& contender, const NamedShape& shape, const Check& check);
  std::optional<verdicts::Verdict> at_all_shapes(Contender& contender, verdicts::Effort effort);
  std::optional<verdicts::Verdict> fast_shape(Contender& contender, const NamedShape& shape, Depth depth);
  std::optional<verdicts::Verdict> draws_at(Shape& shape, Depth depth, bool dear);
  using DrawShapes = std::function<std::vector<core::Bindings>()>;
  std::optional<verdicts::Verdict> all_of(Contender& contender, const std::string& name, Depth depth,
                                          const DrawShapes& draw);
  std::vector<core::Bindings> with_inputs(const DrawShapes& draw);
  std::optional<verdicts::Verdict> bind_at_corners(const Contender& contender);
  // Microseconds for one thread, in the slowest launch and in the quickest.
  struct Pace {
    double most_us = 0, least_us = 1e9;
  };
  // Microseconds for an operation or a byte: the geometric mean over shapes, 0 before the first. A shape that fills
  // little of a tile takes many times as long as others.
  class UsualPace {
   public:
    void add(double us) {
      logarithms_ += std::log(us);
      ++shapes_;
    }
    double us() const { return shapes_ == 0 ? 0 : std::exp(logarithms_ / shapes_); }

   private:
    double logarithms_ = 0;
    int shapes_ = 0;
  };
  draws::Distribution next_of_checking_build();
  std::optional<verdicts::Verdict> checked_at(Contender& contender, const NamedShape& named, Pace& pace);
  std::vector<NamedShape> drawn_for_checking_build(const Contender& contender, verdicts::Effort effort,
                                                   int64_t most_threads);
  // Checks a shape nearer, and leaves the one of up to `reached` that such a grid is expected to finish in its time.
  std::optional<verdicts::Verdict> come_within_time(Contender& contender, const std::string& name, Depth depth,
                                                    core::Bindings& reached);
  std::optional<verdicts::Verdict> repeats(Shape& shape, bool thorough);
  std::optional<verdicts::Verdict> draw(Shape& shape, draws::Distribution distribution, double patience = 1,
                                        double number = 0);
  std::optional<verdicts::Verdict> index_arithmetic(Contender& contender);
  std::optional<verdicts::Verdict> values_of_the_source(Contender& contender);
  bool checks_benches(verdicts::Effort effort) const;
  // Asks a covering build which lines are left.
  std::optional<verdicts::Verdict> look_at_coverage(const Shape& shape);
  bool is_covered() const;

  Oracle& oracle_;
  const DeviceTraits& traits_;
  verdicts::CheckSettings settings_;
  statistics::Keys& keys_;
  draws::DrawKeys draw_keys_;
  verdicts::Correct findings_;
  statistics::Keys shape_keys_{0};  // of those shapes: what launches draw does not change the list
  Share share_;                     // of the shapes that are drawn for the checking build
  size_t place_ = 0;                // of the next of them
  size_t checking_turns_[2] = {};   // of shapes with one block, and with several
  std::vector<double> values_;      // that the source of the contender names
  double last_us_ = 0;              // of the last draw's launch
  struct Covering {
    CandidateProcess& process;
    std::chrono::steady_clock::time_point until;
    int64_t most_cost;  // of a shape
    std::optional<std::vector<int64_t>> not_run = {};
  };
  std::optional<Covering> covering_;  // while a covering build is checked
  UsualPace pace_;
  size_t turn_ = 0;            // of thread orders
  size_t middle_turn_;         // of distributions at middle and longer shapes
  size_t dear_turn_;           // of those at longer shapes where launches are dear
  size_t checking_draws_ = 0;  // of a checking build, the first of which are a patchwork and an ordinary one
  size_t checking_draw_turn_;  // of distributions at its shapes
};

}  // namespace verifier::judging
