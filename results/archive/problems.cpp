#include "results/archive/problems.h"

#include "core/error.h"
#include "results/archive/database.h"

namespace results::archive {
namespace {
constexpr const char* kColumns = "SELECT p.name, p.hash, p.json, p.files FROM ";

std::optional<ProblemVersion> first_of(Statement rows) {
  if (!rows.step()) return std::nullopt;
  ProblemVersion version{rows.text(0), rows.text(1), rows.text(2), {}};
  if (!rows.is_null(3)) version.files = core::Json::parse(rows.text(3)).get<benchsuite::SourceFiles>();
  return version;
}
}  // namespace

std::optional<benchsuite::Problem> ProblemVersion::problem() const {
  if (files.empty()) return std::nullopt;
  benchsuite::Problem problem = benchsuite::parse_problem(json, name + "/problem.json");
  problem.files = files;
  return problem;
}

ProblemVersion problem_of_attempt(const Reader& archive, int64_t attempt) {
  Statement rows = database_of(archive).prepare(std::string(kColumns) +
                                                "attempts a JOIN problems p ON p.id = a.problem WHERE a.id = ?");
  rows.bind(attempt);
  if (auto version = first_of(std::move(rows))) return *version;
  throw core::InputError("", "there is no attempt " + std::to_string(attempt),
                         "kernelwright leaderboard shows the numbers of the best ones");
}

std::optional<ProblemVersion> problem_of_campaign(const Reader& archive, int64_t campaign, const std::string& name) {
  Statement rows = database_of(archive).prepare(
      std::string(kColumns) +
      "attempts a JOIN problems p ON p.id = a.problem WHERE a.campaign = ? AND p.name = ? ORDER BY a.id DESC LIMIT 1");
  rows.bind(campaign).bind(name);
  return first_of(std::move(rows));
}

std::optional<ProblemVersion> last_judged_problem(const Reader& archive, const std::string& name) {
  Statement rows = database_of(archive).prepare(
      std::string(kColumns) +
      "v_problems v JOIN problems p ON p.id = v.problem_id WHERE v.is_current AND v.problem = ?");
  rows.bind(name);
  return first_of(std::move(rows));
}

std::map<std::string, std::string> last_judged_hashes(const Reader& archive) {
  Statement rows = database_of(archive).prepare("SELECT problem, hash FROM v_problems WHERE is_current");
  std::map<std::string, std::string> hashes;
  while (rows.step()) hashes.emplace(rows.text(0), rows.text(1));
  return hashes;
}

bool has_older_files(const Reader& archive, const ProblemVersion& version,
                     const std::map<std::string, std::string>& here) {
  if (const auto found = here.find(version.name); found != here.end()) return found->second != version.hash;
  const auto last = last_judged_problem(archive, version.name);
  return last && last->hash != version.hash;
}

void keep_files(Database& database, int64_t problem, const std::string& files_json) {
  Statement row = database.prepare("UPDATE problems SET files = ? WHERE id = ? AND files IS NULL");
  row.bind(files_json).bind(problem).run();
}

}  // namespace results::archive
