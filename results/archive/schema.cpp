#include "results/archive/schema.h"

#include <string>
#include <vector>

#include "core/error.h"

namespace results::archive {
namespace {

// Each entry takes the archive from version i to i + 1. Entries are never edited once released, only added.
const std::vector<std::string>& migrations() {
  static const std::vector<std::string> all{R"sql(
CREATE TABLE environments (  -- facts of host, device, compiler and sandbox that may bear on a result
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
CREATE TABLE problems (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, json TEXT NOT NULL, UNIQUE (name, hash));
CREATE TABLE solutions (
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, problem TEXT NOT NULL, name TEXT NOT NULL,
  origin TEXT NOT NULL,
  parent INTEGER REFERENCES solutions(id), source TEXT NOT NULL, added TEXT NOT NULL);
CREATE TABLE candidates (  -- a solution with its tunables bound
  id INTEGER PRIMARY KEY, solution INTEGER NOT NULL REFERENCES solutions(id), tunables TEXT NOT NULL,
  UNIQUE (solution, tunables));
CREATE TABLE campaigns (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, environment INTEGER NOT NULL REFERENCES environments(id),
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'failed')), started TEXT NOT NULL, ended TEXT,
  spent_seconds REAL NOT NULL DEFAULT 0);
CREATE TABLE compilations (
  id INTEGER PRIMARY KEY, candidate INTEGER NOT NULL REFERENCES candidates(id), device TEXT NOT NULL,
  artefact TEXT, rejected TEXT, log TEXT NOT NULL, compile_ms REAL NOT NULL);
CREATE TABLE attempts (  -- append-only: see the triggers
  id INTEGER PRIMARY KEY, campaign INTEGER REFERENCES campaigns(id), problem INTEGER NOT NULL REFERENCES problems(id),
  candidate INTEGER NOT NULL REFERENCES candidates(id), compilation INTEGER NOT NULL REFERENCES compilations(id),
  environment INTEGER NOT NULL REFERENCES environments(id), device TEXT NOT NULL, artefact TEXT,
  effort TEXT NOT NULL CHECK (effort IN ('screen', 'full', 'confirm', 'control')),
  verdict TEXT NOT NULL, verdict_json TEXT NOT NULL, stages TEXT NOT NULL, seed TEXT NOT NULL,
  reused_from INTEGER REFERENCES attempts(id), made TEXT NOT NULL);
CREATE TABLE measurements (
  id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL UNIQUE REFERENCES attempts(id),
  against INTEGER NOT NULL REFERENCES candidates(id), clock TEXT NOT NULL, outcome TEXT NOT NULL,
  speed_up REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, stopped_early INTEGER NOT NULL);
CREATE TABLE timings (  -- per bench workload; samples: 17 bytes a pair (two doubles in microseconds, who went first)
  id INTEGER PRIMARY KEY, measurement INTEGER NOT NULL REFERENCES measurements(id), workload TEXT NOT NULL,
  candidate_us REAL NOT NULL, incumbent_us REAL NOT NULL, speed_up REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  samples BLOB NOT NULL);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, campaign INTEGER REFERENCES campaigns(id), made TEXT NOT NULL, kind TEXT NOT NULL, details TEXT NOT NULL);
CREATE INDEX attempts_by_campaign ON attempts(campaign, candidate, effort);
CREATE INDEX attempts_by_artefact ON attempts(campaign, artefact, effort);
CREATE INDEX timings_by_measurement ON timings(measurement);
CREATE INDEX attempts_by_candidate ON attempts(candidate);
CREATE INDEX events_by_campaign ON events(campaign);
CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER attempts_remain BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER measurements_stay BEFORE UPDATE ON measurements BEGIN SELECT RAISE(ABORT, 'measurements are append-only'); END;
CREATE TRIGGER measurements_remain BEFORE DELETE ON measurements BEGIN SELECT RAISE(ABORT, 'measurements are append-only'); END;
CREATE TRIGGER compilations_stay BEFORE UPDATE ON compilations BEGIN SELECT RAISE(ABORT, 'compilations are append-only'); END;
CREATE TRIGGER compilations_remain BEFORE DELETE ON compilations BEGIN SELECT RAISE(ABORT, 'compilations are append-only'); END;
CREATE TRIGGER timings_stay BEFORE UPDATE ON timings BEGIN SELECT RAISE(ABORT, 'timings are append-only'); END;
CREATE TRIGGER timings_remain BEFORE DELETE ON timings BEGIN SELECT RAISE(ABORT, 'timings are append-only'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
)sql",
                                            R"sql(
ALTER TABLE timings ADD COLUMN bound_us REAL;  -- what the device would need at its measured peaks, where those are known
ALTER TABLE timings ADD COLUMN clocks BLOB;    -- 9 bytes a pair (two floats in MHz, was it throttled), where known
CREATE TABLE calibrations (  -- what a device reached when it was measured; append-only, the newest counts
  id INTEGER PRIMARY KEY, device TEXT NOT NULL, made TEXT NOT NULL, facts TEXT NOT NULL);
CREATE TABLE baselines (  -- what people would otherwise use, timed by the same rules; never a candidate; append-only
  id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES problems(id), device TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environments(id), library TEXT NOT NULL, made TEXT NOT NULL,
  verdict TEXT NOT NULL, verdict_json TEXT NOT NULL, measurement_json TEXT);
CREATE INDEX calibrations_by_device ON calibrations(device);
CREATE INDEX baselines_by_problem ON baselines(problem, device);
CREATE TRIGGER calibrations_stay BEFORE UPDATE ON calibrations BEGIN SELECT RAISE(ABORT, 'calibrations are append-only'); END;
CREATE TRIGGER calibrations_remain BEFORE DELETE ON calibrations BEGIN SELECT RAISE(ABORT, 'calibrations are append-only'); END;
CREATE TRIGGER baselines_stay BEFORE UPDATE ON baselines BEGIN SELECT RAISE(ABORT, 'baselines are append-only'); END;
CREATE TRIGGER baselines_remain BEFORE DELETE ON baselines BEGIN SELECT RAISE(ABORT, 'baselines are append-only'); END;
)sql",
                                            R"sql(
CREATE TABLE selftests (  -- what a device's judge says of itself; append-only
  id INTEGER PRIMARY KEY, device TEXT NOT NULL, environment INTEGER NOT NULL REFERENCES environments(id),
  made TEXT NOT NULL, seed TEXT NOT NULL, quick INTEGER NOT NULL, seconds REAL NOT NULL,
  dishonest INTEGER NOT NULL, false_accepts INTEGER NOT NULL, honest INTEGER NOT NULL, false_rejects INTEGER NOT NULL,
  widest_noise REAL, candidates_per_hour REAL, details TEXT NOT NULL);
CREATE INDEX selftests_by_device ON selftests(device);
CREATE TRIGGER selftests_stay BEFORE UPDATE ON selftests BEGIN SELECT RAISE(ABORT, 'selftests are append-only'); END;
CREATE TRIGGER selftests_remain BEFORE DELETE ON selftests BEGIN SELECT RAISE(ABORT, 'selftests are append-only'); END;
)sql",
                                            R"sql(
