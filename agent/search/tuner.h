// Sweeps the tunables of known solutions. Needs no model, compiler or judge.
//
// Random start, then successive halving (Karnin et al. 2013): many points are screened cheaply, the best
// quarter of them is judged in full. Then local search: the neighbours of the round's best point (one tunable moved by
// one value) are screened, promising ones judged in full, until no untried neighbour is left. Then another round from
// random points, until `patience` rounds in a row bring nothing better.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sandbox/solution.h"
#include "verifier/verdicts/judgement.h"

namespace agent::search {

// One point of the search: a solution with its tunables bound.
struct Point {
  size_t solution = 0;  // index into the tuner's solutions
  sandbox::TunableBinding binding;

  auto operator<=>(const Point&) const = default;
};

struct Batch {
  verifier::verdicts::Effort effort;  // screen or full
  std::vector<Point> points;
};

struct TunerSettings {
  int first_points = 12;    // screened at random in each round; in the first, each solution's default point comes first
  double promising = 0.97;  // a screened neighbour at least this fast relative to the best is judged in full
  int patience = 1;         // rounds without a better point before the search has converged
};

class Tuner {
 public:
  // The solutions must outlive the tuner. `seed` fixes every choice.
  Tuner(std::vector<const sandbox::Solution*> solutions, uint64_t seed, TunerSettings settings = {});

  // The next points to judge; nullopt: the search is over (why_stopped says why). Report every point of a batch before
  // asking for the next.
  std::optional<Batch> next();

  // speed_up: over a fixed baseline (naive); nullopt: the point was incorrect.
  void report(const Point& point, verifier::verdicts::Effort effort, std::optional<double> speed_up);

  // One sentence; empty while the search continues.
  const std::string& why_stopped() const { return why_stopped_; }
  // Valid points over all solutions (counted up to a million).
  int64_t space_size() const { return space_size_; }

 private:
  enum class Stage { start, promote_start, neighbours, promote_neighbours, over };

  std::vector<Point> first_points();  // of a round
  std::optional<Point> random_point();
  std::vector<Point> best_screened(size_t count) const;
  std::vector<Point> untried_neighbours(const Point& point) const;
  std::optional<Batch> begin_round();
  std::optional<Batch> end_round();
  std::optional<Batch> stop(std::string why);
  std::optional<Batch> stop_at_the_end_of_the_space();

  std::vector<const sandbox::Solution*> solutions_;
  std::mt19937_64 chance_;
  TunerSettings settings_;
  Stage stage_ = Stage::start;
  int64_t space_size_ = 0;
  std::set<Point> tried_;
  size_t first_screened_ = 0;         // random points of this round
  std::map<Point, double> screened_;  // correct points of the last batch, not yet judged in full
  std::optional<Point> round_best_;
  double round_speed_up_ = 0, best_speed_up_ = 0;
  double best_before_ = 0;  // at the start of this round
  int rounds_ = 0, rounds_in_vain_ = 0;
  std::string why_stopped_;
};

}  // namespace agent::search
