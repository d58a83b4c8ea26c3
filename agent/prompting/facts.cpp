#include "agent/prompting/facts.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "agent/prompting/code_facts.h"
#include "agent/prompting/limits.h"
#include "agent/prompting/templates.h"
#include "benchsuite/shared_headers.h"
#include "core/text.h"

namespace agent::prompting {

namespace {
// The imported file and its tables, without the code that calls it.
std::string without_machinery(const std::string& reference) {
  return reference.substr(0, reference.rfind("\n# ---- Below: how kernelwright calls it"));
}
}  // namespace

ProblemText read_problem_text(const benchsuite::Problem& problem) {
  if (problem.pytorch()) {
    return {problem, without_machinery(problem.files.at(std::string(benchsuite::kPytorchFile))),
            "// There is no plain kernel: eager PyTorch, the reference above in the contract's dtypes, is the first to "
            "beat.\n"};
  }
  return {problem, benchsuite::without_shared_headers(problem.files.at(std::string(benchsuite::kReferenceFile))),
          problem.files.at(std::string(benchsuite::kNaiveFile))};
}

namespace {
std::string fact_number(double value, const char* format = "%.4g") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string line(const std::string& text, size_t most = 300) { return core::clean_line(text, most); }

std::string init_words(const benchsuite::InputInit& init, core::DType dtype) {
  switch (init.kind) {
    case benchsuite::Init::normal:
      return "N(0, " + fact_number(init.scale) + ")" +
             (init.largest > 0 ? ", none larger than " + fact_number(init.largest) + " in size" : "");
    case benchsuite::Init::uniform:
      return "U[" + fact_number(init.low) + ", " + fact_number(init.high) + ")";
    case benchsuite::Init::integers:
      return "integers in [" + init.least.text() + ", " + init.most.text() + "]";
    case benchsuite::Init::permutation:
      return "permutations: each row holds 0, 1, ... once";
    case benchsuite::Init::sorted:
      return "sorted numbers: each row ascends from " +
             (core::is_floating(dtype) ? fact_number(init.low) + " to below " + fact_number(init.high)
                                       : init.least.text() + " to " + init.most.text());
    case benchsuite::Init::probabilities:
      return "probabilities: each row adds up to 1";
    case benchsuite::Init::triangular:
      return "N(0, " + fact_number(init.scale) + ") with zeros above the diagonal";
    case benchsuite::Init::upper_triangular:
      return "N(0, " + fact_number(init.scale) + ") with zeros below the diagonal";
    case benchsuite::Init::given:
      return "the problem's own data, which the description explains" +
             (init.bounded ? ": integers in [" + init.least.text() + ", " + init.most.text() + "]" : std::string());
  }
  return "";
}

std::string compared_words(const benchsuite::OutputComparison& comparison) {
  const std::string words = comparison_words(comparison);
  return words.empty() ? "" : "; " + words;
}

std::string tensor_words(const benchsuite::Tensor& tensor, bool input) {
  std::vector<std::string> sizes;
  for (const core::Expr& size : tensor.shape) sizes.push_back(size.text());
  return "- " + std::string(input ? "input " : "output ") + tensor.name + ": " +
         std::string(core::name_of(tensor.dtype)) + " [" + core::join(sizes, ", ") + "]" +
         (input ? ", drawn from " + init_words(tensor.init, tensor.dtype) : compared_words(tensor.comparison)) + "\n";
}

std::string scalar_words(const benchsuite::NamedScalar& scalar) {
  const std::string dtype(core::name_of(core::dtype_of(scalar.value)));
  return "- scalar " + scalar.name + ": " + dtype + ", always " + core::text_of(scalar.value) +
         "; in args, it is passed by value\n";
}

std::string axis_words(const benchsuite::Axis& axis) {
  return "- " + axis.name + ": " + line(axis.description) + ", " + axis.domain() + "\n";
}

std::string contract_words(const benchsuite::Contract& contract) {
  std::string text = "sums are kept in " + std::string(core::name_of(contract.accumulate)) + " or better";
  text += contract.tf32 ? "; TF32 is allowed" : "; TF32 is not allowed";
  text += contract.nan ? "; NaN and infinity propagate as in the reference" : "; inputs are finite";
  if (contract.exact_integers) text += "; integer-valued inputs must give exact results while sums stay below 2^24";
  return text + ".";
}

std::string weight_words(const benchsuite::Workload& workload) {
  return workload.weight == 1 ? "" : ", weight " + fact_number(workload.weight, "%.6g");
}

std::string workload_words(const benchsuite::Problem& problem, const std::string& backend) {
  std::string text;
  bool weighted = false;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (!workload.runs_on(backend)) continue;
    text += "- " + line(workload.name, 100) + ": " + sandbox::describe(workload.axes) +
            (workload.role == benchsuite::Role::bench ? " (timed" + weight_words(workload) + ")" : "") + "\n";
    weighted |= workload.weight != 1;
  }
  if (weighted) text += "The score is the geometric mean of the speed-ups at the timed shapes, by weight.\n";
  return text;
}

std::string bytes_words(int64_t bytes) {
  if (bytes >= 4 << 20) return std::to_string(bytes >> 20) + " MiB";
  return bytes >= 4096 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " B";
}

std::string calibration_words(const verifier::verdicts::Calibration& c) {
  const auto tera = [](double per_s) { return fact_number(per_s / 1e12, "%.3g"); };
  return "- measured: memory reads " + fact_number(c.dram_read_gb_s, "%.0f") + " GB/s, writes " +
         fact_number(c.dram_write_gb_s, "%.0f") + " GB/s, copies (both counted) " +
         fact_number(c.dram_copy_gb_s, "%.0f") + " GB/s; L2 reads " + fact_number(c.l2_read_gb_s, "%.0f") +
         " GB/s\n- measured peaks: fp32 " + tera(c.fp32_flop_s) + " TFLOP/s; tensor cores f16 " +
         tera(c.tensor_f16_flop_s) + ", bf16 " + tera(c.tensor_bf16_flop_s) + ", tf32 " + tera(c.tensor_tf32_flop_s) +
         " TFLOP/s (" + line(c.tensor_instruction, 40) + ")\n- an empty launch takes " +
         fact_number(c.launch_floor_us, "%.2f") + " us\n";
}

// The source without its header: the reference's launch plan does not help a model.
std::string without_header(const std::string& source) {
  const size_t end = source.find("*/");
  return end == std::string::npos ? source : source.substr(std::min(source.size(), end + 3));
}
}  // namespace

