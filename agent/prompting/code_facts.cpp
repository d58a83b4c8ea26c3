#include "agent/prompting/code_facts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
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

// What identifiers and string literals (inline PTX) tell. A name that ends in '*' stands for all that begin so.
struct Sign {
  std::string_view text;
  bool CodeFacts::*fact;
};
constexpr Sign kIdentifiers[] = {{"__shared__", &CodeFacts::shared},
                                 {"wmma", &CodeFacts::tensor_cores},
                                 {"mma_sync", &CodeFacts::tensor_cores},
                                 {"__builtin_amdgcn_mfma*", &CodeFacts::tensor_cores},
                                 {"cooperative_groups", &CodeFacts::cooperative_groups},
                                 {"memcpy_async", &CodeFacts::async_copies},
                                 {"__pipeline_*", &CodeFacts::async_copies},
                                 {"CUtensorMap", &CodeFacts::tma},
                                 {"asm", &CodeFacts::inline_ptx},
                                 {"__align__", &CodeFacts::wide_struct},
                                 {"alignas", &CodeFacts::wide_struct},
                                 {"gridDim", &CodeFacts::walks_grid},
                                 {"__ldcs", &CodeFacts::streaming},
                                 {"__stcs", &CodeFacts::streaming},
                                 {"__ldlu", &CodeFacts::streaming},
                                 {"__stwt", &CodeFacts::streaming},
                                 {"__builtin_nontemporal_*", &CodeFacts::streaming}};
constexpr Sign kInstructions[] = {
    {"mma.sync", &CodeFacts::tensor_cores}, {"wgmma", &CodeFacts::tensor_cores},
    {"wgmma", &CodeFacts::wgmma},           {"ldmatrix", &CodeFacts::ldmatrix},
    {"cp.async", &CodeFacts::async_copies}, {"cp.async.bulk", &CodeFacts::tma},
    {"mbarrier", &CodeFacts::mbarriers},    {"no_allocate", &CodeFacts::streaming},
    {"evict_first", &CodeFacts::streaming}, {"griddepcontrol", &CodeFacts::dependent_launches}};

// Names of constants and tunables that count the tiles in flight, in small letters and without a leading k.
constexpr std::string_view kStageNames[] = {"stages", "buffers", "ahead"};

bool is_function(const std::string& word) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), word) != std::end(kFunctions);
}
bool is_atomic(const std::string& word) { return word.starts_with("atomic"); }

bool is_stage_name(std::string_view name) {
  if (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1]))) name.remove_prefix(1);
  std::string small;
  for (const char c : name) small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(std::begin(kStageNames), std::end(kStageNames), small) != std::end(kStageNames);
}

int vector_bytes_of(std::string_view word) {
  for (const auto& [name, bytes] : kVectors) {
    if (word == name) return bytes;
  }
  return 0;
}

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
  for (const Sign& sign : kIdentifiers) {
    const bool matches =
        sign.text.ends_with('*') ? word.starts_with(sign.text.substr(0, sign.text.size() - 1)) : word == sign.text;
    if (matches) facts.*sign.fact = true;
  }
  facts.vector_bytes = std::max(facts.vector_bytes, vector_bytes_of(word));
}

void see_string(std::string_view text, CodeFacts& facts) {
  for (const Sign& sign : kInstructions) {
    if (holds(text, sign.text)) facts.*sign.fact = true;
  }
  if (holds(text, "bar.sync") || holds(text, "barrier.sync")) ++facts.barriers;
  if (holds(text, "red.global") || holds(text, "atom.global")) ++facts.atomics;
}

// Reads the declaration of an array whose name is tokens[i]: "float sums[ROWS][COLUMNS];". Counts no shared ones.
void see_array(const std::vector<sandbox::Token>& tokens, size_t i, const std::set<std::string>& own_vectors,
               CodeFacts& facts) {
  using Kind = sandbox::TokenKind;
  size_t dimensions = 0, open = 0, end = i + 1;
  bool product = false, sum = false;
  for (; end < tokens.size() && (open > 0 || tokens[end].is("[")); ++end) {
    if (tokens[end].is("[") && open++ == 0) ++dimensions;
    if (tokens[end].is("]")) --open;
    product = product || tokens[end].is("*");
    sum = sum || tokens[end].is("+");
  }
  if (end >= tokens.size() || !(tokens[end].is(";") || tokens[end].is(",") || tokens[end].is("="))) return;
  size_t begin = i;  // of the statement
  bool shared = false, assigns = false;
  while (begin > 0 && !tokens[begin - 1].is(";") && !tokens[begin - 1].is("{") && !tokens[begin - 1].is("}")) {
    --begin;
    shared = shared || tokens[begin].is("__shared__") || tokens[begin].is("__constant__");
    assigns = assigns || tokens[begin].is("=") || tokens[begin].is("return") || tokens[begin].is("(");
  }
  const sandbox::Token& before = tokens[i - 1];
  const bool fragments = before.is(">") && begin < i && (tokens[begin].is("wmma") || tokens[begin].is("nvcuda"));
  if (!fragments && before.kind != Kind::identifier) return;
  if (before.is("return") || before.is("else") || before.is("case") || (assigns && !shared)) return;
  if (sum) facts.padded = true;
  if (shared) return;
  const bool vectors = vector_bytes_of(before.text) >= 8 || own_vectors.contains(before.text);
  facts.vector_arrays = facts.vector_arrays || vectors;
  facts.register_tiles = facts.register_tiles || vectors || dimensions > 1 || product || fragments;
}