ALTER TABLE compilations ADD COLUMN registers INTEGER;     -- what a thread takes, where the compiler tells
ALTER TABLE compilations ADD COLUMN shared_bytes INTEGER;
ALTER TABLE compilations ADD COLUMN spill_bytes INTEGER;
CREATE TABLE texts (  -- parts of prompts, each kept once
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE requests (  -- what a model was asked, written before it is sent; append-only
  id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL REFERENCES campaigns(id), problem TEXT NOT NULL, number INTEGER NOT NULL,
  model TEXT NOT NULL, proposal TEXT NOT NULL, prompt TEXT NOT NULL, prompt_hash TEXT NOT NULL,
  reserved_tokens INTEGER NOT NULL, reserved_dollars REAL, asked TEXT NOT NULL);
CREATE TABLE replies (  -- what came of a request, if anything; append-only
  id INTEGER PRIMARY KEY, request INTEGER NOT NULL UNIQUE REFERENCES requests(id), outcome TEXT NOT NULL, what TEXT NOT NULL,
  model TEXT NOT NULL, reply TEXT NOT NULL, complete INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  cache_written INTEGER NOT NULL, output INTEGER NOT NULL, estimated INTEGER NOT NULL, dollars REAL,
  tries INTEGER NOT NULL, seconds REAL NOT NULL, arrived TEXT NOT NULL);
CREATE TABLE proposed (  -- the solutions that a reply brought
  reply INTEGER NOT NULL REFERENCES replies(id), solution INTEGER NOT NULL REFERENCES solutions(id),
  PRIMARY KEY (reply, solution));
CREATE INDEX requests_by_campaign ON requests(campaign, problem, number);
CREATE INDEX proposed_by_solution ON proposed(solution);
CREATE TRIGGER requests_stay BEFORE UPDATE ON requests BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
CREATE TRIGGER requests_remain BEFORE DELETE ON requests BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
CREATE TRIGGER replies_stay BEFORE UPDATE ON replies BEGIN SELECT RAISE(ABORT, 'replies are append-only'); END;
CREATE TRIGGER replies_remain BEFORE DELETE ON replies BEGIN SELECT RAISE(ABORT, 'replies are append-only'); END;
)sql",
                                            R"sql(
