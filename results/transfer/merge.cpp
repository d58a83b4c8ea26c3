#include "results/transfer/sources.h"

#include <algorithm>
#include <unordered_set>

#include "core/hash.h"
#include "results/archive/problems.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/record_writer.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;

// The identities of a campaign's records: its start, then everything else in order.
struct History {
  std::vector<std::string> in_order;
  std::unordered_set<std::string> all;

  void add(std::string identity) {
    if (all.insert(identity).second) in_order.push_back(std::move(identity));
  }
  bool holds(const History& other) const {
    return std::all_of(other.in_order.begin(), other.in_order.end(),
                       [&](const std::string& identity) { return all.count(identity) > 0; });
  }
  // The first record of `other` that this lacks.
  const std::string* first_missing(const History& other) const {
    const auto found = std::find_if(other.in_order.begin(), other.in_order.end(),
                                    [&](const std::string& identity) { return all.count(identity) == 0; });
    return found == other.in_order.end() ? nullptr : &*found;
  }
};

// The proposed solutions of a reply have no step of their own, so they have no position in the order.
bool is_ordered(const Table& table) { return table.history && table.name != "proposed"; }

History history_of(RecordReader& reader, int64_t row, const Json& campaign) {
  History history;
  history.add(
      core::sha256_hex(Json{campaign.at("settings"), campaign.at("environment"), campaign.at("started")}.dump()));
  std::vector<std::pair<int64_t, std::string>> records;
  for (const Table& table : tables()) {
    if (!is_ordered(table)) continue;
    reader.each(
        table,
        [&](int64_t, Json& record) { records.emplace_back(record.value("step", int64_t{0}), identity_of(record)); },
        rows_of_campaign(table, row));
  }
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [step, identity] : records) history.add(std::move(identity));
  return history;
}

class Merge {
 public:
  Merge(Database& source, Database& target, Merged& merged, const Watch& watch)
      : source_(source), database_(target), target_(target), writer_(target), merged_(merged), watch_(watch) {}

  void run() {
    for (const Table& table : tables()) total_ += source_.count(table);
    for (const Table& table : tables()) {
      if (table.name == "campaigns") {
        add_campaigns(table);
      } else if (!table.key.empty()) {
        source_.each(table, [&](int64_t, Json& record) { add_if_new(table, record); });
      } else {
        add_records(table);
      }
    }
  }

 private:
  struct Plan {
    std::string name;                 // in the target
    std::optional<int64_t> row = {};  // the campaign's row in the target, if it already had it
    bool takes = true;                // true: the source has records that the target lacks
  };

  void count(const Table& table, bool added) {
    Merged::Count& counts = merged_.tables[table.name];
    ++(added ? counts.added : counts.known);
    if (watch_) watch_(++done_, total_);
  }
  void add(const Table& table, const Json& record) {
    writer_.add(table, JsonView(record, table.name));
    count(table, true);
  }
  void add_if_new(const Table& table, const Json& record) {
    if (const auto row = writer_.find(table, key_of(table, record), "")) {
      if (table.name == "problems" && record.contains("files")) {
        archive::keep_files(database_, *row, to_json_text(JsonView(record.at("files"), table.name)));
      }
      count(table, false);
    } else {
      add(table, record);
    }
  }

  std::optional<std::pair<int64_t, Json>> campaign_here(const Table& table, const std::string& name) {
    const std::optional<int64_t> row = writer_.find(table, name, "");
    if (!row) return std::nullopt;
    std::pair<int64_t, Json> here{*row, {}};
    target_.each(table, [&](int64_t, Json& record) { here.second = record; }, {"id = ?1", row});
    return here;
  }

  void add_campaigns(const Table& table) {
    source_.each(table, [&](int64_t row, Json& record) {
      const std::string name = record.at("name");
      const History theirs = writer_.find(table, name, "") ? history_of(source_, row, record) : History();
      plans_[name] = plan(table, record, theirs);
    });
  }

  // Renames the campaign of `record` if the target has a different one of that name.
  Plan plan(const Table& table, Json& record, const History& theirs) {
    const std::string name = record.at("name");
    const auto here = campaign_here(table, name);
    if (!here) {
      add(table, record);
      return {name};
    }
    const auto& [row, ours_record] = *here;
    const History ours = history_of(target_, row, ours_record);
    if (theirs.holds(ours)) {
      count(table, false);
      const bool longer = !ours.holds(theirs);
      if (longer || ours_record.at("status") == "running") take_over(record, row);
      if (longer) merged_.continued.push_back(name);
      return {name, row, longer};
    }
    if (ours.holds(theirs)) {
      count(table, false);
      return {name, row, false};
    }
    // Both continued from a common start. The new name derives from the other's first own record, so every merge gives
    // the same one.
    record["name"] = name + "-" + ours.first_missing(theirs)->substr(0, 8);
    Plan separate = plan(table, record, theirs);
    merged_.separated[name] = separate.name;
    return separate;
  }

  void take_over(const Json& record, int64_t row) {
    Statement updated = database_.prepare(
        "UPDATE campaigns SET status = ?, ended = ?, process = ?, spent_seconds = ?, steps = ? WHERE id = ?");
    updated.bind(record.at("status").get<std::string>());
    for (const char* name : {"ended", "process"}) {
      updated.bind(record.contains(name) ? std::optional(record.at(name).get<std::string>()) : std::nullopt);
    }
    updated.bind(record.at("spent_seconds").get<double>()).bind(record.at("steps").get<int64_t>()).bind(row).run();
  }

  // Tells the writer about target records that the source may contain, too.
  void remember(const Table& table) {
    const auto keep = [&](int64_t row, Json& record) { writer_.remember(table, record, row); };
    if (!table.history) return target_.each(table, keep);
    for (const auto& [name, plan] : plans_) {
      if (plan.row) target_.each(table, keep, {table.of_campaign, plan.row});
    }
    const bool may_have_none = table.columns[0].optional;
    if (may_have_none) target_.each(table, keep, {"campaign IS NULL", {}});
  }

  void add_records(const Table& table) {
    remember(table);
    source_.each(table, [&](int64_t, Json& record) {
      const std::string was = record.value("campaign", "");
      if (!was.empty()) {
        const Plan& plan = plans_.at(was);
        record["campaign"] = plan.name;
        // A new campaign needs no search.
        if (!plan.row) return add(table, record);
        if (!plan.takes && is_ordered(table)) return count(table, false);
      }
      if (writer_.find(table, identity_of(record), record.value("campaign", ""))) return count(table, false);
      add(table, record);
    });
  }

  RecordReader source_;
  Database& database_;
  RecordReader target_;
  RecordWriter writer_;
  Merged& merged_;
  const Watch& watch_;
  std::map<std::string, Plan> plans_;  // by the name in the source
  int64_t done_ = 0, total_ = 0;
};
}  // namespace

void merge(Database& source, Database& target, Merged& merged, const Watch& watch) {
  Merge(source, target, merged, watch).run();
}

}  // namespace results::transfer
