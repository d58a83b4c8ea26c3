// Islands of solutions. Each island keeps the fastest member of each niche (what limits it and what it is made of:
// Mouret and Clune 2015); parents are drawn from them by rank and by how seldom they were used, hopeless ones hardly
// ever; now and then an island's best visits the next. A bandit weighs what tasks have gained against what they cost.
#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>

#include "agent/search/strategy.h"

namespace agent::search {
namespace {
constexpr std::array kTasks{prompting::Operator::fresh, prompting::Operator::improve, prompting::Operator::repair,
                            prompting::Operator::cross};
constexpr int kMigration = 6;         // yields of an island between visits of its neighbour's best
constexpr size_t kYoung = 2;          // correct members that an island needs before it breeds
constexpr size_t kRepairable = 8;     // latest wrong members that may be repaired
constexpr double kHopeful = 1.0 / 3;  // of the best's speed-up: a slower member is a parent only for its structure,
constexpr size_t kDaring = 8;         // in one cross of so many

class Evolve : public Strategy {
 public:
  explicit Evolve(const StrategySettings& settings)
      : chance_(settings.seed), islands_(static_cast<size_t>(std::max(1, settings.lines))) {}

  std::optional<Inquiry> next(const Population& population) override {
    const size_t island = turn_++ % islands_.size();
    const std::vector<size_t> elites = elites_of(population, island);
    const std::vector<size_t> wrong = wrong_of(population, island);
    const bool grown = elites.size() >= kYoung || population.ranked(static_cast<int>(island)).size() >= kYoung;
    const std::vector<size_t> hopeful = hopeful_of(population, elites);
    const std::vector<size_t> second =
        below(kDaring) == 0 ? with_other_structures(population, hopeful, elites) : hopeful;
    const std::vector<bool> allowed{true, !elites.empty(), !wrong.empty(), grown && second.size() >= 2};
    const prompting::Operator task = kTasks.at(tasks_.choose(allowed));
    Inquiry inquiry{task, {}, static_cast<int>(island)};
    if (task == prompting::Operator::improve) inquiry.parents = {draw(population, hopeful, {})};
    if (task == prompting::Operator::repair) inquiry.parents = {wrong[below(wrong.size())]};
    if (task == prompting::Operator::cross) {
      inquiry.parents = {draw(population, hopeful, {})};
      inquiry.parents.push_back(draw(population, second, inquiry.parents[0]));
    }
    return inquiry;
  }

  void learned(const Inquiry& inquiry, const Population&, const Yield& yield) override {
    const auto task = std::find(kTasks.begin(), kTasks.end(), inquiry.task) - kTasks.begin();
    tasks_.learn(static_cast<size_t>(task), yield.gain, yield.cost);
    ++islands_[static_cast<size_t>(inquiry.line)].yields;
  }

 private:
  struct Island {
    int yields = 0;
  };

  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(chance_); }

  // The island's own elites and, at intervals, its neighbour's best. Shipped solutions belong to every island.
  std::vector<size_t> elites_of(const Population& population, size_t island) const {
    std::vector<size_t> elites = population.elites(static_cast<int>(island));
    for (const size_t shipped : population.elites(kEveryLine)) elites.push_back(shipped);
    const bool visited = islands_[island].yields / kMigration % 2 == 1;
    if (visited && islands_.size() > 1) {
      const std::vector<size_t> next = population.ranked(static_cast<int>((island + 1) % islands_.size()));
      if (!next.empty()) elites.push_back(next.front());
    }
    std::stable_sort(elites.begin(), elites.end(),
                     [&](size_t a, size_t b) { return population[a].speed_up() > population[b].speed_up(); });
    return elites;
  }

  // `elites`: the fastest first.
  static std::vector<size_t> hopeful_of(const Population& population, std::vector<size_t> elites) {
    std::erase_if(elites, [&, best = elites.empty() ? 0 : population[elites.front()].speed_up()](size_t member) {
      return population[member].speed_up() < kHopeful * best;
    });
    return elites;
  }

  // Adds slow members whose structure no hopeful one has.
  static std::vector<size_t> with_other_structures(const Population& population, std::vector<size_t> hopeful,
                                                   const std::vector<size_t>& elites) {
    const auto structure = [&](size_t member) {
      const std::string& niche = population[member].niche;
      return niche.substr(0, niche.find('/'));
    };
    std::set<std::string> known;
    for (const size_t member : hopeful) known.insert(structure(member));
    for (const size_t member : elites) {
      if (known.insert(structure(member)).second) hopeful.push_back(member);
    }
    return hopeful;
  }

  std::vector<size_t> wrong_of(const Population& population, size_t island) const {
    std::vector<size_t> wrong;
    for (size_t i = population.size(); i-- > 0 && wrong.size() < kRepairable;) {
      const Member& member = population[i];
      if (member.line == static_cast<int>(island) && member.probe && !member.correct() && member.asked == 0) {
        wrong.push_back(i);
      }
    }
    return wrong;
  }

  // Weighs members by rank and by how seldom they were parents.
  size_t draw(const Population& population, const std::vector<size_t>& elites, std::optional<size_t> without) {
    std::vector<double> weights;
    for (size_t rank = 0; rank < elites.size(); ++rank) {
      const double weight = 1 / static_cast<double>(rank + 1) / (1 + population[elites[rank]].asked);
      weights.push_back(elites[rank] == without ? 0 : weight);
    }
    return elites[std::discrete_distribution<size_t>(weights.begin(), weights.end())(chance_)];
  }

  std::mt19937_64 chance_;
  Bandit tasks_{kTasks.size()};
  std::vector<Island> islands_;
  size_t turn_ = 0;
};
}  // namespace

std::unique_ptr<Strategy> make_evolve(const StrategySettings& settings) { return std::make_unique<Evolve>(settings); }

}  // namespace agent::search