ALTER TABLE campaigns ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;  -- so far
ALTER TABLE attempts ADD COLUMN step INTEGER;  -- each one's number in its campaign, in the order in which they came;
ALTER TABLE requests ADD COLUMN step INTEGER;  -- absent: of a version that kept no order, or of no campaign
ALTER TABLE replies ADD COLUMN step INTEGER;
ALTER TABLE events ADD COLUMN step INTEGER;
)sql",
                                            R"sql(
ALTER TABLE measurements ADD COLUMN counters TEXT;  -- JSON: what a profiler counted, where one watched
)sql",
                                            R"sql(
-- What the leaderboard needs without looking at every attempt. These two tables only repeat what others hold, and
-- triggers keep them: an import fills them by filling the others.
CREATE TABLE standings (  -- of each solution the best point that was right against naive, confirmed (it won) or not
  problem INTEGER NOT NULL REFERENCES problems(id), device TEXT NOT NULL,
  solution INTEGER NOT NULL REFERENCES solutions(id), confirmed INTEGER NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempts(id), low REAL NOT NULL,
  PRIMARY KEY (problem, device, solution, confirmed)) WITHOUT ROWID;
CREATE TABLE baseline_timings (  -- per bench workload
  id INTEGER PRIMARY KEY, baseline INTEGER NOT NULL REFERENCES baselines(id), workload TEXT NOT NULL,
  candidate_us REAL NOT NULL, incumbent_us REAL NOT NULL, speed_up REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  bound_us REAL);
INSERT INTO standings SELECT problem, device, solution, confirmed, id, low FROM (
  SELECT *, row_number() OVER (PARTITION BY problem, device, solution, confirmed ORDER BY low DESC, id) AS place FROM (
    SELECT a.problem, a.device, c.solution, a.effort = 'confirm' AND m.outcome = 'win' AS confirmed, a.id, m.low
    FROM attempts a JOIN measurements m ON m.attempt = a.id JOIN candidates c ON c.id = a.candidate
         JOIN solutions s ON s.id = c.solution
    WHERE a.effort IN ('full', 'confirm') AND a.verdict = 'correct' AND s.origin <> 'naive'
          AND m.against IN (SELECT n.id FROM candidates n JOIN solutions ns ON ns.id = n.solution
                            WHERE ns.origin = 'naive'))) WHERE place = 1;
INSERT OR IGNORE INTO baseline_timings (baseline, workload, candidate_us, incumbent_us, speed_up, low, high, bound_us)
  SELECT b.id, w.value ->> '$.workload', w.value ->> '$.candidate_us', w.value ->> '$.incumbent_us',
         w.value ->> '$.speed_up[0]', w.value ->> '$.speed_up[1]', w.value ->> '$.speed_up[2]', w.value ->> '$.bound_us'
  FROM baselines b JOIN json_each(b.measurement_json, '$.workloads') w WHERE b.measurement_json IS NOT NULL;
CREATE TRIGGER measurements_stand AFTER INSERT ON measurements BEGIN
  INSERT INTO standings
    SELECT a.problem, a.device, c.solution, a.effort = 'confirm' AND NEW.outcome = 'win', a.id, NEW.low
    FROM attempts a JOIN candidates c ON c.id = a.candidate JOIN solutions s ON s.id = c.solution
    WHERE a.id = NEW.attempt AND a.effort IN ('full', 'confirm') AND a.verdict = 'correct' AND s.origin <> 'naive'
          AND (SELECT ns.origin FROM candidates n JOIN solutions ns ON ns.id = n.solution
               WHERE n.id = NEW.against) = 'naive'
    ON CONFLICT DO UPDATE SET attempt = excluded.attempt, low = excluded.low WHERE excluded.low > low;
