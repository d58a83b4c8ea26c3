// Lines of descent: each improves its best solution one step at a time and learns from its last step.
#include <algorithm>
#include <map>

#include "agent/search/strategy.h"

namespace agent::search {
namespace {
constexpr int kRepairs = 2;  // of one wrong solution before giving it up

class Refine : public Strategy {
 public:
  explicit Refine(const StrategySettings& settings) : lines_(static_cast<size_t>(settings.lines)) {}

  std::optional<Inquiry> next(const Population& population) override {
    const auto line = std::find_if(lines_.begin(), lines_.end(), [](const Line& one) { return !one.waiting; });
    if (line == lines_.end()) return std::nullopt;
    const int index = static_cast<int>(line - lines_.begin());
    line->waiting = true;
    if (line->wrong) return Inquiry{prompting::Operator::repair, {*line->wrong}, index};
    std::vector<size_t> ranked = population.ranked(index);
    if (ranked.empty() && index == 0) ranked = population.ranked();  // the first line continues from known solutions
    if (ranked.empty()) return Inquiry{prompting::Operator::fresh, {}, index};
    return Inquiry{prompting::Operator::improve, {ranked.front()}, index};
  }

  void learned(const Inquiry& inquiry, const Population& population, const Yield& yield) override {
    Line& line = lines_.at(static_cast<size_t>(inquiry.line));
    line.waiting = false;
    const auto wrong = std::find_if(yield.members.begin(), yield.members.end(),
                                    [&](size_t member) { return !population[member].correct(); });
    const bool all_wrong = std::none_of(yield.members.begin(), yield.members.end(),
                                        [&](size_t member) { return population[member].correct(); });
    line.repairs = inquiry.task == prompting::Operator::repair ? line.repairs + 1 : 0;
    line.wrong.reset();
    if (all_wrong && wrong != yield.members.end() && line.repairs < kRepairs) line.wrong = *wrong;
  }

 private:
  struct Line {
    bool waiting = false;
    std::optional<size_t> wrong;  // the member to repair next
    int repairs = 0;              // in a row
  };
  std::vector<Line> lines_;
};
}  // namespace

std::unique_ptr<Strategy> make_refine(const StrategySettings& settings) { return std::make_unique<Refine>(settings); }

}  // namespace agent::search
