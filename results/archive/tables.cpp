#include "results/archive/tables.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace results::archive {
namespace {
constexpr bool kOptional = true;

Column with(Kind kind, std::string name, bool optional, Rule rule = Rule::none) {
  return {std::move(name), kind, optional, {}, {}, rule};
}
Column text(std::string name, bool optional = false) { return with(Kind::text, std::move(name), optional); }
Column filled(std::string name) { return with(Kind::text, std::move(name), false, Rule::filled); }
Column time(std::string name, bool optional = false) { return with(Kind::text, std::move(name), optional, Rule::time); }
Column seed(std::string name) { return with(Kind::text, std::move(name), false, Rule::seed); }
Column json(std::string name, bool optional = false) { return with(Kind::json, std::move(name), optional); }
Column count(std::string name, bool optional = false) {
  return with(Kind::integer, std::move(name), optional, Rule::at_least_0);
}
Column number(std::string name, bool optional = false) {  // from 1
  return with(Kind::integer, std::move(name), optional, Rule::at_least_1);
}
Column real(std::string name, bool optional = false) { return with(Kind::real, std::move(name), optional); }
Column amount(std::string name, bool optional = false) {
  return with(Kind::real, std::move(name), optional, Rule::at_least_0);
}
Column flag(std::string name) { return with(Kind::flag, std::move(name), false); }
Column blob(std::string name, bool optional = false) { return with(Kind::blob, std::move(name), optional); }
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
           {filled("name"), filled("hash"), json("json"), json("files", kOptional)},
           {"name", "hash"},
           "id IN (SELECT problem FROM attempts WHERE campaign = ?1)"},
          {"solutions",
           {text("hash"), filled("problem"), filled("name"), filled("origin"),
            reference("parent", "solutions", kOptional), text("source"), time("added")},
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
           {text("name"), json("settings"), reference("environment", "environments"), text("status"), time("started"),
            time("ended", kOptional), amount("spent_seconds"), count("steps"), text("process", kOptional)},
           {"name"},
           "id = ?1"}};
}

std::vector<Table> histories() {
  return {{"texts",
           {text("hash"), text("text")},
           {"hash"},
           "id IN (SELECT j.atom FROM requests q, json_tree(q.prompt) j WHERE q.campaign = ?1 AND j.type = 'integer')"},
          {"requests",
           {reference("campaign", "campaigns"), filled("problem"), number("number"), filled("model"), json("proposal"),
            Column{"prompt", Kind::prompt}, text("prompt_hash"), count("reserved_tokens"),
            amount("reserved_dollars", kOptional), time("asked"), number("step", kOptional)},
           {},
           "campaign = ?1",
           true},
          {"replies",
           {reference("campaign", "campaigns", false, "(SELECT campaign FROM requests WHERE id = replies.request)"),
            reference("request", "requests"), filled("outcome"), text("what"), text("model"), text("reply"),
            flag("complete"), count("input"), count("cache_read"), count("cache_written"), count("output"),
            flag("estimated"), amount("dollars", kOptional), count("tries"), amount("seconds"), time("arrived"),
            number("step", kOptional)},
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
            reference("candidate", "candidates"), reference("environment", "environments"), filled("device"),
            text("artefact", kOptional), text("effort"), text("verdict"), json("verdict_json"), json("stages"),
            seed("seed"), reference("reused_from", "attempts", kOptional), time("made"), number("step", kOptional),
            Column{"compilation", Kind::part, false, "compilations"},
            Column{"measurement", Kind::child, kOptional, "measurements", "attempt"}},
           {},
           "campaign = ?1",
           true},
          {"events",
           {reference("campaign", "campaigns", kOptional), time("made"), filled("kind"), json("details"),
            number("step", kOptional)},
           {},
           "campaign = ?1",
           true}};
}

std::vector<Table> of_devices() {
  return {
      {"calibrations", {filled("device"), time("made"), json("facts")}, {}, "?1 IS NULL"},
      {"baselines",
       {reference("problem", "problems"), filled("device"), reference("environment", "environments"), filled("library"),
        time("made"), text("verdict"), json("verdict_json"), json("measurement_json", kOptional)},
       {},
       "?1 IS NULL"},
      {"selftests",
       {filled("device"), reference("environment", "environments"), time("made"), seed("seed"), flag("quick"),
        amount("seconds"), count("dishonest"), count("false_accepts"), count("honest"), count("false_rejects"),
        amount("widest_noise", kOptional), amount("candidates_per_hour", kOptional), json("details")},
       {},
       "?1 IS NULL"}};
}

const std::vector<Table>& parts() {
  static const std::vector<Table> all{
      {"compilations",
       {reference("candidate", "candidates"), text("device"), text("artefact", kOptional), text("rejected", kOptional),
        text("log"), amount("compile_ms"), count("registers", kOptional), count("shared_bytes", kOptional),
        count("spill_bytes", kOptional)}},
      {"measurements",
       {reference("against", "candidates"), text("clock"), text("outcome"), real("speed_up"), real("low"), real("high"),
        flag("stopped_early"), json("counters", kOptional),
        Column{"timings", Kind::children, kOptional, "timings", "measurement"}}},
      {"timings",
       {text("workload"), real("candidate_us"), real("incumbent_us"), real("speed_up"), real("low"), real("high"),
        blob("samples"), real("bound_us", kOptional), blob("clocks", kOptional), real("weight", kOptional)}}};
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

std::vector<std::string> stored_columns(const Table& table, const std::string& owner) {
  std::vector<std::string> names;
  if (!owner.empty()) names.push_back(owner);
  for (const Column& column : table.columns) {
    if (column.is_stored()) names.push_back(column.name);
  }
  return names;
}

std::string insert_into(const Table& table, const std::string& owner, const std::string& verb) {
  const std::vector<std::string> columns = stored_columns(table, owner);
  std::string marks = "?";
  for (size_t i = 1; i < columns.size(); ++i) marks += ", ?";
  return verb + " INTO " + table.name + " (" + core::join(columns, ", ") + ") VALUES (" + marks + ")";
}

}  // namespace results::archive
