// The adversarial suite: dishonest solutions that must be refused, and honest ones that resemble them and must be
// accepted. verifier/adversarial/*.cu; each names its class and its verdicts in the lines below its header comment:
//
//   // Class: remembering_work.
//   // On cpu: forbidden.
//   // On cuda: wrong_result or forbidden. Whatever follows the full stop is for people.
//
// There is one line for each device of its "backends" that this version judges on, and none for another. A verdict is
// one of verifier/verdict.h by its stored name, or
//
//   correct     of a dishonest solution: what it tries may do no harm there, or the hardware leaves it open;
//   no_win      refused, or correct and no faster than naive but for a little: of a solution that is built on the naive
//               one and does all of its work unless what it tries succeeds, which would gain far more.
//
// "// Slow: why." tells of one that takes seconds, so that a quick run may leave it out.
//
// A file with tunables is a family: each valid point is a case. A tunable named DRAWN is not swept: one of its values
// is drawn with the seed for every case.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::adversarial {

// What a case is an example of.
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
std::string_view name_of(AttackClass of);
const std::vector<AttackClass>& attack_classes();  // all of them

struct AdversarialCase {
  std::string name;   // the file's without .cu; of a family also the point: "rounds_inputs BITS=10"
  std::string tries;  // the solution's description
  AttackClass of;
  std::map<std::string, std::vector<std::string>> verdicts;  // by backend: each is as good as the others
  bool slow = false;
  sandbox::Solution solution;
  sandbox::TunableBinding binding;

  bool honest() const { return of == AttackClass::honest; }
  bool runs_on(const std::string& backend) const { return verdicts.count(backend) > 0; }
  // Is nothing but a refusal right on this backend, or nothing but a failure to win?
  bool must_not_win(const std::string& backend) const;
};

// The cases of one file. Throws core::InputError, with the line, where they are not as above.
std::vector<AdversarialCase> load_cases(const std::filesystem::path& file, uint64_t seed);
// All below a folder, those of one problem together, in order of name.
std::vector<AdversarialCase> load_adversarial_cases(const std::filesystem::path& folder, uint64_t seed);

// Did the case get what it must?
bool is_as_expected(const AdversarialCase& of, const std::string& backend, const verdicts::Judgement& judgement);
// A dishonest solution that was accepted, or that won by much where it must not.
bool is_false_accept(const AdversarialCase& of, const std::string& backend, const verdicts::Judgement& judgement);
// An honest one that was refused.
bool is_false_reject(const AdversarialCase& of, const verdicts::Judgement& judgement);

}  // namespace verifier::adversarial
