#include "agent/search/population.h"

#include <algorithm>
#include <set>
#include <utility>

namespace agent::search {

size_t Population::add(Member member) {
  members_.push_back(std::move(member));
  return members_.size() - 1;
}

std::vector<size_t> Population::ranked(std::optional<int> line) const {
  std::vector<size_t> correct;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].correct() && (!line || members_[i].line == *line)) correct.push_back(i);
  }
  std::stable_sort(correct.begin(), correct.end(),
                   [&](size_t a, size_t b) { return members_[a].speed_up() > members_[b].speed_up(); });
  return correct;
}

std::vector<size_t> Population::elites(std::optional<int> line) const {
  std::vector<size_t> first;
  std::set<std::string> niches;
  for (const size_t index : ranked(line)) {
    if (niches.insert(members_[index].niche).second) first.push_back(index);
  }
  return first;
}

}  // namespace agent::search