END;
CREATE TRIGGER baselines_timed AFTER INSERT ON baselines WHEN NEW.measurement_json IS NOT NULL BEGIN
  INSERT OR IGNORE INTO baseline_timings (baseline, workload, candidate_us, incumbent_us, speed_up, low, high, bound_us)
    SELECT NEW.id, w.value ->> '$.workload', w.value ->> '$.candidate_us', w.value ->> '$.incumbent_us',
           w.value ->> '$.speed_up[0]', w.value ->> '$.speed_up[1]', w.value ->> '$.speed_up[2]',
           w.value ->> '$.bound_us'
    FROM json_each(NEW.measurement_json, '$.workloads') w;
END;
CREATE INDEX standings_by_low ON standings(problem, device, confirmed, low DESC);
CREATE INDEX standings_by_solution ON standings(solution);
CREATE INDEX baseline_timings_by_baseline ON baseline_timings(baseline);
CREATE INDEX attempts_by_problem ON attempts(problem, made);
CREATE INDEX attempts_by_verdict ON attempts(campaign, verdict);
CREATE INDEX solutions_by_name ON solutions(name);
CREATE INDEX solutions_by_parent ON solutions(parent) WHERE parent IS NOT NULL;
-- Views for any SQLite client; docs/archive.md describes their columns.
CREATE VIEW v_problems AS
  SELECT id AS problem_id, name AS problem, hash,
         row_number() OVER (PARTITION BY name ORDER BY last_attempt DESC NULLS LAST, last_baseline DESC NULLS LAST,
                                                       id DESC) = 1 AS is_current
  FROM (SELECT p.id, p.name, p.hash, (SELECT max(a.made) FROM attempts a WHERE a.problem = p.id) AS last_attempt,
               (SELECT max(b.made) FROM baselines b WHERE b.problem = p.id) AS last_baseline FROM problems p);
CREATE VIEW v_attempts AS
  SELECT a.id AS attempt, g.name AS campaign, p.name AS problem, a.device, s.name AS solution, s.hash AS solution_hash,
         s.origin, c.tunables, a.effort, a.verdict, m.outcome, ns.name AS against, m.speed_up, m.low, m.high,
         k.compile_ms, k.registers, k.shared_bytes, k.spill_bytes, a.reused_from, a.made
  FROM attempts a JOIN problems p ON p.id = a.problem JOIN candidates c ON c.id = a.candidate
       JOIN solutions s ON s.id = c.solution JOIN compilations k ON k.id = a.compilation
       LEFT JOIN campaigns g ON g.id = a.campaign LEFT JOIN measurements m ON m.attempt = a.id
       LEFT JOIN candidates n ON n.id = m.against LEFT JOIN solutions ns ON ns.id = n.solution;
CREATE VIEW v_timings AS
  SELECT m.attempt, t.workload, t.candidate_us AS time_us, t.incumbent_us, t.speed_up, t.low, t.high, t.bound_us,
         t.bound_us / t.candidate_us AS share_of_bound, length(t.samples) / 17 AS pairs
  FROM timings t JOIN measurements m ON m.id = t.measurement;
CREATE VIEW v_leaderboard AS
  SELECT p.problem, st.device, row_number() OVER (PARTITION BY p.problem, st.device ORDER BY st.low DESC) AS rank,
         s.name AS solution, s.hash AS solution_hash, s.origin, c.tunables, m.speed_up, m.low, m.high, t.workload,
         t.candidate_us AS time_us, t.bound_us / t.candidate_us AS share_of_bound, st.attempt, a.made
  FROM standings st JOIN v_problems p ON p.problem_id = st.problem AND p.is_current
       JOIN solutions s ON s.id = st.solution JOIN attempts a ON a.id = st.attempt
       JOIN candidates c ON c.id = a.candidate JOIN measurements m ON m.attempt = a.id
       LEFT JOIN timings t ON t.id = (SELECT min(id) FROM timings WHERE measurement = m.id)
  WHERE st.confirmed = 1;
