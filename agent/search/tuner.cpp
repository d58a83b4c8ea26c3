#include "agent/search/tuner.h"

#include <algorithm>
#include <utility>

namespace agent::search {
namespace {
constexpr int64_t kMostCounted = 1'000'000;

// Calls visit(binding) for every valid point, until it returns false.
template <typename Visit>
void for_each_point(const sandbox::Solution& solution, Visit visit) {
  std::vector<size_t> digits(solution.tunables.size(), 0);
  while (true) {
    sandbox::TunableBinding binding;
    for (size_t i = 0; i < digits.size(); ++i)
      binding[solution.tunables[i].name] = solution.tunables[i].values[digits[i]];
    if (sandbox::satisfies_constraints(solution, binding) && !visit(binding)) return;
    size_t i = 0;
    while (i < digits.size() && ++digits[i] == solution.tunables[i].values.size()) digits[i++] = 0;
    if (i == digits.size()) return;
  }
}
}  // namespace

Tuner::Tuner(std::vector<const sandbox::Solution*> solutions, uint64_t seed, TunerSettings settings)
    : solutions_(std::move(solutions)), chance_(seed), settings_(settings) {
  for (const sandbox::Solution* solution : solutions_) {
    for_each_point(*solution, [&](const sandbox::TunableBinding&) { return ++space_size_ < kMostCounted; });
  }
}

std::optional<Point> Tuner::random_point() {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    Point point;
    point.solution = std::uniform_int_distribution<size_t>(0, solutions_.size() - 1)(chance_);
    const sandbox::Solution& solution = *solutions_[point.solution];
    for (const sandbox::Tunable& tunable : solution.tunables) {
      const size_t at = std::uniform_int_distribution<size_t>(0, tunable.values.size() - 1)(chance_);
      point.binding[tunable.name] = tunable.values[at];
    }
    if (tried_.count(point) == 0 && sandbox::satisfies_constraints(solution, point.binding)) return point;
  }
  // The space is nearly used up: take the first untried point.
  for (size_t s = 0; s < solutions_.size(); ++s) {
    std::optional<Point> found;
    for_each_point(*solutions_[s], [&](const sandbox::TunableBinding& binding) {
      if (tried_.count(Point{s, binding}) == 0) found = Point{s, binding};
      return !found;
    });
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<Point> Tuner::first_points() {
  std::vector<Point> points;
  for (size_t s = 0; s < solutions_.size() && rounds_ == 0; ++s) {
    points.push_back({s, sandbox::default_binding(*solutions_[s])});
    tried_.insert(points.back());
  }
  while (points.size() < static_cast<size_t>(settings_.first_points)) {
    std::optional<Point> point = random_point();
    if (!point) break;
    tried_.insert(*point);
    points.push_back(std::move(*point));
  }
  return points;
}

std::vector<Point> Tuner::best_screened(size_t count) const {
  std::vector<std::pair<double, Point>> ranked;
  for (const auto& [point, speed_up] : screened_) ranked.emplace_back(speed_up, point);
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Point> points;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) points.push_back(ranked[i].second);
  return points;
}

std::vector<Point> Tuner::untried_neighbours(const Point& point) const {
  std::vector<Point> neighbours;
  const sandbox::Solution& solution = *solutions_[point.solution];
  for (const sandbox::Tunable& tunable : solution.tunables) {
    // Neighbours are adjacent in order of size, whatever the listed order.
    std::vector<int64_t> values = tunable.values;
    std::sort(values.begin(), values.end());
    const auto at = std::find(values.begin(), values.end(), point.binding.at(tunable.name));
    for (const int step : {-1, 1}) {
      const auto index = (at - values.begin()) + step;
      if (index < 0 || index >= static_cast<std::ptrdiff_t>(values.size())) continue;
      Point neighbour = point;
      neighbour.binding[tunable.name] = values[static_cast<size_t>(index)];
      if (tried_.count(neighbour) == 0 && sandbox::satisfies_constraints(solution, neighbour.binding)) {
        neighbours.push_back(std::move(neighbour));
      }
    }
  }
  return neighbours;
}

std::optional<Batch> Tuner::stop(std::string why) {
  stage_ = Stage::over;
  why_stopped_ = std::move(why);
  return std::nullopt;
}

std::optional<Batch> Tuner::stop_at_the_end_of_the_space() {
  return stop(best_speed_up_ > 0 ? "every point was tried" : "every point was tried and none was correct");
}

std::optional<Batch> Tuner::begin_round() {
  std::vector<Point> points = first_points();
  if (points.empty()) return stop_at_the_end_of_the_space();
  ++rounds_;
  round_best_.reset();
  round_speed_up_ = 0;
  best_before_ = best_speed_up_;
  first_screened_ = points.size();
  stage_ = Stage::promote_start;
  return Batch{verifier::verdicts::Effort::screen, std::move(points)};
}

std::optional<Batch> Tuner::end_round() {
  if (static_cast<int64_t>(tried_.size()) >= space_size_) return stop_at_the_end_of_the_space();
  // Rounds without a correct point do not count: there is nothing to converge to yet.
  if (best_speed_up_ > best_before_) {
    rounds_in_vain_ = 0;
  } else if (best_speed_up_ > 0) {
    ++rounds_in_vain_;
  }
  if (best_speed_up_ > 0 && rounds_in_vain_ >= settings_.patience) {
    const std::string others =
        rounds_in_vain_ == 0 ? ""
                             : ", nor is anything near " + std::to_string(rounds_in_vain_) + " other random starts";
    return stop("converged: no neighbour of the best point is better" + others + " (" + std::to_string(tried_.size()) +
                " of " + std::to_string(space_size_) + " points tried)");
  }
  return begin_round();
}

std::optional<Batch> Tuner::next() {
  using verifier::verdicts::Effort;
  if (stage_ == Stage::over) return std::nullopt;
  if (stage_ == Stage::start) {
    if (solutions_.empty()) return stop("there is no solution to sweep");
    return begin_round();
  }
  if (stage_ == Stage::promote_start) {
    stage_ = Stage::neighbours;
    // Successive halving: judge a quarter of the screened points in full.
    std::vector<Point> survivors = best_screened(std::max<size_t>(1, first_screened_ / 4));
    screened_.clear();
    if (!survivors.empty()) return Batch{Effort::full, std::move(survivors)};
  }
  if (stage_ == Stage::promote_neighbours) {
    stage_ = Stage::neighbours;
    std::vector<Point> promising;
    for (const Point& point : best_screened(screened_.size())) {
      if (screened_.at(point) >= settings_.promising * round_speed_up_) promising.push_back(point);
    }
    screened_.clear();
    if (promising.size() > 2) promising.resize(2);
    if (!promising.empty()) return Batch{Effort::full, std::move(promising)};
  }
  if (round_best_) {
    std::vector<Point> neighbours = untried_neighbours(*round_best_);
    if (!neighbours.empty()) {
      tried_.insert(neighbours.begin(), neighbours.end());
      stage_ = Stage::promote_neighbours;
      return Batch{Effort::screen, std::move(neighbours)};
    }
  }
  return end_round();
}

void Tuner::report(const Point& point, verifier::verdicts::Effort effort, std::optional<double> speed_up) {
  if (!speed_up) return;
  if (effort == verifier::verdicts::Effort::screen) {
    screened_[point] = *speed_up;
    return;
  }
  best_speed_up_ = std::max(best_speed_up_, *speed_up);
  if (!round_best_ || *speed_up > round_speed_up_) {
    round_best_ = point;
    round_speed_up_ = *speed_up;
  }
}

}  // namespace agent::search
