// The solutions of a problem that a search knows: shipped ones, the user's, and those that models wrote.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/diagnosis.h"
#include "agent/search/problem_search.h"

namespace agent::search {

constexpr int kEveryLine = -1;  // the line of descent of solutions known at the start

struct Member {
  std::string name;  // in prompts: "s12"
  sandbox::Solution solution;
  std::string origin;                // seed, user, or the model that wrote it
  std::vector<size_t> parents;       // members it was made from
  int line = 0;                      // its line of descent, or island
  std::optional<JudgedPoint> probe;  // its default point
  std::optional<JudgedPoint> best;   // its best correct point
  bool new_best = false;             // became the confirmed best of the problem
  std::optional<prompting::Diagnosis> diagnosis;
  std::string niche;  // its bottleneck and code features; evolution keeps the fastest member of each
  int asked = 0;      // times chosen as a parent

  bool correct() const { return best.has_value(); }
  double speed_up() const { return best && best->speed_up ? *best->speed_up : 0; }  // over naive; 0: not correct
};

class Population {
 public:
  size_t add(Member member);
  Member& operator[](size_t index) { return members_[index]; }
  const Member& operator[](size_t index) const { return members_[index]; }
  size_t size() const { return members_.size(); }

  // Correct members, the fastest first; only those of `line` if given.
  std::vector<size_t> ranked(std::optional<int> line = std::nullopt) const;
  // The fastest member of each niche.
  std::vector<size_t> elites(std::optional<int> line = std::nullopt) const;

 private:
  std::deque<Member> members_;
};

}  // namespace agent::search