CREATE VIEW v_libraries AS
  SELECT p.problem, b.device, b.library, b.verdict, t.workload, t.candidate_us AS time_us,
         t.incumbent_us AS naive_us, t.speed_up, t.low, t.high, t.bound_us / t.candidate_us AS share_of_bound, b.made
  FROM baselines b JOIN v_problems p ON p.problem_id = b.problem AND p.is_current
       LEFT JOIN baseline_timings t ON t.baseline = b.id
  WHERE b.id = (SELECT max(o.id) FROM baselines o
                WHERE o.problem = b.problem AND o.device = b.device AND o.library = b.library);
CREATE VIEW v_exchanges AS
  SELECT q.id AS request, g.name AS campaign, q.problem, q.number, q.model, q.proposal ->> '$.operator' AS task,
         q.asked, r.id AS reply, r.outcome, r.model AS answered_by, r.input, r.cache_read, r.cache_written,
         r.output, r.input + r.cache_read + r.cache_written + r.output AS tokens, r.estimated, r.dollars, r.tries,
         r.seconds, r.arrived, (SELECT count(*) FROM proposed o WHERE o.reply = r.id) AS solutions
  FROM requests q JOIN campaigns g ON g.id = q.campaign LEFT JOIN replies r ON r.request = q.id;
CREATE VIEW v_solutions AS
  SELECT s.id AS solution_id, s.name AS solution, s.hash, s.problem, s.origin, o.hash AS parent_hash,
         q.model, q.proposal ->> '$.operator' AS task, r.input + r.cache_read + r.cache_written + r.output AS tokens,
         r.dollars, s.added,
         (SELECT count(*) FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE c.solution = s.id) AS attempts,
         EXISTS (SELECT 1 FROM standings t WHERE t.solution = s.id AND t.confirmed = 1) AS confirmed, s.source
  FROM solutions s LEFT JOIN solutions o ON o.id = s.parent
       LEFT JOIN replies r ON r.id = (SELECT min(reply) FROM proposed WHERE solution = s.id)
       LEFT JOIN requests q ON q.id = r.request;
CREATE VIEW v_campaigns AS
  SELECT g.name AS campaign, g.status, g.started, g.ended, g.spent_seconds, g.settings ->> '$.device' AS device,
         (SELECT count(*) FROM attempts a WHERE a.campaign = g.id) AS attempts,
         (SELECT count(*) FROM attempts a WHERE a.campaign = g.id AND a.verdict = 'correct') AS correct,
         (SELECT count(*) FROM requests q WHERE q.campaign = g.id) AS requests,
         (SELECT coalesce(sum(r.input + r.cache_read + r.cache_written + r.output), 0) FROM requests q
            JOIN replies r ON r.request = q.id WHERE q.campaign = g.id) AS tokens,
         (SELECT total(r.dollars) FROM requests q JOIN replies r ON r.request = q.id WHERE q.campaign = g.id) AS dollars
  FROM campaigns g;
CREATE VIEW v_models AS
  SELECT q.model, count(*) AS requests, count(r.id) AS replies,
         count(*) FILTER (WHERE r.outcome = 'completion') AS completions,
         coalesce(sum(r.input + r.cache_read + r.cache_written + r.output), 0) AS tokens, total(r.dollars) AS dollars,
         sum((SELECT count(*) FROM proposed o WHERE o.reply = r.id)) AS solutions,
         sum((SELECT count(*) FROM proposed o WHERE o.reply = r.id
                  AND EXISTS (SELECT 1 FROM standings t WHERE t.solution = o.solution AND t.confirmed = 1))) AS confirmed
  FROM requests q LEFT JOIN replies r ON r.request = q.id GROUP BY q.model;
CREATE VIEW v_verdicts AS
  SELECT g.name AS campaign, p.name AS problem, a.device, a.effort, a.verdict, count(*) AS attempts
  FROM attempts a JOIN problems p ON p.id = a.problem LEFT JOIN campaigns g ON g.id = a.campaign
  GROUP BY a.campaign, a.problem, a.device, a.effort, a.verdict;
CREATE VIEW v_events AS
  SELECT g.name AS campaign, e.made, e.kind, e.details
  FROM events e LEFT JOIN campaigns g ON g.id = e.campaign;
)sql",
                                            R"sql(
ALTER TABLE problems ADD COLUMN files TEXT;  -- JSON: text of each source file by name; absent: an earlier version's row
ALTER TABLE campaigns ADD COLUMN process TEXT;  -- that runs it or ran it last (core/running.h)
)sql",
                                            R"sql(
