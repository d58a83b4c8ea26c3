// The contents of a prompt as plain values, collected by the caller, and their wording.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/prompting/diagnosis.h"
#include "agent/prompting/templates.h"
#include "benchsuite/problem.h"
#include "verifier/verdicts/calibration.h"
#include "verifier/verdicts/measurement.h"

namespace agent::prompting {

struct ProblemText {
  benchsuite::Problem problem;
  std::string reference, naive;  // the files' text
};
// How an output is compared, where that is not element by element; else "".
std::string comparison_words(const benchsuite::OutputComparison& comparison);

// Reads both files. Throws core::InputError.
ProblemText read_problem_text(const benchsuite::Problem& problem);

// Where solutions run. Prompts do not mention absent values.
struct DeviceText {
  std::string backend;       // "cpu", "cuda"
  std::string name;          // "NVIDIA H200"; of the cpu device, the processor
  std::string architecture;  // "sm_90a"
  std::string compiler;      // of the cpu device: first line of --version
  std::optional<int64_t> multiprocessors, shared_bytes_per_block, shared_bytes_per_multiprocessor, registers, l2_bytes;
  std::optional<verifier::verdicts::Calibration> calibration;  // measured rates
  std::string vectors = {};                                    // of the cpu device: its widest vectors, in words
  std::string dialect = {};                                    // of the cpu device: "cuda", "hip", "hip32"
};

// A known solution at its best point.
struct KnownSolution {
  std::string name;  // one word, unique in the prompt; edits refer to it
  sandbox::Solution solution;
  sandbox::TunableBinding binding;
  std::optional<verifier::statistics::SpeedUp> speed_up;  // over naive
  std::optional<double> time_us, share_of_bound;
  std::optional<int64_t> registers, shared_bytes, spill_bytes;
};

enum class Operator {
  fresh,    // from nothing
  improve,  // one parent made faster
  repair,   // one parent made right
  cross,    // two parents made one
};
KW_ENUM_NAMES(Operator, fresh, improve, repair, cross)

// The confirmed winner of a similar problem.
struct Exemplar {
  std::string problem, title, device;  // that it won on
  KnownSolution winner;
  std::string workload;  // of its time
  std::string why;       // it is shown, a sentence
};

struct PromptFacts {
  ProblemText problem;
  DeviceText device;
  Operator task = Operator::fresh;
  std::vector<KnownSolution> parents;         // none, one or two, depending on the task
  std::vector<KnownSolution> known;           // without the parents, the best first
  std::vector<std::string> tried;             // failures, a line each, the latest first
  std::optional<Diagnosis> diagnosis;         // the most important one: of the first parent, or of the whole search
  std::optional<Diagnosis> second_diagnosis;  // of the second parent
  std::optional<Exemplar> exemplar;           // for a fresh solution
  std::map<std::string, double> card_worths;  // CardWish::worths
  std::set<std::string> seen_cards;           // shown in earlier prompts of the same line of descent
  int wanted = 1;                             // solutions
  size_t alongside = 0;                       // earlier requests for the same task; no two prompts may be equal
  std::optional<double> naive_us;             // of the naive solution at the first timed workload
};

TemplateValues problem_values(const ProblemText& problem, const std::string& backend);
std::string device_words(const DeviceText& device);

// "s12: 20.82x over naive [20.1x, 21.5x], 134.1 us, 87 % of the bound; block 256, ...; "what its author said""
std::string solution_line(const KnownSolution& known, const benchsuite::Problem& problem, const std::string& backend);
// The source in a fenced block, with a note if it was cut.
std::string source_block(const std::string& source, size_t most_bytes);

std::string bullets(const std::vector<std::string>& lines, size_t most);

// "one solution", "3 solutions that differ in structure"
std::string wanted_words(int wanted);
// Empty if this is the only request for the task.
std::string others_words(size_t alongside);

}  // namespace agent::prompting
