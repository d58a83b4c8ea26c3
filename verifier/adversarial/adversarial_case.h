// The adversarial suite: dishonest solutions that must be refused, and honest ones that resemble them and must be
// accepted. verifier/adversarial/*.cu; each names its class and its verdicts in the lines below its header comment:
//
//   // Class: remembering_work.
//   // On cpu: forbidden.
//   // On cuda: wrong_result or forbidden. Text after the full stop is for people.
//
// A solution for cpu or cuda has that line; one for hip only where compiling or inspecting it already decides. A
// verdict is a stored name of verifier/verdicts/verdict.h, or
//
//   correct     for a dishonest solution: its attack may be harmless there, or the hardware leaves it open;
//   no_win      refused, or correct and at most slightly faster than naive: for a solution that extends the naive
//               one and does all of its work unless its attack succeeds, which would gain far more.
//
// "// Slow: why." marks a case that takes seconds, so that a quick run may skip it.
//
// A file with tunables is a family: each valid point is a case. A tunable named DRAWN is not swept: the seed draws one
// of its values for every case.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "core/enum_names.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::adversarial {

// The kind of attack that a case shows.
enum class AttackClass {
  not_doing_the_work,
  remembering_work,
  peeking,
  noticing_the_judge,
  numerics,
  clock_and_cache,
  denial,
  compile_time,
  escapes,
  honest,
};
KW_ENUM_NAMES(AttackClass, not_doing_the_work, remembering_work, peeking, noticing_the_judge, numerics, clock_and_cache,
              denial, compile_time, escapes, honest)

struct AdversarialCase {
  std::string name;   // the file's without .cu; of a family also the point: "rounds_inputs BITS=10"
  std::string tries;  // the solution's description
  AttackClass of;
  std::map<std::string, std::vector<std::string>> verdicts;  // allowed verdicts by backend
  bool slow = false;
  sandbox::Solution solution;
  sandbox::TunableBinding binding;

  bool honest() const { return of == AttackClass::honest; }
  bool runs_on(const std::string& backend) const { return verdicts.count(backend) > 0; }
  // True if, on this backend, every allowed verdict is a refusal or no win.
  bool must_not_win(const std::string& backend) const;
};

// The cases of one file. Throws core::InputError with the line if it does not have the form above.
std::vector<AdversarialCase> load_cases(const std::filesystem::path& file, uint64_t seed);
// All cases below a folder, grouped by problem, in order of name.
std::vector<AdversarialCase> load_adversarial_cases(const std::filesystem::path& folder, uint64_t seed);

// True if the verdict is one that the case allows.
bool is_as_expected(const AdversarialCase& of, const std::string& backend, const verdicts::Judgement& judgement);
// True if a dishonest solution was accepted, or won clearly where it must not win.
bool is_false_accept(const AdversarialCase& of, const std::string& backend, const verdicts::Judgement& judgement);
// True if an honest solution was refused.
bool is_false_reject(const AdversarialCase& of, const verdicts::Judgement& judgement);

}  // namespace verifier::adversarial
