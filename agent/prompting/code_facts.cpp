#include "agent/prompting/code_facts.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/tokens.h"

namespace agent::prompting {
namespace {
bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

constexpr std::pair<std::string_view, int> kVectors[] = {
    {"float2", 8},         {"float4", 16},         {"double2", 16},       {"int2", 8},       {"int4", 16},
    {"uint2", 8},          {"uint4", 16},          {"short4", 8},         {"ushort4", 8},    {"char4", 4},
    {"uchar4", 4},         {"half2", 4},           {"__half2", 4},        {"longlong2", 16}, {"ulonglong2", 16},
    {"__nv_bfloat162", 4}, {"__nv_fp8x4_e4m3", 4}, {"__nv_fp8x4_e5m2", 4}};

constexpr std::string_view kFunctions[] = {"expf", "exp2f", "logf", "log2f",  "erff",   "erfcf",  "tanhf",
                                           "sinf", "cosf",  "powf", "expm1f", "log1pf", "__expf", "__logf"};

bool is_function(const std::string& word) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), word) != std::end(kFunctions);
}
bool is_atomic(const std::string& word) { return word.starts_with("atomic"); }

// Reads "vector_size(32)" or "vector_size(VEC * 4)"; the bytes only if they are a number.
void see_vector_type(const std::vector<sandbox::Token>& tokens, size_t i, CodeFacts& facts) {
  facts.explicit_vectors = true;
  if (i + 3 >= tokens.size() || tokens[i + 2].kind != sandbox::TokenKind::number || !tokens[i + 3].is(")")) return;
  int bytes = 0;
  const std::string& text = tokens[i + 2].text;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  facts.vector_bytes = std::max(facts.vector_bytes, bytes);
}

void see_word(const std::string& word, CodeFacts& facts) {
  if (word.starts_with("__syncthreads")) ++facts.barriers;
  if (word.starts_with("__shfl") || word.starts_with("__reduce_") || word.starts_with("__ballot") ||
      word.starts_with("__match_")) {
    ++facts.shuffles;
  }
  if (is_atomic(word)) ++facts.atomics;
  if (word == "__shared__") facts.shared = true;
  if (word == "wmma" || word == "mma_sync") facts.tensor_cores = true;
  if (word == "cooperative_groups") facts.cooperative_groups = true;
  if (word == "memcpy_async" || word.starts_with("__pipeline_")) facts.async_copies = true;
  if (word == "CUtensorMap") facts.tma = true;
  if (word == "asm") facts.inline_ptx = true;
  for (const auto& [name, bytes] : kVectors) {
    if (word == name) facts.vector_bytes = std::max(facts.vector_bytes, bytes);
  }
}

void see_string(std::string_view text, CodeFacts& facts) {
  if (holds(text, "mma.sync") || holds(text, "wgmma")) facts.tensor_cores = true;
  if (holds(text, "cp.async")) facts.async_copies = true;
  if (holds(text, "cp.async.bulk")) facts.tma = true;
  if (holds(text, "bar.sync") || holds(text, "barrier.sync")) ++facts.barriers;
}

std::string extent(const std::array<int64_t, 3>& of) {
  std::string text = std::to_string(of[0]);
  if (of[1] > 1 || of[2] > 1) text += "x" + std::to_string(of[1]);
  if (of[2] > 1) text += "x" + std::to_string(of[2]);
  return text;
}

std::string counted(int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string launch_words(const CodeFacts::Launch& launch) {
  return "block " + extent(launch.block) + ", grid " + extent(launch.grid) +
         (launch.shared_bytes > 0 ? ", " + std::to_string(launch.shared_bytes) + " B dynamic shared" : "");
}
}  // namespace

int64_t CodeFacts::threads() const {
  double sum = 0;  // grids may be huge
  for (const Launch& launch : launches) sum += launch.threads();
  return static_cast<int64_t>(std::min(sum, 9e18));
}

CodeFacts facts_of(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                   const core::Bindings& axes, const benchsuite::Problem& problem) {
  CodeFacts facts;
  const std::vector<sandbox::Token> tokens = sandbox::tokenize(solution.source);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const sandbox::Token& token = tokens[i];
    if (token.kind == sandbox::TokenKind::identifier) see_word(token.text, facts);
    if (token.kind == sandbox::TokenKind::string) see_string(token.value, facts);
    if (token.is("__align__") || token.is("alignas")) facts.wide_struct = true;
    if ((token.is("vector_size") || token.is("__vector_size__")) && i + 1 < tokens.size() && tokens[i + 1].is("(")) {
      see_vector_type(tokens, i, facts);
    }
  }
  facts.functions = count_calls(tokens, is_function);
  facts.atomic_calls = count_calls(tokens, is_atomic);
  try {
    const sandbox::LaunchPlan plan = sandbox::bind_plan(solution, binding, axes, &problem);
    for (const sandbox::PlannedLaunch& launch : plan.launches) {
      facts.launches.push_back({launch.kernel, launch.grid, launch.block, launch.shared_bytes});
    }
    for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) facts.workspace_bytes += workspace.bytes;
  } catch (const core::InputError&) {  // the plan does not fit this shape
    facts.launches.clear();
  }
  return facts;
}

std::string distinguishing_line(const CodeFacts& facts) {
  std::vector<std::string> parts;
  if (facts.launches.size() > 1) parts.push_back(std::to_string(facts.launches.size()) + " launches");
  if (!facts.launches.empty()) {
    // The launch with the most threads does the work.
    parts.push_back(launch_words(*std::max_element(
        facts.launches.begin(), facts.launches.end(),
        [](const CodeFacts::Launch& a, const CodeFacts::Launch& b) { return a.threads() < b.threads(); })));
  }
  if (facts.workspace_bytes > 0) parts.push_back(std::to_string(facts.workspace_bytes) + " B of workspace");
  if (facts.tensor_cores) parts.emplace_back("tensor cores");
  if (facts.tma) {
    parts.emplace_back("TMA");
  } else if (facts.async_copies) {
    parts.emplace_back("cp.async");
  }
  if (facts.vector_bytes > 0) {
    parts.push_back(std::to_string(facts.vector_bytes) + "-byte vectors");
  } else if (facts.explicit_vectors) {
    parts.emplace_back("explicit vectors");
  }
  if (facts.shared) parts.emplace_back("shared memory");
  if (facts.shuffles > 0) parts.emplace_back("warp operations");
  if (facts.atomics > 0) parts.emplace_back("atomics");
  parts.push_back(facts.barriers > 0 ? counted(facts.barriers, "barrier") : "no barriers");
  return core::join(parts, "; ");
}

const benchsuite::Workload* first_bench(const benchsuite::Problem& problem, const std::string& backend) {
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role == benchsuite::Role::bench && workload.runs_on(backend)) return &workload;
  }
  return nullptr;
}

}  // namespace agent::prompting
