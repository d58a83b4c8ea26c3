#include "results/archive/exchanges.h"

#include <algorithm>
#include <map>
#include <utility>

#include "results/archive/database.h"
#include "results/archive/rows.h"

namespace results::archive {
namespace {
using core::Json;
using Reasons = std::map<int64_t, std::string>;  // by reply

Reasons reasons_of(Database& database, int64_t campaign) {
  Statement rows = database.prepare("SELECT details FROM events WHERE campaign = ? AND kind = ? ORDER BY id");
  rows.bind(campaign).bind(kUnusableReply);
  Reasons reasons;
  while (rows.step()) {
    const Json details = Json::parse(rows.text(0));
    std::string& why = reasons[details.at("reply").get<int64_t>()];
    why += (why.empty() ? "" : "; ") + details.at("why").get<std::string>();
  }
  return reasons;
}

// Reads the attempts of a campaign at a solution. A timed attempt against naive counts more than another one.
void judge(Database& database, int64_t campaign, Brought& brought) {
  Statement rows = database.prepare(R"sql(
SELECT a.id, a.verdict_json, a.effort, m.speed_up, m.outcome, i.name, i.origin, a.verdict
FROM candidates c JOIN attempts a ON a.candidate = c.id LEFT JOIN measurements m ON m.attempt = a.id
     LEFT JOIN candidates n ON n.id = m.against LEFT JOIN solutions i ON i.id = n.solution
WHERE c.solution = ? AND +a.campaign = ? ORDER BY a.id)sql");
  rows.bind(brought.solution).bind(campaign);
  const auto verdict_of = [](const std::string& text) {
    const Json json = Json::parse(text);
    return verifier::verdicts::verdict_from_json(core::JsonView(json, "archive"));
  };
  std::string verdict;
  bool over_naive = false;
  while (rows.step()) {
    const bool timed = !rows.is_null(3), naive = timed && rows.text(6) == "naive";
    brought.confirmed = brought.confirmed || (timed && rows.text(2) == "confirm" && rows.text(4) == "win");
    if (rows.text(2) == "confirm" && rows.text(7) != "correct") brought.refused = verdict_of(rows.text(1));
    const bool better = timed && (naive > over_naive || (naive == over_naive && rows.real(3) > brought.speed_up));
    if (!better && brought.speed_up > 0) continue;
    brought.attempt = rows.integer(0);
    verdict = rows.text(1);
    if (!better) continue;
    over_naive = naive;
    brought.speed_up = rows.real(3);
    brought.against = rows.text(5);
  }
  if (brought.attempt) brought.verdict = verdict_of(verdict);
}

std::vector<Brought> brought_by(Database& database, int64_t campaign, int64_t reply) {
  std::vector<Brought> all;
  {
    Statement rows = database.prepare(
        "SELECT s.id, s.name, s.hash, s.parent FROM proposed p JOIN solutions s ON s.id = p.solution WHERE p.reply = ?"
        " ORDER BY p.rowid");
    rows.bind(reply);
    while (rows.step()) {
      Brought& one = all.emplace_back();
      one.solution = rows.integer(0);
      one.name = rows.text(1);
      one.hash = rows.text(2);
      if (!rows.is_null(3)) one.parent = rows.integer(3);
    }
  }
  for (Brought& one : all) judge(database, campaign, one);
  return all;
}

Json prompt_of(Database& database, const Json& by_number) {
  return with_texts(by_number, [&](const Json& id) {
    Statement found = database.prepare("SELECT text FROM texts WHERE id = ?");
    found.bind(id.get<int64_t>()).step();
    return Json(found.text(0));
  });
}

// A request's own row. `prompt`: read its texts, too.
Exchange exchange_from(Database& database, const Statement& found, bool prompt) {
  Exchange exchange;
  const FoundRow row(found);
  row("id", exchange.record.id)("asked", exchange.record.asked);
  columns(row, exchange.record.request);
  if (prompt) exchange.record.request.prompt = prompt_of(database, row.at<Json>("prompt"));
  return exchange;
}

void add_reply(Database& database, const Reasons& reasons, Exchange& exchange) {
  RequestRecord& record = exchange.record;
  {
    Statement answered = database.prepare("SELECT * FROM replies WHERE request = ?");
    answered.bind(record.id);
    if (!answered.step()) return;
    const FoundRow reply(answered);
    reply("id", record.reply_id)("arrived", record.arrived);
    columns(reply, record.reply.emplace());
  }
  if (const auto why = reasons.find(record.reply_id); why != reasons.end()) exchange.why_nothing = why->second;
  exchange.brought = brought_by(database, record.request.campaign, record.reply_id);
  for (const Brought& one : exchange.brought) record.solutions.push_back(one.solution);
}

// Adds replies and their fates to requests of one campaign.
void add_replies(Database& database, int64_t campaign, std::vector<Exchange>& all) {
  if (all.empty()) return;
  const std::string name = [&] {
    Statement found = database.prepare("SELECT name FROM campaigns WHERE id = ?");
    found.bind(campaign);
    return found.step() ? found.text(0) : std::string();
  }();
  const Reasons reasons = reasons_of(database, campaign);
  for (Exchange& exchange : all) {
    exchange.campaign = name;
    add_reply(database, reasons, exchange);
  }
}

// True if `later` repeats the prompt of `exchange` and goes on with its reply.
bool sends_back(const Exchange& exchange, const Json& later) {
  const Json& turns = exchange.record.request.prompt.at("turns");
  const Json& more = later.at("turns");
  return more.size() > turns.size() && std::equal(turns.begin(), turns.end(), more.begin());
}
}  // namespace

std::vector<Exchange> newest_exchanges(const Reader& archive, int64_t campaign, size_t limit) {
  Database& database = database_of(archive);
  std::vector<Exchange> all;
  {
    Statement rows = database.prepare("SELECT * FROM requests WHERE campaign = ? ORDER BY id DESC LIMIT ?");
    rows.bind(campaign).bind(static_cast<int64_t>(limit));
    while (rows.step()) all.push_back(exchange_from(database, rows, false));
  }
  std::reverse(all.begin(), all.end());
  add_replies(database, campaign, all);
  return all;
}

std::optional<Exchange> find_exchange(const Reader& archive, int64_t request) {
  Database& database = database_of(archive);
  std::optional<Exchange> exchange;
  {
    Statement found = database.prepare(
        "SELECT q.*, g.name AS campaign_name FROM requests q JOIN campaigns g ON g.id = q.campaign WHERE q.id = ?");
    found.bind(request);
    if (!found.step()) return std::nullopt;
    exchange = exchange_from(database, found, true);
    exchange->campaign = FoundRow(found).at<std::string>("campaign_name");
  }
  add_reply(database, reasons_of(database, exchange->record.request.campaign), *exchange);
  return exchange;
}

std::optional<Exchange> following_exchange(const Reader& archive, const Exchange& exchange) {
  constexpr int64_t kLookedAt = 50;  // requests that other lines may have sent in between
  const RequestRecord& record = exchange.record;
  if (!record.reply) return std::nullopt;
  Database& database = database_of(archive);
  std::optional<int64_t> next, same_line;
  {
    Statement rows = database.prepare(
        "SELECT id, proposal, prompt, asked FROM requests WHERE campaign = ? AND id > ? AND problem = ? ORDER BY id"
        " LIMIT ?");
    rows.bind(record.request.campaign).bind(record.id).bind(record.request.problem).bind(kLookedAt);
    while (!next && rows.step()) {
      const Json proposal = Json::parse(rows.text(1));
      const auto line = [](const Json& of) { return of.is_object() ? of.value("line", 0) : 0; };
      if (line(proposal) != line(record.request.proposal) || rows.text(3) < record.arrived) continue;
      const Json prompt = Json::parse(rows.text(2));
      const bool fresh = prompt.at("turns").size() < 2;  // others send a reply back
      if (fresh && !same_line) same_line = rows.integer(0);
      if (!fresh && sends_back(exchange, prompt_of(database, prompt))) next = rows.integer(0);
    }
  }
  if (!next) next = same_line;
  return next ? find_exchange(archive, *next) : std::nullopt;
}

std::optional<int64_t> proposing_request(const Reader& archive, int64_t solution, std::optional<int64_t> campaign) {
  Statement rows = database_of(archive).prepare(R"sql(
SELECT q.id FROM proposed p JOIN replies r ON r.id = p.reply JOIN requests q ON q.id = r.request
WHERE p.solution = ? ORDER BY q.campaign IS ? DESC, q.id LIMIT 1)sql");
  rows.bind(solution).bind(campaign);
  if (!rows.step()) return std::nullopt;
  return rows.integer(0);
}

std::vector<Exchange> exchanges_made_from(const Reader& archive, int64_t solution, int64_t campaign, size_t limit) {
  Database& database = database_of(archive);
  std::vector<Exchange> all;
  {
    // A reply's solutions name their parent. A request without any names it by its number in the campaign, which the
    // names of models' solutions end in (agent/search/model_proposals.h).
    Statement rows = database.prepare(R"sql(
SELECT * FROM requests WHERE campaign = ?2 AND id IN (
  SELECT r.request FROM solutions s JOIN proposed p ON p.solution = s.id JOIN replies r ON r.id = p.reply
  WHERE s.parent = ?1
  UNION
  SELECT q.id FROM solutions s JOIN campaigns g ON g.id = ?2
       JOIN requests q ON q.campaign = g.id AND q.problem = s.problem JOIN json_each(q.proposal, '$.parents') j
  WHERE s.id = ?1 AND s.name = g.name || '-' || j.value)
ORDER BY id LIMIT ?3)sql");
    rows.bind(solution).bind(campaign).bind(static_cast<int64_t>(limit));
    while (rows.step()) all.push_back(exchange_from(database, rows, false));
  }
  add_replies(database, campaign, all);
  return all;
}

std::vector<AdviceUse> advice_of_campaign(const Reader& archive, int64_t campaign) {
  Statement rows = database_of(archive).prepare(R"sql(
SELECT advice, count(DISTINCT request) FILTER (WHERE NOT sent_back) AS given, count(solution), sum(correct),
       count(*) FILTER (WHERE gain > 1.01), exp(avg(ln(gain)))
FROM v_advised WHERE campaign = (SELECT name FROM campaigns WHERE id = ?) GROUP BY advice ORDER BY given DESC, advice)sql");
  rows.bind(campaign);
  std::vector<AdviceUse> all;
  while (rows.step()) {
    AdviceUse& use = all.emplace_back();
    if (!rows.is_null(0)) use.advice = rows.text(0);
    use.given = rows.integer(1);
    use.solutions = rows.integer(2);
    use.correct = rows.integer(3);
    use.faster = rows.integer(4);
    if (!rows.is_null(5)) use.mean_gain = rows.real(5);
  }
  return all;
}

std::vector<CardUse> cards_of_campaign(const Reader& archive, int64_t campaign) {
  Statement rows = database_of(archive).prepare(R"sql(
SELECT name, count(DISTINCT request) FILTER (WHERE NOT sent_back) AS sent, count(solution), sum(correct),
       count(DISTINCT request) FILTER (WHERE won), exp(avg(ln(gain)))
FROM v_shown WHERE part = 'card' AND campaign = (SELECT name FROM campaigns WHERE id = ?) GROUP BY name
ORDER BY sent DESC, name)sql");
  rows.bind(campaign);
  std::vector<CardUse> all;
  while (rows.step()) {
    CardUse& use = all.emplace_back();
    use.card = rows.text(0);
    use.sent = rows.integer(1);
    use.solutions = rows.integer(2);
    use.correct = rows.integer(3);
    use.won = rows.integer(4);
    if (!rows.is_null(5)) use.mean_gain = rows.real(5);
  }
  return all;
}

std::map<std::string, CardRecord> card_records(const Reader& archive, const std::string& device) {
  Statement rows = database_of(archive).prepare(R"sql(
SELECT name, count(DISTINCT request) FILTER (WHERE NOT sent_back), count(DISTINCT request) FILTER (WHERE won)
FROM v_shown WHERE part = 'card' AND (device = ?1 OR device LIKE ?1 || ':%')
     AND campaign NOT IN (SELECT name FROM campaigns WHERE settings ->> '$.held_out') GROUP BY name)sql");
  rows.bind(device);
  std::map<std::string, CardRecord> records;
  while (rows.step()) records[rows.text(0)] = {rows.integer(1), rows.integer(2)};
  return records;
}

std::map<std::string, ModelRecord> model_records(const Reader& archive, const std::string& device) {
  Statement rows = database_of(archive).prepare(R"sql(
WITH asked AS (
  SELECT request, model, max(CASE WHEN won AND gain > 1 THEN ln(gain) ELSE 0 END) AS gain FROM v_outcomes
  WHERE (device = ?1 OR device LIKE ?1 || ':%')
        AND campaign NOT IN (SELECT name FROM campaigns WHERE settings ->> '$.held_out') GROUP BY request)
SELECT a.model, count(*), total(a.gain), sum(r.input + r.cache_read + r.cache_written + r.output), total(r.dollars),
       count(r.dollars)
FROM asked a JOIN replies r ON r.request = a.request GROUP BY a.model)sql");
  rows.bind(device);
  std::map<std::string, ModelRecord> records;
  while (rows.step()) {
    ModelRecord& record = records[rows.text(0)];
    record.requests = rows.integer(1);
    record.gain = rows.real(2);
    record.tokens = rows.integer(3);
    if (rows.integer(5) == record.requests) record.dollars = rows.real(4);
  }
  return records;
}

std::vector<ModelShare> model_shares(const Reader& archive, int64_t campaign) {
  Statement rows = database_of(archive).prepare(R"sql(
WITH asked AS (
  SELECT id, model, proposal ->> '$.model_reason' AS reason, json_array_length(prompt, '$.turns') > 1 AS sent_back
  FROM requests WHERE campaign = ?1 AND proposal ->> '$.model_reason' IS NOT NULL),
won AS (
  SELECT request, max(gain) AS gain FROM v_outcomes
  WHERE won AND campaign = (SELECT name FROM campaigns WHERE id = ?1) GROUP BY request)
SELECT a.model, count(*) FILTER (WHERE a.reason = 'first' AND NOT a.sent_back),
       count(*) FILTER (WHERE a.reason = 'gain' AND NOT a.sent_back),
       count(*) FILTER (WHERE a.reason = 'curiosity' AND NOT a.sent_back),
       count(w.request), exp(total(CASE WHEN w.gain > 1 THEN ln(w.gain) END))
FROM asked a LEFT JOIN won w ON w.request = a.id GROUP BY a.model ORDER BY a.model)sql");
  rows.bind(campaign);
  std::vector<ModelShare> all;
  while (rows.step()) {
    all.push_back({rows.text(0), rows.integer(1), rows.integer(2), rows.integer(3), rows.integer(4), rows.real(5)});
  }
  return all;
}

std::optional<std::string> why_none_answered(const Reader& archive, int64_t campaign) {
  Statement rows = database_of(archive).prepare(R"sql(
SELECT count(*), coalesce(sum(r.outcome = 'completion'), 0),
       (SELECT l.what FROM requests k JOIN replies l ON l.request = k.id WHERE k.campaign = ?1 ORDER BY k.id DESC LIMIT 1)
FROM requests q LEFT JOIN replies r ON r.request = q.id WHERE q.campaign = ?1)sql");
  rows.bind(campaign);
  if (!rows.step() || rows.integer(0) == 0 || rows.integer(1) > 0) return std::nullopt;
  return rows.is_null(2) ? "they were still waited for at the end" : rows.text(2);
}

}  // namespace results::archive
