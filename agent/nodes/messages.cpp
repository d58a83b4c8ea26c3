#include "agent/nodes/messages.h"

#include <filesystem>

#include "benchsuite/data_files.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::nodes {
namespace {
using core::Json;
using core::JsonView;
}  // namespace

Json message_of(const std::string& line) {
  Json message = core::parse_json(line, "a node's message");
  if (!message.is_object()) throw core::InputError("a node's message", "is no object");
  return message;
}

std::string line_of(const Json& message) { return message.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json to_json(const benchsuite::Problem& problem) {
  Json json{{"name", problem.name}, {"json", problem.json_text}, {"files", problem.files}};
  if (!problem.data.empty()) json["folder"] = std::filesystem::absolute(problem.folder).string();
  return json;
}

benchsuite::Problem problem_from_json(const JsonView& json) {
  benchsuite::Problem problem = benchsuite::parse_problem(json.at("json").string(), json.at("name").string());
  for (const auto& [name, text] : json.at("files").members()) problem.files[name] = text.string();
  if (!json.has("folder")) return problem;
  problem.folder = json.at("folder").string();
  const auto sent = problem.files.extract(std::string(benchsuite::kDataFile));
  benchsuite::load_data_files(problem);
  if (!sent.empty() && problem.files.at(std::string(benchsuite::kDataFile)) == sent.mapped()) return problem;
  throw core::InputError(problem.folder.string(), "has other data files here than where the campaign runs",
                         "put the problem into a folder that all nodes share");
}

Json to_json(const search::Candidate& candidate) {
  return {{"id", candidate.id},
          {"name", candidate.name},
          {"source", candidate.builds.solution().source},
          {"binding", candidate.builds.binding()}};
}

Json to_json(const results::archive::NewAttempt& attempt) {
  const auto number = [](const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); };
  return {{"judgement", to_json(attempt.judgement)},   {"artefact", attempt.artefact},
          {"compile_log", attempt.compile_log},        {"compile_ms", attempt.compile_ms},
          {"registers", number(attempt.registers)},    {"shared_bytes", number(attempt.shared_bytes)},
          {"spill_bytes", number(attempt.spill_bytes)}};
}

results::archive::NewAttempt attempt_from_json(const JsonView& json) {
  const auto number = [&](const char* name) {
    const JsonView value = json.at(name);
    return value.json().is_null() ? std::nullopt : std::optional(value.integer(0));
  };
  results::archive::NewAttempt attempt;
  attempt.judgement = verifier::verdicts::judgement_from_json(json.at("judgement"));
  attempt.artefact = json.at("artefact").string();
  attempt.compile_log = json.at("compile_log").string();
  attempt.compile_ms = json.at("compile_ms").number();
  attempt.registers = number("registers");
  attempt.shared_bytes = number("shared_bytes");
  attempt.spill_bytes = number("spill_bytes");
  return attempt;
}

}  // namespace agent::nodes