std::string comparison_words(const benchsuite::OutputComparison& comparison) {
  switch (comparison.rule) {
    case benchsuite::OutputRule::elements:
      return "";
    case benchsuite::OutputRule::equal:
      return "must be right to the last bit";
    case benchsuite::OutputRule::any_order:
      return "the elements of a row may stand in any order";
    case benchsuite::OutputRule::quanta:
      return "the whole number nearest to the unrounded one, which the reference gives in double; where rounding in "
             "fp32 decides between two, either will do";
    case benchsuite::OutputRule::between:
      return "any number that rounding explains: the reference holds the least one in the low 32 bits of its element "
             "and "
             "the largest one in the high 32 bits; a kernel writes one number";
    case benchsuite::OutputRule::indices:
      return "places in the rows of " + comparison.into + ", each once: where values are equal, any of them will do" +
             (comparison.values.empty() ? "" : "; " + comparison.values + " holds the value at each place") +
             (comparison.in_any_order ? "; those of a row may stand in any order" : "");
  }
  return "";
}

TemplateValues problem_values(const ProblemText& of, const std::string& backend) {
  const benchsuite::Problem& problem = of.problem;
  std::string axes, tensors;
  for (const benchsuite::Axis& axis : problem.axes) axes += axis_words(axis);
  for (const benchsuite::Tensor& tensor : problem.inputs) tensors += tensor_words(tensor, true);
  for (const benchsuite::Tensor& tensor : problem.outputs) tensors += tensor_words(tensor, false);
  for (const benchsuite::NamedScalar& scalar : problem.scalars) tensors += scalar_words(scalar);
  constexpr size_t kMostFileBytes = size_t{12} << 10;
  return {{"title", line(problem.title)},
          {"name", problem.name},
          {"description", line(problem.description, 4000)},
          {"axes", axes},
          {"tensors", tensors},
          {"contract", contract_words(problem.contract)},
          {"cost", problem.cost.flops.text() + " operations; at least " + problem.cost.bytes_read.text() +
                       " bytes read and " + problem.cost.bytes_written.text() + " written."},
          {"workloads", workload_words(problem, backend)},
          {"reference", problem.pytorch() ? fenced(core::clean_text(of.reference, kMostFileBytes), "python")
                                          : source_block(without_header(of.reference), kMostFileBytes)},
          {"naive", source_block(of.naive, kMostFileBytes)}};
}

