#include "results/archive/tables.h"

#include <algorithm>

#include "core/error.h"

namespace results::archive {
namespace {
constexpr bool kOptional = true;

Column text(std::string name, bool optional = false) { return {std::move(name), Kind::text, optional}; }
Column json(std::string name, bool optional = false) { return {std::move(name), Kind::json, optional}; }
Column integer(std::string name, bool optional = false) { return {std::move(name), Kind::integer, optional}; }
Column real(std::string name, bool optional = false) { return {std::move(name), Kind::real, optional}; }
Column flag(std::string name) { return {std::move(name), Kind::flag}; }
Column blob(std::string name, bool optional = false) { return {std::move(name), Kind::blob, optional}; }
Column reference(std::string name, std::string table, bool optional = false, std::string via = {}) {
  return {std::move(name), Kind::reference, optional, std::move(table), std::move(via)};
}

std::vector<Table> things() {
  return {{"environments",
           {text("hash"), json("facts")},
           {"hash"},
           "id IN (SELECT environment FROM campaigns WHERE id = ?1"
           " UNION SELECT environment FROM attempts WHERE campaign = ?1)"},
          {"problems",
           {text("name"), text("hash"), json("json")},
           {"name", "hash"},
           "id IN (SELECT problem FROM attempts WHERE campaign = ?1)"},
          {"solutions",
           {text("hash"), text("problem"), text("name"), text("origin"), reference("parent", "solutions", kOptional),
            text("source"), text("added")},
           {"hash"},
           "id IN (WITH RECURSIVE used(id) AS ("
           "SELECT c.solution FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE a.campaign = ?1"
           " UNION SELECT c.solution FROM attempts a JOIN measurements m ON m.attempt = a.id"
           " JOIN candidates c ON c.id = m.against WHERE a.campaign = ?1"
           " UNION SELECT d.solution FROM requests q JOIN replies r ON r.request = q.id"
           " JOIN proposed d ON d.reply = r.id WHERE q.campaign = ?1"
           " UNION SELECT s.id FROM json_tree((SELECT json_group_array(json(details)) FROM events"
           " WHERE campaign = ?1 AND kind = 'problem_started' AND json_valid(details))) j JOIN solutions s ON s.hash = "
           "j.value"
           " UNION SELECT s.id FROM json_tree((SELECT settings FROM campaigns WHERE id = ?1)) j"
           " JOIN solutions s ON s.hash = j.value"
           " UNION SELECT s.parent FROM solutions s JOIN used u ON u.id = s.id WHERE s.parent IS NOT NULL)"
           " SELECT id FROM used)"},
          {"candidates",
           {reference("solution", "solutions"), json("tunables")},
           {"solution", "tunables"},
           "id IN (SELECT candidate FROM attempts WHERE campaign = ?1"
           " UNION SELECT m.against FROM attempts a JOIN measurements m ON m.attempt = a.id WHERE a.campaign = ?1)"},
          {"campaigns",
           {text("name"), json("settings"), reference("environment", "environments"), text("status"), text("started"),
            text("ended", kOptional), real("spent_seconds"), integer("steps")},
           {"name"},
           "id = ?1"}};
}

std::vector<Table> histories() {
  return {
      {"texts",
       {text("hash"), text("text")},
       {"hash"},
       "id IN (SELECT j.atom FROM requests q, json_tree(q.prompt) j WHERE q.campaign = ?1 AND j.type = 'integer')"},
      {"requests",
       {reference("campaign", "campaigns"), text("problem"), integer("number"), text("model"), json("proposal"),
        Column{"prompt", Kind::prompt}, text("prompt_hash"), integer("reserved_tokens"),
        real("reserved_dollars", kOptional), text("asked"), integer("step", kOptional)},
       {},
       "campaign = ?1",
       true},
      {"replies",
       {reference("campaign", "campaigns", false, "(SELECT campaign FROM requests WHERE id = replies.request)"),
        reference("request", "requests"), text("outcome"), text("what"), text("model"), text("reply"), flag("complete"),
        integer("input"), integer("cache_read"), integer("cache_written"), integer("output"), flag("estimated"),
        real("dollars", kOptional), integer("tries"), real("seconds"), text("arrived"), integer("step", kOptional)},
       {},
       "request IN (SELECT id FROM requests WHERE campaign = ?1)",
       true},
      {"proposed",
       {reference("campaign", "campaigns", false,
                  "(SELECT q.campaign FROM replies r JOIN requests q ON q.id = r.request"
                  " WHERE r.id = proposed.reply)"),
        reference("reply", "replies"), reference("solution", "solutions")},
       {},
       "reply IN (SELECT r.id FROM replies r JOIN requests q ON q.id = r.request WHERE q.campaign = ?1)",
       true},
      {"attempts",
       {reference("campaign", "campaigns", kOptional), reference("problem", "problems"),
        reference("candidate", "candidates"), reference("environment", "environments"), text("device"),
        text("artefact", kOptional), text("effort"), text("verdict"), json("verdict_json"), json("stages"),
        text("seed"), reference("reused_from", "attempts", kOptional), text("made"), integer("step", kOptional),
        Column{"compilation", Kind::part, false, "compilations"},
        Column{"measurement", Kind::child, kOptional, "measurements", "attempt"}},
       {},
       "campaign = ?1",
       true},
      {"events",
       {reference("campaign", "campaigns", kOptional), text("made"), text("kind"), json("details"),
        integer("step", kOptional)},
       {},
       "campaign = ?1",
       true}};
}

std::vector<Table> of_devices() {
  return {
      {"calibrations", {text("device"), text("made"), json("facts")}, {}, "?1 IS NULL"},
      {"baselines",
       {reference("problem", "problems"), text("device"), reference("environment", "environments"), text("library"),
        text("made"), text("verdict"), json("verdict_json"), json("measurement_json", kOptional)},
       {},
       "?1 IS NULL"},
      {"selftests",
       {text("device"), reference("environment", "environments"), text("made"), text("seed"), flag("quick"),
        real("seconds"), integer("dishonest"), integer("false_accepts"), integer("honest"), integer("false_rejects"),
        real("widest_noise", kOptional), real("candidates_per_hour", kOptional), json("details")},
       {},
       "?1 IS NULL"}};
}

const std::vector<Table>& parts() {
  static const std::vector<Table> all{
      {"compilations",
       {reference("candidate", "candidates"), text("device"), text("artefact", kOptional), text("rejected", kOptional),
        text("log"), real("compile_ms"), integer("registers", kOptional), integer("shared_bytes", kOptional),
        integer("spill_bytes", kOptional)}},
      {"measurements",
       {reference("against", "candidates"), text("clock"), text("outcome"), real("speed_up"), real("low"), real("high"),
        flag("stopped_early"), json("counters", kOptional),
        Column{"timings", Kind::children, kOptional, "timings", "measurement"}}},
      {"timings",
       {text("workload"), real("candidate_us"), real("incumbent_us"), real("speed_up"), real("low"), real("high"),
        blob("samples"), real("bound_us", kOptional), blob("clocks", kOptional)}}};
  return all;
}
}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> all = [] {
    std::vector<Table> some = things();
    for (auto* more : {&histories, &of_devices}) {
      for (Table& table : (*more)()) some.push_back(std::move(table));
    }
    return some;
  }();
  return all;
}

const Table& table_named(std::string_view name) {
  for (const std::vector<Table>* list : {&tables(), &parts()}) {
    const auto found = std::find_if(list->begin(), list->end(), [&](const Table& table) { return table.name == name; });
    if (found != list->end()) return *found;
  }
  throw core::SystemError("archives have no table " + std::string(name));
}

}  // namespace results::archive
