// Finds counting loops in CUDA C++ source by its tokens, and the safe transformations of each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace verifier::audit {

// A statement "variable += expression;" in a loop's body, whose variable is declared outside and not used otherwise.
struct LoopSum {
  std::string variable;
  size_t begin, end;                        // bytes of the source, including the semicolon
  size_t expression_begin, expression_end;  // bytes
};

// for (TYPE variable = start; variable < limit; ++variable)  or  variable += step
struct Loop {
  int line = 0;
  size_t begin = 0, end = 0;                       // bytes of the source: from `for` to the end of its body
  size_t header_end = 0;                           // after the closing parenthesis
  size_t limit_begin = 0, limit_end = 0;           // bytes of the limit
  std::string type, variable, start, limit, step;  // source text; step "1" for ++
  std::vector<LoopSum> sums;
  bool stores = false;     // the body writes elements of an array
  bool innermost = false;  // no loop in its body
  // Iterations may run in any order: they only write sums, maxima, minima, and elements of arrays that they do not
  // read. False if unsure.
  bool any_order = false;
  bool only_sums = false;  // any_order, and only `sums` outlive an iteration
};

std::vector<Loop> find_loops(std::string_view source);

}  // namespace verifier::audit