std::string device_words(const DeviceText& device) {
  std::string text = "- " + line(device.name.empty() ? device.backend : device.name, 200);
  if (!device.architecture.empty()) text += ", " + line(device.architecture, 40);
  if (device.multiprocessors) text += ", " + std::to_string(*device.multiprocessors) + " multiprocessors";
  text += "\n";
  std::vector<std::string> parts;
  if (device.shared_bytes_per_block)
    parts.push_back("shared memory of a block up to " + bytes_words(*device.shared_bytes_per_block));
  if (device.shared_bytes_per_multiprocessor) {
    parts.push_back("of a multiprocessor " + bytes_words(*device.shared_bytes_per_multiprocessor));
  }
  if (device.registers) parts.push_back(std::to_string(*device.registers) + " registers of a multiprocessor");
  if (device.l2_bytes) parts.push_back("L2 " + bytes_words(*device.l2_bytes));
  if (!parts.empty()) text += "- " + core::join(parts, "; ") + "\n";
  if (!device.vectors.empty()) text += "- " + line(device.vectors, 200) + "\n";
  if (!device.compiler.empty()) text += "- compiled by " + line(device.compiler, 200) + "\n";
  if (device.dialect.starts_with("hip")) {
    text += std::string("- the language is HIP: wavefronts of ") + (device.dialect == "hip" ? "64" : "32") +
            " lanes (KW_WAVE), <hip/hip_fp16.h>, no inline assembly, no wmma; \"backends\" must include \"hip\"\n";
  }
  if (device.calibration) text += calibration_words(*device.calibration);
  return text;
}

std::string solution_line(const KnownSolution& known, const benchsuite::Problem& problem, const std::string& backend) {
  std::vector<std::string> parts;
  if (known.speed_up) {
    parts.push_back(fact_number(known.speed_up->value, "%.2fx") + " over naive [" +
                    fact_number(known.speed_up->low, "%.2f") + ", " + fact_number(known.speed_up->high, "%.2f") + "]");
  }
  if (known.time_us) parts.push_back(time_words(*known.time_us));
  if (known.share_of_bound) parts.push_back(percent(*known.share_of_bound) + " of the bound");
  if (const std::string point = sandbox::describe(known.binding); !point.empty()) parts.push_back("at " + line(point));
  if (const benchsuite::Workload* bench = first_bench(problem, backend)) {
    parts.push_back(distinguishing_line(facts_of(known.solution, known.binding, bench->axes, problem)));
  }
  if (known.registers) parts.push_back(std::to_string(*known.registers) + " registers");
  if (known.shared_bytes.value_or(0) > 0) parts.push_back(bytes_words(*known.shared_bytes) + " static shared");
  if (known.spill_bytes.value_or(0) > 0) parts.push_back(bytes_words(*known.spill_bytes) + " spilled");
  std::string text = known.name + ": " + core::join(parts, "; ");
  if (!known.solution.description.empty()) text += ". Its author: \"" + line(known.solution.description, 200) + "\"";
  return text;
}

std::string source_block(const std::string& source, size_t most_bytes) {
  return fenced(core::clean_text(source, most_bytes), "cuda");
}

std::string bullets(const std::vector<std::string>& lines, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), most); ++i) text += "- " + line(lines[i]) + "\n";
  return text;
}

std::string wanted_words(int wanted) {
  return wanted <= 1 ? "one solution" : std::to_string(wanted) + " solutions that differ in structure";
}

std::string others_words(size_t alongside) {
  constexpr size_t kApproaches = 8;  // distinct approaches that a model can be expected to find
  if (alongside == 0) return "";
  const std::string others = alongside == 1 ? "Another expert was" : std::to_string(alongside) + " other experts were";
  return others + " asked the same before you. So list possible approaches, the most promising first, and use number " +
         std::to_string(alongside % kApproaches + 1) + ".\n";
}

}  // namespace agent::prompting
