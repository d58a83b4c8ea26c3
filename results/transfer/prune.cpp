// Prunes an archive. Keeps all rows, so that references, counts and steps stay valid; empties their large columns.

#include "core/error.h"
#include "core/hash.h"
#include "results/archive/database.h"
#include "results/transfer/record_values.h"
#include "results/transfer/transfer.h"

namespace results::transfer {
namespace {
constexpr std::array kPrunable{Prunable::samples, Prunable::prompts, Prunable::logs};
constexpr const char* kRemoved = "(removed by kernelwright archive prune)";

std::string status_of(Database& database, int64_t campaign) {
  Statement found = database.prepare("SELECT status FROM campaigns WHERE id = ?");
  found.bind(campaign);
  if (!found.step()) throw core::InputError("", "there is no such campaign");
  return found.text(0);
}

// SQL for campaigns that may be pruned, where `column` names one.
std::string in_scope(const PruneScope& scope, const std::string& column) {
  if (scope.campaign) return column + " = " + std::to_string(*scope.campaign);
  return "(" + column + " IS NULL OR " + column + " IN (SELECT id FROM campaigns WHERE status = 'done'))";
}

std::string attempts_in(const PruneScope& scope) {
  return "(SELECT id FROM attempts WHERE effort <> 'confirm' AND " + in_scope(scope, "campaign") + ")";
}

// A class of prunable data: SQL to measure it and to remove it.
struct Plan {
  Prunable what;
  std::string measure;  // SQL: rows, bytes
  std::vector<std::string> triggers, statements;
};

Plan plan_for(Prunable what, const PruneScope& scope) {
  const std::string texts_of = "(SELECT j.atom FROM requests q, json_tree(q.prompt) j WHERE j.type = 'integer'";
  switch (what) {
    case Prunable::samples: {
      const std::string rows =
          "FROM timings WHERE length(samples) > 0 AND measurement IN (SELECT id FROM measurements"
          " WHERE attempt IN " +
          attempts_in(scope) + ")";
      return {what,
              "SELECT count(*), total(length(samples) + coalesce(length(clocks), 0)) " + rows,
              {"timings_stay"},
              {"UPDATE timings SET samples = x'', clocks = NULL WHERE id IN (SELECT id " + rows + ")"}};
    }
    case Prunable::logs: {
      const std::string rows =
          "FROM compilations WHERE log <> '' AND id IN (SELECT compilation FROM attempts WHERE id IN " +
          attempts_in(scope) + ")";
      return {what,
              "SELECT count(*), total(length(log)) " + rows,
              {"compilations_stay"},
              {"UPDATE compilations SET log = '' WHERE id IN (SELECT id " + rows + ")"}};
    }
    case Prunable::prompts:
      break;
  }
  const std::string removed = std::string("(SELECT id FROM texts WHERE text = '") + kRemoved + "')";
  return {what,
          "SELECT count(*), total(length(text)) FROM texts WHERE text <> '" + std::string(kRemoved) +
              "' AND id NOT IN " + texts_of + " AND NOT " + in_scope(scope, "q.campaign") + ")",
          {"requests_stay"},
          {std::string("INSERT OR IGNORE INTO texts (hash, text) VALUES ('") + core::sha256_hex(kRemoved) + "', '" +
               kRemoved + "')",
           "UPDATE requests SET prompt = '{\"system\":' || " + removed + " || ',\"turns\":[]}' WHERE " +
               in_scope(scope, "campaign"),
           "DELETE FROM texts WHERE id NOT IN " + texts_of + ")"}};
}

void apply_plan(Database& database, const Plan& plan) {
  std::vector<std::string> again;
  for (const std::string& trigger : plan.triggers) {
    Statement found = database.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?");
    found.bind(trigger);
    if (found.step()) again.push_back(found.text(0));
  }
  for (const std::string& trigger : plan.triggers) database.execute("DROP TRIGGER IF EXISTS " + trigger);
  for (const std::string& statement : plan.statements) database.execute(statement);
  for (const std::string& sql : again) database.execute(sql);
}
}  // namespace

std::vector<PrunedPart> prune(archive::Recorder& archive, const PruneScope& scope, bool apply) {
  Database& database = archive::database_of(archive);
  std::vector<PrunedPart> parts;
  {
    std::optional<Transaction> transaction;
    std::optional<Snapshot> snapshot;
    if (apply) {
      transaction.emplace(database);
    } else {
      snapshot.emplace(database);
    }
    if (scope.campaign) {
      const std::string status = status_of(database, *scope.campaign);
      if (status == "running" || (status != "done" && !scope.all)) {
        throw core::InputError("prune", "the campaign is " + status,
                               status == "running" ? "kernelwright resume continues it"
                                                   : "resume it first; --all also prunes the data needed for that");
      }
    }
    for (const Prunable what : kPrunable) {
      if (what == Prunable::logs && !scope.all) continue;
      const Plan plan = plan_for(what, scope);
      {
        Statement sums = database.prepare(plan.measure);
        sums.step();
        parts.push_back({what, sums.integer(0), static_cast<int64_t>(sums.real(1))});
      }
      if (apply) apply_plan(database, plan);
    }
    if (transaction) transaction->commit();
  }
  if (apply) database.execute("VACUUM");
  return parts;
}

}  // namespace results::transfer
