#include "verifier/adversarial/adversarial_case.h"

#include <algorithm>
#include <array>
#include <utility>

#include "benchsuite/backend.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/suggest.h"
#include "core/text.h"
#include "verifier/statistics/keys.h"

namespace verifier::adversarial {
namespace {
constexpr std::string_view kNoWin = "no_win";
// Verdicts that are neither a rejection nor a fault (verifier/verdicts/verdict.h).
constexpr std::array<std::string_view, 14> kOtherVerdicts{
    "correct",         kNoWin,          "invalid_plan",   "wrong_result", "not_written", "wrong_non_finite",
    "order_dependent", "guard_damaged", "input_modified", "timed_out",    "crashed",     "forbidden_call",
    "memory_limit",    "too_fast"};

struct Statement {
  std::string text;  // to the full stop
  size_t line;
};

// Reads statements "// MARK: text." below the header, each allowed once.
class Statements {
 public:
  Statements(const std::string& source, std::string file) : file_(std::move(file)) {
    lines_ = core::split(source, '\n');
    while (begin_ < lines_.size() && lines_[begin_].rfind("*/", 0) != 0) ++begin_;
  }

  const std::string& file() const { return file_; }
  std::string where(size_t line) const { return file_ + ":" + std::to_string(line); }

  bool has(const std::string& mark) const { return find(mark) < lines_.size(); }
  Statement get(const std::string& mark) const {
    const size_t at = find(mark);
    if (at == lines_.size()) {
      throw core::InputError(file_, "does not say \"// " + mark + ": ...\" in a line below its header comment",
                             "verifier/adversarial/adversarial_case.h shows the lines of a case");
    }
    const std::string prefix = "// " + mark + ": ", line = lines_[at];
    const size_t stop = line.find('.', prefix.size());
    if (stop == std::string::npos) throw core::InputError(where(at + 1), "has no full stop");
    return {line.substr(prefix.size(), stop - prefix.size()), at + 1};
  }

 private:
  size_t find(const std::string& mark) const {
    for (size_t i = begin_ + 1; i < lines_.size() && lines_[i].rfind("// ", 0) == 0; ++i) {
      if (lines_[i].rfind("// " + mark + ": ", 0) == 0) return i;
    }
    return lines_.size();
  }

