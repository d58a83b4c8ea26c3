// Variants: solutions that the problem audit makes from a problem's naive one.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "sandbox/solution.h"

namespace verifier::audit {

enum class Must { be_refused, be_accepted };

// Conditions under which a mutant counts as equal to naive on a problem instead of as a mutant.
enum class Equality {
  never,   // equality would show that the problem demands nothing
  bits,    // if it gives the same bits wherever the judge looks: TF32 inputs that are small integers
  nearly,  // if it is as near to the reference as naive is: the transpose of a symmetric matrix, whose elements sum in
           // other lanes
};

struct Variant {
  std::string name = {};  // "y: zeros"
  std::string what = {};  // one line that describes it
  Must must = Must::be_refused;
  Equality equality = Equality::never;
  bool from_file = false;   // written by a person
  std::string advice = {};  // the remedy in the problem if the verdict is wrong; one clause
  std::string body = {};    // the source without its header: variants with one body share one binary
  sandbox::Solution solution = {};
};

// A solution's source without its header comment.
std::string body_of(const sandbox::Solution& solution);
// A variant's solution from its header and its body. Throws core::InputError if they do not form a valid solution.
sandbox::Solution make_solution(const core::Json& header, const std::string& body, const std::string& name);

}  // namespace verifier::audit