ALTER TABLE timings ADD COLUMN weight REAL;  -- of the workload; absent: 1
ALTER TABLE baseline_timings ADD COLUMN weight REAL;
DROP TRIGGER baselines_timed;
CREATE TRIGGER baselines_timed AFTER INSERT ON baselines WHEN NEW.measurement_json IS NOT NULL BEGIN
  INSERT OR IGNORE INTO baseline_timings (baseline, workload, candidate_us, incumbent_us, speed_up, low, high, bound_us,
                                          weight)
    SELECT NEW.id, w.value ->> '$.workload', w.value ->> '$.candidate_us', w.value ->> '$.incumbent_us',
           w.value ->> '$.speed_up[0]', w.value ->> '$.speed_up[1]', w.value ->> '$.speed_up[2]',
           w.value ->> '$.bound_us', w.value ->> '$.weight'
    FROM json_each(NEW.measurement_json, '$.workloads') w;
END;
DROP VIEW v_timings;
CREATE VIEW v_timings AS
  SELECT m.attempt, t.workload, t.candidate_us AS time_us, t.incumbent_us, t.speed_up, t.low, t.high,
         coalesce(t.weight, 1) AS weight, t.bound_us, t.bound_us / t.candidate_us AS share_of_bound,
         length(t.samples) / 17 AS pairs
  FROM timings t JOIN measurements m ON m.id = t.measurement;
-- Two versions may be judged in the same second: the last recorded one is current.
DROP VIEW v_problems;
CREATE VIEW v_problems AS
  SELECT id AS problem_id, name AS problem, hash,
         row_number() OVER (PARTITION BY name ORDER BY last_attempt DESC NULLS LAST, last_attempt_id DESC,
                                                       last_baseline DESC NULLS LAST, id DESC) = 1 AS is_current
  FROM (SELECT p.id, p.name, p.hash, (SELECT max(a.made) FROM attempts a WHERE a.problem = p.id) AS last_attempt,
               (SELECT a.id FROM attempts a WHERE a.problem = p.id ORDER BY a.made DESC, a.id DESC LIMIT 1)
                 AS last_attempt_id,
               (SELECT max(b.made) FROM baselines b WHERE b.problem = p.id) AS last_baseline FROM problems p);
)sql",
                                            R"sql(
CREATE VIEW v_advised AS
  WITH asked AS (
    SELECT q.id AS request, q.campaign, q.problem, q.proposal ->> '$.advice' AS advice,
           q.proposal ->> '$.limit' AS bottleneck, json_array_length(q.prompt, '$.turns') > 1 AS sent_back,
           s.id AS solution, s.parent
    FROM requests q LEFT JOIN replies r ON r.request = q.id LEFT JOIN proposed o ON o.reply = r.id
         LEFT JOIN solutions s ON s.id = o.solution
    WHERE q.proposal ->> '$.limit' IS NOT NULL),
  timed AS (  -- over naive: an incumbent that is not naive has a confirmed speed-up over naive in its campaign
    SELECT p.campaign, p.solution, a.effort = 'confirm' AS confirmed,
           m.speed_up * CASE ns.origin WHEN 'naive' THEN 1 ELSE
             (SELECT i.speed_up FROM attempts b JOIN measurements i ON i.attempt = b.id
                JOIN candidates ic ON ic.id = i.against JOIN solutions iv ON iv.id = ic.solution
              WHERE b.candidate = m.against AND b.campaign = a.campaign AND b.effort = 'confirm'
                    AND b.verdict = 'correct' AND iv.origin = 'naive' ORDER BY b.id DESC LIMIT 1) END AS speed_up
    FROM (SELECT campaign, solution FROM asked UNION SELECT campaign, parent FROM asked) p
         JOIN candidates c ON c.solution = p.solution
         JOIN attempts a ON a.candidate = c.id AND +a.campaign = p.campaign
         JOIN measurements m ON m.attempt = coalesce(a.reused_from, a.id)
         JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution
    WHERE +a.verdict = 'correct' AND a.effort IN ('full', 'confirm')),
  best AS (
    SELECT campaign, solution, coalesce(max(speed_up) FILTER (WHERE confirmed), max(speed_up)) AS speed_up
    FROM timed GROUP BY campaign, solution)
  SELECT k.request, g.name AS campaign, k.problem, k.advice, k.bottleneck, k.sent_back, s.name AS solution,
         o.name AS parent,
         EXISTS (SELECT 1 FROM candidates c JOIN attempts a ON a.candidate = c.id
                 WHERE c.solution = k.solution AND +a.campaign = k.campaign AND +a.verdict = 'correct'
                       AND a.effort IN ('full', 'confirm')) AS correct,
         mine.speed_up / before.speed_up AS gain
  FROM asked k JOIN campaigns g ON g.id = k.campaign LEFT JOIN solutions s ON s.id = k.solution
       LEFT JOIN solutions o ON o.id = k.parent
       LEFT JOIN best mine ON mine.campaign = k.campaign AND mine.solution = k.solution
       LEFT JOIN best before ON before.campaign = k.campaign AND before.solution = k.parent;
