// For tests of transfer: an archive with a record of every kind.
#pragma once

#include <fstream>
#include <sstream>

#include "results/archive/archive_fixture.h"
#include "results/transfer/transfer.h"

namespace results::transfer::test {
using namespace archive;
using namespace archive::test;

inline NewRequest request_of(int64_t campaign, int64_t number) {
  return {campaign,
          "sum_f32",
          number,
          "anthropic:some-model",
          {{"operator", "improve"}, {"parents", {"naive"}}},
          {{"system", "be brief"},
           {"turns", {{{"speaker", "user"}, {"sections", {"the problem, at length", std::to_string(number)}}}}}},
          std::string(64, 'a'),
          1000,
          0.1};
}

inline int64_t add_exchange(Started& s, int64_t number) {
  NewReply reply;
  reply.request = s.archive.add_request(request_of(s.campaign, number));
  reply.outcome = "completion";
  reply.model = "some-model-20260101";
  reply.reply = "a kernel \xff\x1b[31m, any bytes";
  reply.output = 44;
  reply.dollars = 0.1 + 0.2;
  reply.seconds = 3.5;
  const int64_t id = s.archive.add_reply(reply);
  const sandbox::Solution solution = solution_named("proposed " + std::to_string(number));
  s.archive.add_proposed(id, s.archive.add_solution({&solution, "proposed", "anthropic:some-model", {}}));
  return id;
}

inline int64_t add_attempt(Started& s, int64_t block,
                           verifier::verdicts::Effort effort = verifier::verdicts::Effort::confirm) {
  NewAttempt attempt = s.attempt_at(s.add_candidate("seed", "seed", {{"BLOCK", block}}), effort,
                                    correct_judgement(1.1 + static_cast<double>(block) / 7));
  attempt.judgement.measurement->workloads[0].bound_us = 0.3;
  attempt.judgement.measurement->workloads[0].weight = 1 + static_cast<double>(block % 2) / 2;
  attempt.judgement.measurement->workloads[0].pairs[3].candidate_mhz = 1410.25f;
  attempt.compile_log = "warning: \xc3(";  // no UTF-8
  attempt.judgement.seed += static_cast<uint64_t>(block);
  attempt.seconds = 0.1;
  return s.archive.add_attempt(attempt);
}

// Records of every table, with and without optional members.
struct Rich : Started {
  explicit Rich(const std::filesystem::path& file) : Started(file) {
    const int64_t first = add_attempt(*this, 1, verifier::verdicts::Effort::full);
    add_attempt(*this, 1);
    NewAttempt again = attempt_at(add_candidate("seed", "seed", {{"BLOCK", 2}}), verifier::verdicts::Effort::full, {});
    again.judgement.verdict = correct_judgement(2).verdict;
    again.reused_from = first;
    archive.add_attempt(again);
    NewAttempt refused = attempt_at(add_candidate("broken", "user"), verifier::verdicts::Effort::screen, {});
    refused.judgement.verdict =
        verifier::verdicts::CompileFailed{sandbox::Rejection::compile_error, "line 3: what?", 3};
    refused.artefact.clear();
    archive.add_attempt(refused);
    add_exchange(*this, 1);
    archive.add_request(request_of(campaign, 2));  // without a reply
    archive.add_event(campaign, "problem_started", {{"problem", "sum_f32"}});
    for (int i = 0; i < 3; ++i) archive.add_event(std::nullopt, "said twice, and a third time", {{"x", 0.1}});
    NewAttempt alone = attempt_at(naive, verifier::verdicts::Effort::control, correct_judgement(1));
    alone.campaign.reset();
    archive.add_attempt(alone);
    archive.set_campaign_status(campaign, "done");
    archive.add_calibration("cuda GPU", calibration_of("GPU", 1000.1));
    archive.add_baseline({problem, environment, "cuda GPU", "cuBLAS 13.0", correct_judgement(4)});
    archive.add_selftest({"cpu", environment, 1, false, 60, 70, 0, 30, 0, 1.01, std::nullopt, {{"cases", 3}}});
    const sandbox::Solution child = solution_named("child");
    archive.add_solution({&child, "child", "user", int64_t{1}});
  }
};

inline std::string exported(const archive::Reader& archive, std::optional<int64_t> campaign = {}) {
  std::string lines;
  export_records(archive, campaign, [&](const core::Json& line) { lines += line.dump(-1, ' ', true) + "\n"; });
  return lines;
}
inline std::string exported(const std::filesystem::path& file) { return exported(archive::Recorder(file)); }

inline Merged import_text(const std::string& lines, const std::filesystem::path& archive) {
  const TemporaryArchive temporary;
  const std::filesystem::path file = temporary.file().parent_path() / "lines.jsonl";
  std::ofstream(file, std::ios::binary) << lines;
  Sources sources;
  sources.add_records(file);
  archive::Recorder target(archive);
  return sources.merge_into(target);
}

inline Merged merge_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& archive) {
  Sources sources;
  for (const auto& file : files) sources.add_archive(file);
  archive::Recorder target(archive);
  return sources.merge_into(target);
}

inline int64_t added_in(const Merged& merged) {
  int64_t added = 0;
  for (const auto& [table, count] : merged.tables) added += count.added;
  return added;
}

inline std::string findings_in(const std::filesystem::path& file) {
  std::string text;
  for (const Finding& f : verify(archive::Recorder(file))) {
    text += f.table + " " + std::to_string(f.row) + ": " + f.what + "\n";
  }
  return text;
}

// Runs SQL on rows that are append-only.
inline void tamper(const std::filesystem::path& file, const std::string& sql) {
  Database database(file);
  std::string dropped, made_again;
  {
    Statement found = database.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'");
    while (found.step()) {
      dropped += "DROP TRIGGER " + found.text(0) + ";";
      made_again += found.text(1) + ";";
    }
  }
  database.execute(dropped + "PRAGMA foreign_keys = OFF;" + sql + ";" + made_again);
}

}  // namespace results::transfer::test
