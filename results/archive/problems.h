// The versions of problems that an archive holds, with the text of their files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "benchsuite/problem.h"
#include "results/archive/reader.h"

namespace results::archive {

struct ProblemVersion {
  std::string name, hash, json;
  benchsuite::SourceFiles files;  // empty: recorded by a version of kernelwright that kept only problem.json

  // The problem as it was judged, without a folder; nullopt if its files are not known. Throws core::InputError if this
  // version of kernelwright does not understand it.
  std::optional<benchsuite::Problem> problem() const;
};

// The version that an attempt was judged by. Throws core::InputError when there is no such attempt.
ProblemVersion problem_of_attempt(const Reader& archive, int64_t attempt);
// The version that the newest attempt of a campaign at this problem was judged by; nullopt without attempts.
std::optional<ProblemVersion> problem_of_campaign(const Reader& archive, int64_t campaign, const std::string& name);
// The last judged version of a problem; nullopt if the archive has none.
std::optional<ProblemVersion> last_judged_problem(const Reader& archive, const std::string& name);
// The hash of the last judged version of each problem, by name.
std::map<std::string, std::string> last_judged_hashes(const Reader& archive);

// Was a version made of other files than the problem has now? Compares it with the files on this host (`here`: content
// hashes by name), or with the last judged version of a problem that is not here.
bool has_older_files(const Reader& archive, const ProblemVersion& version,
                     const std::map<std::string, std::string>& here);

// Adds the files to a problem's row that lacks them.
void keep_files(Database& database, int64_t problem, const std::string& files_json);

}  // namespace results::archive
