// The judge's findings about a candidate: correct, or exactly how it failed. A closed set; stored values are only
// added.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "benchsuite/problem.h"
#include "core/enum_names.h"
#include "core/strict_json.h"
#include "sandbox/compilation.h"
#include "sandbox/fault.h"

namespace verifier::verdicts {

// In what pattern an output differs from what is right. Stored names are only added.
enum class PatternKind {
  tail,        // only past the last multiple of a block, or the last row or column
  rows,        // whole rows, the others right
  columns,     // whole columns
  tiles,       // whole aligned tiles
  transposed,  // y[i][j] is what r[j][i] should be
  shifted,     // each is what an element or a row further on should be
  scaled,      // all by the same factor
  lost_terms,  // a part of each sum is missing
  zeros,       // zero where something else is right
  imprecise,   // small relative errors
  scattered,   // a few, here and there
  rule,        // against the problem's own comparison of this output
};
KW_ENUM_NAMES(PatternKind, tail, rows, columns, tiles, transposed, shifted, scaled, lost_terms, zeros, imprecise,
              scattered, rule)

struct Pattern {
  PatternKind kind;
  std::string sentence;  // or a few, of the judge's own words and numbers

  bool operator==(const Pattern&) const = default;
};

// Where in the judgement something was seen.
struct Where {
  std::string workload;      // a listed workload's name, or "unseen"
  std::string axes;          // "M=7 N=1023"
  std::string distribution;  // how the inputs were drawn
  std::string order;         // thread order on the cpu device; "" elsewhere
};

// The shapes at which a candidate was found right, and how much of its source that took.
struct Scope {
  std::map<std::string, int64_t> largest;  // of each axis, over all shapes
  int64_t elements = 0;                    // of the largest tensor
  // Lines with a part that did not run in the covering build; nullopt: it was not asked.
  std::optional<std::vector<int64_t>> not_run = {};

  void add(const benchsuite::Problem& problem, const core::Bindings& axes);
  bool operator==(const Scope&) const = default;
};

// Whether the cpu device's checking build ran a GPU win's source and found no race or access out of bounds.
struct HostCheck {
  bool passed = false;
  std::string why_not = {};    // a sentence: why that build could not decide, or did not execute larger shapes
  std::string dismissed = {};  // the race that compute-sanitizer reported and this build did not find

  bool operator==(const HostCheck&) const = default;
};

struct Correct {
  int64_t launches = 0;                      // launches whose output was compared
  double worst_ratio = 0;                    // largest error relative to what the contract allows, 0 to 1
  bool deterministic = true;                 // repeated launches gave the same bits
  Scope scope = {};                          // empty in results of before it was recorded
  std::optional<HostCheck> host_check = {};  // of a confirmation on a GPU
};
struct CompileFailed {  // compile_error, unsupported, forbidden, limit
  sandbox::Rejection reason;
  std::string message;
  std::optional<int64_t> line;
};
struct InvalidPlan {  // the launch plan cannot be run at some shape
  std::string message;
};
struct WrongResult {
  Where where;
  std::string output;
  int64_t index = 0;  // of the worst element, flat
  double expected = 0, got = 0;
  double ratio = 0;  // error relative to what the contract allows; over 1
  int64_t wrong_elements = 0, elements = 0;
  std::optional<Pattern> pattern = {};  // where the elements that differ show one
};
struct NotWritten {  // poison left in an output
  Where where;
  std::string output;
  int64_t index = 0, count = 0, elements = 0;
};
struct WrongNonFinite {  // NaN or Inf where the reference has none, or the reverse
  Where where;
  std::string output;
  int64_t index = 0;
  double expected = 0, got = 0;
};
struct OrderDependent {  // right in one thread order, wrong in another: a race
  Where where;
  std::string output;
  int64_t index = 0;
};
struct GuardDamaged {  // wrote outside a buffer
  Where where;
  std::string buffer;
};
struct InputModified {
  Where where;
  std::string input;
};
struct Faulted {
  Where where;
  sandbox::Fault fault;
};
struct TimedOut {
  std::optional<Where> where;  // absent: while loading
  double limit_s = 0;
};
struct Crashed {  // the process holding the candidate died
  std::optional<Where> where;
  int signal = 0;
};
struct ForbiddenCall {  // the jail stopped a system call
  std::optional<Where> where;
};
struct MemoryLimit {
  std::string message;
};
struct TooFast {  // below the physical floor
  std::string workload;
  double time_us = 0, floor_us = 0;
};

using Verdict =
    std::variant<Correct, CompileFailed, InvalidPlan, WrongResult, NotWritten, WrongNonFinite, OrderDependent,
                 GuardDamaged, InputModified, Faulted, TimedOut, Crashed, ForbiddenCall, MemoryLimit, TooFast>;

bool is_correct(const Verdict& verdict);
// The stored name: "correct", "compile_error", "unsupported", "wrong_result", "race", ... For CompileFailed the
// rejection's name and for Faulted the fault's, so that each way of failing has one word.
std::string name_of(const Verdict& verdict);
std::string sentence_for_people(const Verdict& verdict);
// The finding and what to change, for a model's next prompt. Never contains secrets of the judge (seeds).
std::string sentence_for_models(const Verdict& verdict);

core::Json to_json(const Verdict& verdict);
Verdict verdict_from_json(const core::JsonView& json);  // throws core::InputError

}  // namespace verifier::verdicts