CREATE VIEW v_advice AS
  SELECT advice, count(DISTINCT request) FILTER (WHERE NOT sent_back) AS given, count(solution) AS solutions,
         sum(correct) AS correct, count(*) FILTER (WHERE gain > 1.01) AS faster, exp(avg(ln(gain))) AS mean_gain
  FROM v_advised GROUP BY advice;
)sql",
                                            R"sql(
CREATE VIEW v_outcomes AS
  WITH asked AS (
    SELECT q.id AS request, q.campaign, q.problem, q.number, q.model, q.proposal, q.step,
           json_array_length(q.prompt, '$.turns') > 1 AS sent_back, s.id AS solution, s.parent
    FROM requests q JOIN replies r ON r.request = q.id LEFT JOIN proposed o ON o.reply = r.id
         LEFT JOIN solutions s ON s.id = o.solution
    WHERE q.proposal ->> '$.operator' IN ('fresh', 'improve', 'repair', 'cross') AND r.outcome = 'completion'),
  timed AS (  -- over naive: an incumbent that is not naive has a confirmed speed-up over naive in its campaign
    SELECT p.campaign, p.solution, a.effort = 'confirm' AS confirmed,
           m.speed_up * CASE ns.origin WHEN 'naive' THEN 1 ELSE
             (SELECT i.speed_up FROM attempts b JOIN measurements i ON i.attempt = b.id
                JOIN candidates ic ON ic.id = i.against JOIN solutions iv ON iv.id = ic.solution
              WHERE b.candidate = m.against AND b.campaign = a.campaign AND b.effort = 'confirm'
                    AND b.verdict = 'correct' AND iv.origin = 'naive' ORDER BY b.id DESC LIMIT 1) END AS speed_up
    FROM (SELECT campaign, solution FROM asked UNION SELECT campaign, parent FROM asked) p
         JOIN candidates c ON c.solution = p.solution
         JOIN attempts a ON a.candidate = c.id AND +a.campaign = p.campaign
         JOIN measurements m ON m.attempt = coalesce(a.reused_from, a.id)
         JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution
    WHERE +a.verdict = 'correct' AND a.effort IN ('full', 'confirm')),
  best AS (
    SELECT campaign, solution, coalesce(max(speed_up) FILTER (WHERE confirmed), max(speed_up)) AS speed_up
    FROM timed GROUP BY campaign, solution),
  wins AS MATERIALIZED (  -- over naive
    SELECT a.campaign, s.problem, a.step, c.solution, m.speed_up
    FROM attempts a JOIN measurements m ON m.attempt = a.id JOIN candidates c ON c.id = a.candidate
         JOIN solutions s ON s.id = c.solution
         JOIN candidates n ON n.id = m.against JOIN solutions ns ON ns.id = n.solution
    WHERE a.campaign IN (SELECT campaign FROM asked) AND a.effort = 'confirm' AND +a.verdict = 'correct'
          AND m.outcome = 'win' AND ns.origin = 'naive')
  SELECT k.request, g.name AS campaign, g.settings ->> '$.device' AS device, k.problem, k.number, k.model,
         k.proposal ->> '$.operator' AS task, k.sent_back, s.name AS solution, o.name AS parent,
         EXISTS (SELECT 1 FROM candidates c JOIN attempts a ON a.candidate = c.id
                 WHERE c.solution = k.solution AND +a.campaign = k.campaign AND +a.verdict = 'correct'
                       AND a.effort IN ('full', 'confirm')) AS correct,
         EXISTS (SELECT 1 FROM wins w WHERE w.campaign = k.campaign AND w.solution = k.solution) AS won,
         mine.speed_up / CASE WHEN k.parent IS NOT NULL THEN before.speed_up ELSE
           coalesce((SELECT max(w.speed_up) FROM wins w
                     WHERE w.campaign = k.campaign AND w.problem = k.problem AND w.step < k.step), 1) END AS gain
  FROM asked k JOIN campaigns g ON g.id = k.campaign LEFT JOIN solutions s ON s.id = k.solution
       LEFT JOIN solutions o ON o.id = k.parent
       LEFT JOIN best mine ON mine.campaign = k.campaign AND mine.solution = k.solution
       LEFT JOIN best before ON before.campaign = k.campaign AND before.solution = k.parent;
