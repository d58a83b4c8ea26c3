// Requests to models and their replies.
#include "core/hash.h"
#include "results/archive/database.h"
#include "results/archive/recorder.h"

namespace results::archive {
namespace {
using core::Json;

// What a model writes may be any bytes; JSON holds text.
std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

int64_t keep_text(Database& database, const std::string& text) {
  const std::string hash = core::sha256_hex(text);
  database.prepare("INSERT OR IGNORE INTO texts (hash, text) VALUES (?, ?)").bind(hash).bind(text).run();
  Statement found = database.prepare("SELECT id FROM texts WHERE hash = ?");
  found.bind(hash).step();
  return found.integer(0);
}

std::string text_of(Database& database, const Json& id) {
  Statement found = database.prepare("SELECT text FROM texts WHERE id = ?");
  found.bind(id.get<int64_t>()).step();
  return found.text(0);
}

// A prompt with each text exchanged for something else.
template <typename Exchange>
Json with_texts(const Json& prompt, Exchange exchange) {
  Json turns = Json::array();
  for (const Json& turn : prompt.at("turns")) {
    Json sections = Json::array();
    for (const Json& section : turn.at("sections")) sections.push_back(exchange(section));
    turns.push_back({{"speaker", turn.at("speaker")}, {"sections", std::move(sections)}});
  }
  return {{"system", exchange(prompt.at("system"))}, {"turns", std::move(turns)}};
}

NewReply reply_of(const Statement& row, int first) {
  NewReply reply;
  reply.outcome = row.text(first);
  reply.what = row.text(first + 1);
  reply.model = row.text(first + 2);
  reply.reply = row.text(first + 3);
  reply.complete = row.integer(first + 4) != 0;
  reply.input = row.integer(first + 5);
  reply.cache_read = row.integer(first + 6);
  reply.cache_written = row.integer(first + 7);
  reply.output = row.integer(first + 8);
  reply.estimated = row.integer(first + 9) != 0;
  reply.dollars = row.real_or_none(first + 10);
  reply.tries = static_cast<int>(row.integer(first + 11));
  reply.seconds = row.real(first + 12);
  return reply;
}
}  // namespace

int64_t Recorder::add_request(const NewRequest& r) {
  Database& database = this->database();
  Transaction transaction(database);
  const Json prompt =
      with_texts(r.prompt, [&](const Json& text) { return keep_text(database, text.get<std::string>()); });
  const std::optional<int64_t> step = next_step(r.campaign);
  database
      .prepare(
          "INSERT INTO requests (campaign, problem, number, model, proposal, prompt, prompt_hash, reserved_tokens,"
          " reserved_dollars, step, asked)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))")
      .bind(r.campaign)
      .bind(r.problem)
      .bind(r.number)
      .bind(r.model)
      .bind(json_text(r.proposal))
      .bind(prompt.dump())
      .bind(r.prompt_hash)
      .bind(r.reserved_tokens)
      .bind(r.reserved_dollars)
      .bind(step)
      .run();
  const int64_t id = database.last_id();
  transaction.commit();
  return id;
}

int64_t Recorder::add_reply(const NewReply& r) {
  Database& database = this->database();
  Transaction transaction(database);
  std::optional<int64_t> campaign;
  {
    Statement asked = database.prepare("SELECT campaign FROM requests WHERE id = ?");
    asked.bind(r.request);
    if (asked.step()) campaign = asked.integer(0);
  }
  const std::optional<int64_t> step = next_step(campaign);
  database
      .prepare(
          "INSERT INTO replies (request, outcome, what, model, reply, complete, input, cache_read, cache_written,"
          " output, estimated, dollars, tries, seconds, step, arrived)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))")
      .bind(r.request)
      .bind(r.outcome)
      .bind(r.what)
      .bind(r.model)
      .bind(r.reply)
      .bind(int64_t{r.complete})
      .bind(r.input)
      .bind(r.cache_read)
      .bind(r.cache_written)
      .bind(r.output)
      .bind(int64_t{r.estimated})
      .bind(r.dollars)
      .bind(int64_t{r.tries})
      .bind(r.seconds)
      .bind(step)
      .run();
  const int64_t id = database.last_id();
  transaction.commit();
  return id;
}

void Recorder::add_proposed(int64_t reply, int64_t solution) {
  database().prepare("INSERT OR IGNORE INTO proposed (reply, solution) VALUES (?, ?)").bind(reply).bind(solution).run();
}

std::vector<RequestRecord> Reader::requests_of_campaign(int64_t campaign) const {
  Database& database = this->database();
  Statement rows = database.prepare(R"sql(
SELECT q.id, q.problem, q.number, q.model, q.proposal, q.prompt, q.prompt_hash, q.reserved_tokens, q.reserved_dollars,
       q.asked, r.id, r.arrived, r.outcome, r.what, r.model, r.reply, r.complete, r.input, r.cache_read,
       r.cache_written, r.output, r.estimated, r.dollars, r.tries, r.seconds
FROM requests q LEFT JOIN replies r ON r.request = q.id
WHERE q.campaign = ? ORDER BY q.id)sql");
  rows.bind(campaign);
  std::vector<RequestRecord> all;
  while (rows.step()) {
    RequestRecord record;
    record.id = rows.integer(0);
    record.request = {campaign,
                      rows.text(1),
                      rows.integer(2),
                      rows.text(3),
                      Json::parse(rows.text(4)),
                      with_texts(Json::parse(rows.text(5)), [&](const Json& id) { return text_of(database, id); }),
                      rows.text(6),
                      rows.integer(7),
                      rows.real_or_none(8)};
    record.asked = rows.text(9);
    if (!rows.is_null(10)) {
      record.reply_id = rows.integer(10);
      record.arrived = rows.text(11);
      record.reply = reply_of(rows, 12);
      record.reply->request = record.id;
      Statement brought = database.prepare("SELECT solution FROM proposed WHERE reply = ? ORDER BY rowid");
      brought.bind(record.reply_id);
      record.solutions = ids_of(std::move(brought));
    }
    all.push_back(std::move(record));
  }
  return all;
}

ModelSpend Reader::model_spend(int64_t campaign) const {
  Statement sums = database().prepare(R"sql(
SELECT count(*), total(CASE WHEN r.id IS NULL THEN q.reserved_tokens
                       ELSE r.input + r.cache_read + r.cache_written + r.output END),
       total(CASE WHEN r.id IS NULL THEN q.reserved_dollars ELSE r.dollars END),
       total(CASE WHEN r.id IS NULL THEN q.reserved_dollars IS NULL ELSE r.dollars IS NULL END)
FROM requests q LEFT JOIN replies r ON r.request = q.id WHERE q.campaign = ?)sql");
  sums.bind(campaign);
  sums.step();
  return {sums.integer(0), sums.integer(1), sums.real(2), sums.integer(3) == 0};
}

}  // namespace results::archive