  std::string file_;
  std::vector<std::string> lines_;
  size_t begin_ = 0;
};

AttackClass class_in(const Statements& statements) {
  const Statement statement = statements.get("Class");
  return core::parse_enum<AttackClass>(statement.text, statements.where(statement.line), "classes");
}

bool is_verdict(const std::string& word) {
  return core::enum_from_name<sandbox::Rejection>(word) || core::enum_from_name<sandbox::FaultKind>(word) ||
         std::find(kOtherVerdicts.begin(), kOtherVerdicts.end(), word) != kOtherVerdicts.end();
}

std::vector<std::string> verdicts_in(const Statements& statements, const std::string& backend, bool honest) {
  const Statement statement = statements.get("On " + backend);
  std::vector<std::string> verdicts;
  size_t begin = 0;
  for (;;) {
    const size_t end = statement.text.find(" or ", begin);
    verdicts.push_back(statement.text.substr(begin, end - begin));
    if (!is_verdict(verdicts.back())) {
      throw core::InputError(statements.where(statement.line), "\"" + verdicts.back() + "\" is not a verdict",
                             "verifier/verdicts/verdict.h lists them");
    }
    if (end == std::string::npos) break;
    begin = end + 4;
  }
  if (honest && verdicts != std::vector<std::string>{"correct"}) {
    throw core::InputError(statements.where(statement.line), "an honest solution must be correct",
                           "leave the backend out if the device cannot run it");
  }
  return verdicts;
}

// Every valid point, with one drawn value of DRAWN.
std::vector<sandbox::TunableBinding> points_of(const sandbox::Solution& solution, statistics::Keys& keys) {
  std::vector<sandbox::TunableBinding> points{{}};
  for (const sandbox::Tunable& tunable : solution.tunables) {
    std::vector<sandbox::TunableBinding> more;
    for (const sandbox::TunableBinding& point : points) {
      std::vector<int64_t> values = tunable.values;
      if (tunable.name == "DRAWN") values = {values[keys.below(values.size())]};
      for (const int64_t value : values) {
        more.push_back(point);
        more.back()[tunable.name] = value;
      }
    }
    points = std::move(more);
  }
  std::erase_if(points, [&](const auto& point) { return !sandbox::satisfies_constraints(solution, point); });
  return points;
}

bool has_correct(const std::vector<std::string>& verdicts) {
  return std::find(verdicts.begin(), verdicts.end(), "correct") != verdicts.end();
}

// True if it won by more than a change of a few instructions explains.
bool won_by_much(const verdicts::Judgement& judgement) {
  constexpr double kMuch = 1.5;
  return verdicts::is_correct(judgement.verdict) && judgement.measurement &&
         judgement.measurement->speed_up.low > kMuch;
}
}  // namespace

bool AdversarialCase::must_not_win(const std::string& backend) const {
  return !honest() && runs_on(backend) && !has_correct(verdicts.at(backend));
}

std::vector<AdversarialCase> load_cases(const std::filesystem::path& file, uint64_t seed) {
  const sandbox::Solution solution = sandbox::load_solution(file);
  const Statements statements(solution.source, file.string());
  const AttackClass of = class_in(statements);
  if (solution.description.empty()) throw core::InputError(file.string(), "needs a description of what it tries");
  std::map<std::string, std::vector<std::string>> verdicts;
  for (const std::string& backend : benchsuite::judged_backends()) {
    const auto& listed = solution.backends;
    // No AMD GPU has executed a case: only those that are refused before say what hip answers.
    const bool known = backend != "hip" || statements.has("On " + backend);
    const bool runs = known && std::find(listed.begin(), listed.end(), backend) != listed.end();
    if (runs) verdicts[backend] = verdicts_in(statements, backend, of == AttackClass::honest);
    if (!runs && statements.has("On " + backend)) {
      throw core::InputError(statements.where(statements.get("On " + backend).line),
                             "names a verdict for a device that is not among its backends");
    }
  }
  const std::string stem = file.stem().string();
  statistics::Keys keys(seed ^ std::stoull(core::sha256_hex(stem).substr(0, 16), nullptr, 16));
  std::vector<AdversarialCase> cases;
  for (sandbox::TunableBinding& point : points_of(solution, keys)) {
    const std::string name = point.empty() ? stem : stem + " " + sandbox::describe(point);
    cases.push_back({name, solution.description, of, verdicts, statements.has("Slow"), solution, std::move(point)});
  }
  return cases;
}

std::vector<AdversarialCase> load_adversarial_cases(const std::filesystem::path& folder, uint64_t seed) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<AdversarialCase> all;
  for (const std::filesystem::path& file : files) {
    std::vector<AdversarialCase> cases = load_cases(file, seed);
    std::move(cases.begin(), cases.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(), [](const AdversarialCase& a, const AdversarialCase& b) {
    return a.solution.problem < b.solution.problem;
  });
  return all;
}

bool is_as_expected(const AdversarialCase& of, const std::string& backend, const verdicts::Judgement& judgement) {
  const std::vector<std::string>& verdicts = of.verdicts.at(backend);
  const bool need_not_win = std::find(verdicts.begin(), verdicts.end(), kNoWin) != verdicts.end();
  if (need_not_win && !won_by_much(judgement)) return true;
  return std::find(verdicts.begin(), verdicts.end(), name_of(judgement.verdict)) != verdicts.end();
}

bool is_false_accept(const AdversarialCase& of, const std::string& backend, const verdicts::Judgement& judgement) {
  return of.must_not_win(backend) && verdicts::is_correct(judgement.verdict) && !is_as_expected(of, backend, judgement);
}

bool is_false_reject(const AdversarialCase& of, const verdicts::Judgement& judgement) {
  return of.honest() && !verdicts::is_correct(judgement.verdict);
}

}  // namespace verifier::adversarial
