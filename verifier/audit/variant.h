// What the problem audit has judged: solutions made from a problem's naive one.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "sandbox/solution.h"

namespace verifier::audit {

enum class Must { be_refused, be_accepted };

// Whether a mutant may do, on some problems, what naive does: it is none there.
enum class Equality {
  never,   // it would show that the problem asks for nothing
  bits,    // if it gives the same bits wherever the judge looks: inputs in TF32 that are small integers
  nearly,  // if it is as near to the reference as naive is: the transpose of a symmetric matrix, whose elements sum in
           // other lanes
};

struct Variant {
  std::string name = {};  // "y: zeros"
  std::string what = {};  // one line: what it does
  Must must = Must::be_refused;
  Equality equality = Equality::never;
  bool from_file = false;   // written by a person
  std::string advice = {};  // what to change in the problem when the judge says the wrong thing; one clause
  std::string body = {};    // the source without its header: variants of one body have one binary
  sandbox::Solution solution = {};
};

// A solution's source without its header comment.
std::string body_of(const sandbox::Solution& solution);
// A variant's solution from its header and its body. Throws core::InputError when they make no solution.
sandbox::Solution make_solution(const core::Json& header, const std::string& body, const std::string& name);

}  // namespace verifier::audit