CREATE VIEW v_shown AS
  WITH shown AS (
    SELECT q.id AS request, 'card' AS part, j.value AS name FROM requests q, json_each(q.proposal, '$.cards') j
    UNION ALL
    SELECT id, 'exemplar', proposal ->> '$.exemplar' FROM requests WHERE proposal ->> '$.exemplar' IS NOT NULL)
  SELECT o.request, o.campaign, o.device, o.problem, o.task, h.part, h.name, o.sent_back, o.solution, o.correct, o.won,
         o.gain
  FROM shown h JOIN v_outcomes o ON o.request = h.request;
CREATE VIEW v_cards AS
  SELECT name AS card, count(DISTINCT request) FILTER (WHERE NOT sent_back) AS sent, count(solution) AS solutions,
         sum(correct) AS correct, count(DISTINCT request) FILTER (WHERE won) AS won, exp(avg(ln(gain))) AS mean_gain
  FROM v_shown WHERE part = 'card' GROUP BY name;
DROP VIEW v_campaigns;
CREATE VIEW v_campaigns AS
  SELECT g.name AS campaign, g.status, g.started, g.ended, g.spent_seconds, g.settings ->> '$.device' AS device,
         (SELECT count(*) FROM attempts a WHERE a.campaign = g.id) AS attempts,
         (SELECT count(*) FROM attempts a WHERE a.campaign = g.id AND a.verdict = 'correct') AS correct,
         (SELECT count(*) FROM requests q WHERE q.campaign = g.id) AS requests,
         (SELECT coalesce(sum(r.input + r.cache_read + r.cache_written + r.output), 0) FROM requests q
            JOIN replies r ON r.request = q.id WHERE q.campaign = g.id) AS tokens,
         (SELECT total(r.dollars) FROM requests q JOIN replies r ON r.request = q.id WHERE q.campaign = g.id) AS dollars,
         coalesce(g.settings ->> '$.held_out', 0) AS held_out
  FROM campaigns g;
)sql"};
  return all;
}

bool holds_tables(Database& database) {
  Statement statement = database.prepare("SELECT count(*) FROM sqlite_master");
  return statement.step() && statement.integer(0) > 0;
}
}  // namespace

void migrate(Database& database, const std::filesystem::path& file) {
  int64_t version = database.pragma("user_version");
  if (holds_tables(database) && database.pragma("application_id") != kApplicationId) {
    throw core::InputError(file.string(), "is a database of another program", "give another file with --archive");
  }
  const auto newest = static_cast<int64_t>(migrations().size());
  if (version > newest) {
    throw core::InputError(file.string(),
                           "was written by a newer version of kernelwright (schema " + std::to_string(version) +
                               ", this one knows " + std::to_string(newest) + ")",
                           "update kernelwright, or give another file with --archive");
  }
  if (!database.may_be_written()) {
    if (version == newest) return;
    throw core::InputError(
        file.string(),
        "is of an earlier version (schema " + std::to_string(version) + "; this one reads " + std::to_string(newest) +
            ") and may not be written",
        "copy it to a writable place, or make the file and its folder writable: opening it migrates it");
  }
  // FULL: committed data survives a power failure. NORMAL might lose the last minutes: a confirmed win, or a provider's
  // charges. An attempt takes far longer than writing it to disk.
  database.log_writes();
  database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
  for (; version < newest; ++version) {
    Transaction transaction(database);
    if (database.pragma("user_version") == version) {  // another process may have migrated it
      database.execute(migrations()[static_cast<size_t>(version)]);
      database.execute("PRAGMA application_id = " + std::to_string(kApplicationId) +
                       "; PRAGMA user_version = " + std::to_string(version + 1));
    }
    transaction.commit();
  }
}

}  // namespace results::archive
