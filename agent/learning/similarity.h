// How alike two sources are, and whether two problems ask for the same computation.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "agent/prompting/facts.h"

namespace agent::learning {

// The runs of a few tokens each of a source, without its comments. Numbers count alike.
std::set<std::string> token_runs(std::string_view source);
// Jaccard's: shared runs over all runs, from 0 to 1.
double likeness(const std::set<std::string>& a, const std::set<std::string>& b);

// True for problems of one kind whose tensors have the same dtypes and ranks, if their references are the same text
// apart from comments, white space, numbers and the names that they give to values and their own functions, or if they
// take the same number of operations and call the same mathematical functions. So it holds for some problems that
// differ, but not for a reference in CUDA C++ and one in PyTorch.
bool same_computation(const prompting::ProblemText& a, const prompting::ProblemText& b);

}  // namespace agent::learning