// Names of the source's own types for wide accesses: "struct __align__(16) Eight", "typedef float Floats
// __attribute__((vector_size(64)))", and parameters of templates.
std::set<std::string> own_vectors_of(const std::vector<sandbox::Token>& tokens) {
  std::set<std::string> names;
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("__attribute__") && tokens[i - 1].kind == sandbox::TokenKind::identifier) {
      names.insert(tokens[i - 1].text);
    }
    if (tokens[i - 1].is("typename") || tokens[i - 1].is("class")) names.insert(tokens[i].text);
    if (!tokens[i - 1].is("struct") || !(tokens[i].is("__align__") || tokens[i].is("alignas"))) continue;
    while (i + 1 < tokens.size() && !tokens[i].is(")")) ++i;
    if (i + 1 < tokens.size()) names.insert(tokens[i + 1].text);
  }
  return names;
}

// Reads "constexpr int kStages = 3;".
void see_stages(const std::vector<sandbox::Token>& tokens, size_t i, CodeFacts& facts) {
  if (i + 2 >= tokens.size() || !tokens[i + 1].is("=") || !is_stage_name(tokens[i].text)) return;
  int count = 0;
  const std::string& text = tokens[i + 2].text;
  std::from_chars(text.data(), text.data() + text.size(), count);
  facts.stages = std::max(facts.stages, count);
}

// What the header tells without a shape.
void see_header(const sandbox::Solution& solution, const benchsuite::Problem& problem, CodeFacts& facts) {
  for (const sandbox::Tunable& tunable : solution.tunables) {  // a tuner chooses among its values
    if (!is_stage_name(tunable.name)) continue;
    for (const int64_t value : tunable.values) facts.stages = std::max(facts.stages, static_cast<int>(value));
  }
  for (const sandbox::TensorMap& map : solution.tensor_maps) facts.padded = facts.padded || map.swizzle > 0;
  facts.splits_work = !solution.workspaces.empty() && solution.launches.size() > 1;
  for (const sandbox::Launch& launch : solution.launches) {
    facts.dependent_launches = facts.dependent_launches || launch.overlaps_previous;
    bool of_axes = false;
    for (size_t d = 0; d < 3; ++d) {
      if (launch.cluster[d].text() != "1") facts.splits_work = true;
      for (const std::string& name : launch.grid[d].names()) {
        of_axes = of_axes || std::ranges::any_of(problem.axes, [&](const auto& axis) { return axis.name == name; });
      }
    }
    facts.walks_grid = facts.walks_grid || !of_axes;
  }
}

// nullopt if the plan does not fit this shape.
std::optional<sandbox::LaunchPlan> plan_at(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                                           const core::Bindings& axes, const benchsuite::Problem& problem) {
  try {
    return sandbox::bind_plan(solution, binding, axes, &problem);
  } catch (const core::InputError&) {
  } catch (const core::ExprError&) {
  }
  return std::nullopt;
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

const CodeFacts::Launch* CodeFacts::main_launch() const {
  const auto most = std::max_element(launches.begin(), launches.end(),
                                     [](const Launch& a, const Launch& b) { return a.threads() < b.threads(); });
  return most == launches.end() ? nullptr : &*most;
}

int64_t CodeFacts::threads() const {
  double sum = 0;  // grids may be huge
  for (const Launch& launch : launches) sum += launch.threads();
  return static_cast<int64_t>(std::min(sum, 9e18));
}

CodeFacts facts_of(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                   const core::Bindings& axes, const benchsuite::Problem& problem) {
  CodeFacts facts;
  const std::vector<sandbox::Token> tokens = sandbox::tokenize(solution.source);
  const std::set<std::string> own_vectors = own_vectors_of(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const sandbox::Token& token = tokens[i];
    if (token.kind == sandbox::TokenKind::identifier) see_word(token.text, facts);
    if (token.kind == sandbox::TokenKind::string) see_string(token.value, facts);
    if (token.is("^")) facts.padded = true;
    if (token.kind == sandbox::TokenKind::identifier && i > 0 && i + 1 < tokens.size()) {
      if (tokens[i + 1].is("[")) see_array(tokens, i, own_vectors, facts);
      see_stages(tokens, i, facts);
    }
    if ((token.is("vector_size") || token.is("__vector_size__")) && i + 1 < tokens.size() && tokens[i + 1].is("(")) {
      see_vector_type(tokens, i, facts);
    }
  }
  see_header(solution, problem, facts);
  facts.functions = count_calls(tokens, is_function);
  facts.atomic_calls = count_calls(tokens, is_atomic);
  facts.launches = launches_at(solution, binding, axes, problem);
  if (const auto plan = plan_at(solution, binding, axes, problem)) {
    for (const sandbox::PlannedWorkspace& workspace : plan->workspaces) facts.workspace_bytes += workspace.bytes;
  }
  return facts;
}

std::vector<CodeFacts::Launch> launches_at(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                                           const core::Bindings& axes, const benchsuite::Problem& problem) {
  std::vector<CodeFacts::Launch> launches;
  if (const auto plan = plan_at(solution, binding, axes, problem)) {
    for (const sandbox::PlannedLaunch& one : plan->launches) {
      launches.push_back({one.kernel, one.grid, one.block, one.shared_bytes});
    }
  }
  return launches;
}

std::string distinguishing_line(const CodeFacts& facts) {
  std::vector<std::string> parts;
  if (facts.launches.size() > 1) parts.push_back(std::to_string(facts.launches.size()) + " launches");
  if (const CodeFacts::Launch* main = facts.main_launch()) parts.push_back(launch_words(*main));
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
