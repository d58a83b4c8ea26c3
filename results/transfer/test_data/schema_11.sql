-- An archive as schema 11 of kernelwright had it, with a record of every kind. Loaded by schema_test.cpp.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE environments (  -- facts of host, device, compiler and sandbox that may bear on a result
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
INSERT INTO environments VALUES(1,'8669e0a1bb994fd0125e03f1194f8f3ded7173ea827f74e4d66427a69708dc9d','{"host":"test"}');
CREATE TABLE problems (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, json TEXT NOT NULL, files TEXT, UNIQUE (name, hash));
INSERT INTO problems VALUES(1,'sum_f32','e41525adde37209b4009e08324a3687a0ed8bb8462c855755fdd0fbf36244074','{}','{"naive.cu":"// naive\n","reference.cu":"// reference\n"}');
CREATE TABLE solutions (
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, problem TEXT NOT NULL, name TEXT NOT NULL,
  origin TEXT NOT NULL,
  parent INTEGER REFERENCES solutions(id), source TEXT NOT NULL, added TEXT NOT NULL);
INSERT INTO solutions VALUES(1,'6627c3f83303df6f36962b3344560e2e6609869b86010784a558eea86c896207','sum_f32','naive','naive',NULL,'// sum_f32 naive','2026-11-22T00:37:08Z');
INSERT INTO solutions VALUES(2,'0273e307c7d0eda3a1dca404e7d2472b6b3ce5a1352737479a9c17e4979b251a','sum_f32','seed','seed',NULL,'// sum_f32 seed','2026-11-22T00:37:08Z');
INSERT INTO solutions VALUES(3,'cae9500948510290e6b51baaa23eca01af6f60ed882f01327724e79db2735e2f','sum_f32','broken','user',NULL,'// sum_f32 broken','2026-11-22T00:37:08Z');
INSERT INTO solutions VALUES(4,'af8f85b08ec0a7fe28c138db425a25b21ebb6ee465e2dedfa2a1769b77ee1f34','sum_f32','proposed','anthropic:some-model',NULL,'// sum_f32 proposed 1','2026-11-22T00:37:08Z');
INSERT INTO solutions VALUES(5,'7de664110abaff91895e29a8bd82487d3223b3a5eb3b4445017aa0b1edc6fa08','sum_f32','child','user',1,'// sum_f32 child','2026-11-22T00:37:08Z');
CREATE TABLE candidates (  -- a solution with its tunables bound
  id INTEGER PRIMARY KEY, solution INTEGER NOT NULL REFERENCES solutions(id), tunables TEXT NOT NULL,
  UNIQUE (solution, tunables));
INSERT INTO candidates VALUES(1,1,'{}');
INSERT INTO candidates VALUES(2,2,'{"BLOCK":1}');
INSERT INTO candidates VALUES(3,2,'{"BLOCK":2}');
INSERT INTO candidates VALUES(4,3,'{}');
INSERT INTO candidates VALUES(5,2,'{"BLOCK":8}');
CREATE TABLE campaigns (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, environment INTEGER NOT NULL REFERENCES environments(id),
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'failed')), started TEXT NOT NULL, ended TEXT,
  spent_seconds REAL NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, process TEXT);
INSERT INTO campaigns VALUES(1,'q5jkqy9q','{"problems":["sum_f32"]}',1,'done','2026-11-22T00:37:08Z','2026-11-22T00:37:08Z',0.2000000000000000111,9,'a-boot pid:[4026531836] 1 1');
CREATE TABLE compilations (
  id INTEGER PRIMARY KEY, candidate INTEGER NOT NULL REFERENCES candidates(id), device TEXT NOT NULL,
  artefact TEXT, rejected TEXT, log TEXT NOT NULL, compile_ms REAL NOT NULL, registers INTEGER, shared_bytes INTEGER, spill_bytes INTEGER);
INSERT INTO compilations VALUES(1,2,'cpu','artefact 2',NULL,'one warning',85.0,NULL,NULL,NULL);
INSERT INTO compilations VALUES(2,2,'cpu','artefact 2',NULL,'one warning',85.0,NULL,NULL,NULL);
INSERT INTO compilations VALUES(3,3,'cpu','artefact 3',NULL,'one warning',85.0,NULL,NULL,NULL);
INSERT INTO compilations VALUES(4,4,'cpu',NULL,'compile_error','one warning',85.0,NULL,NULL,NULL);
INSERT INTO compilations VALUES(5,1,'cpu','artefact 1',NULL,'one warning',85.0,NULL,NULL,NULL);
INSERT INTO compilations VALUES(6,5,'cpu','artefact 5',NULL,'one warning',85.0,NULL,NULL,NULL);
CREATE TABLE attempts (  -- append-only: see the triggers
  id INTEGER PRIMARY KEY, campaign INTEGER REFERENCES campaigns(id), problem INTEGER NOT NULL REFERENCES problems(id),
  candidate INTEGER NOT NULL REFERENCES candidates(id), compilation INTEGER NOT NULL REFERENCES compilations(id),
  environment INTEGER NOT NULL REFERENCES environments(id), device TEXT NOT NULL, artefact TEXT,
  effort TEXT NOT NULL CHECK (effort IN ('screen', 'full', 'confirm', 'control')),
  verdict TEXT NOT NULL, verdict_json TEXT NOT NULL, stages TEXT NOT NULL, seed TEXT NOT NULL,
  reused_from INTEGER REFERENCES attempts(id), made TEXT NOT NULL, step INTEGER);
INSERT INTO attempts VALUES(1,1,1,2,1,1,'cpu','artefact 2','full','correct','{"deterministic":true,"launches":12,"name":"correct","worst_ratio":0.25}','{"audit_ms":4.0,"check_ms":2.0,"sanitizer_ms":0.0,"timing_ms":3.0}','18364758544493064721',NULL,'2026-11-22T00:37:08Z',1);
INSERT INTO attempts VALUES(2,1,1,2,2,1,'cpu','artefact 2','confirm','correct','{"deterministic":true,"launches":12,"name":"correct","worst_ratio":0.25}','{"audit_ms":4.0,"check_ms":2.0,"sanitizer_ms":0.0,"timing_ms":3.0}','18364758544493064721',NULL,'2026-11-22T00:37:08Z',2);
INSERT INTO attempts VALUES(3,1,1,3,3,1,'cpu','artefact 3','full','correct','{"deterministic":true,"launches":12,"name":"correct","worst_ratio":0.25}','{"audit_ms":0.0,"check_ms":0.0,"sanitizer_ms":0.0,"timing_ms":0.0}','0',1,'2026-11-22T00:37:08Z',3);
INSERT INTO attempts VALUES(4,1,1,4,4,1,'cpu',NULL,'screen','compile_error','{"line":3,"message":"line 3: what?","name":"compile_error"}','{"audit_ms":0.0,"check_ms":0.0,"sanitizer_ms":0.0,"timing_ms":0.0}','0',NULL,'2026-11-22T00:37:08Z',4);
INSERT INTO attempts VALUES(5,NULL,1,1,5,1,'cpu','artefact 1','control','correct','{"deterministic":true,"launches":12,"name":"correct","worst_ratio":0.25}','{"audit_ms":4.0,"check_ms":2.0,"sanitizer_ms":0.0,"timing_ms":3.0}','18364758544493064720',NULL,'2026-11-22T00:37:08Z',NULL);
INSERT INTO attempts VALUES(6,1,1,5,6,1,'cpu','artefact 5','full','correct','{"deterministic":true,"launches":12,"name":"correct","worst_ratio":0.25}','{"audit_ms":4.0,"check_ms":2.0,"sanitizer_ms":0.0,"timing_ms":3.0}','77',NULL,'2026-11-22T00:37:08Z',9);
CREATE TABLE measurements (
  id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL UNIQUE REFERENCES attempts(id),
  against INTEGER NOT NULL REFERENCES candidates(id), clock TEXT NOT NULL, outcome TEXT NOT NULL,
  speed_up REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, stopped_early INTEGER NOT NULL, counters TEXT);
INSERT INTO measurements VALUES(1,1,1,'cpu-rough','win',1.2428571428571428825,1.2179999999999999715,1.2677142857142857934,0,NULL);
INSERT INTO measurements VALUES(2,2,1,'cpu-rough','win',1.2428571428571428825,1.2179999999999999715,1.2677142857142857934,0,NULL);
INSERT INTO measurements VALUES(3,5,1,'cpu-rough','tie',1.0,0.97999999999999998223,1.0200000000000000177,0,NULL);
INSERT INTO measurements VALUES(4,6,1,'cpu-rough','win',1.5,1.4699999999999999733,1.5300000000000000266,1,'[{"kernel":"","stalls":{}}]');
CREATE TABLE timings (  -- per bench workload; samples: 17 bytes a pair (two doubles in microseconds, who went first)
  id INTEGER PRIMARY KEY, measurement INTEGER NOT NULL REFERENCES measurements(id), workload TEXT NOT NULL,
  candidate_us REAL NOT NULL, incumbent_us REAL NOT NULL, speed_up REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  samples BLOB NOT NULL, bound_us REAL, clocks BLOB, weight REAL);
INSERT INTO timings VALUES(1,1,'bench',80.459770114942529058,100.0,1.2428571428571428825,1.2179999999999999715,1.2677142857142857934,X'43bfd93af41b53409224499224895940013c27f8671e2d5340000000000080594000348f1695483e53406edbb66ddb765940002cf734c2724f5340dbb66ddbb66d594001255f53ef9c6053404a92244992645940001dc7711cc7715340b66ddbb66d5b594000142f9049f18253402549922449525940010d97ae761b94534092244992244959400005ffcca345a55340000000000040594000fd66ebd06fb653406edbb66ddb36594001f5ce09fe99c75340dbb66ddbb62d594000ee36282bc4d853404a9224499224594000e59e4658eee95340b66ddbb66d1b594001dd06658518fb5340254992244912594000d66e83b2420c5440922449922409594000ced6a1df6c1d5440000000000000594001c73ec00c972e54406edbb66ddbf6584000bea6de39c13f5440dbb66ddbb6ed584000b70efd66eb5054404992244992e4584001af761b9415625440b76ddbb66ddb584000a6de39c13f7354402549922449d25840009f4658ee698454409224499224c958400198ae761b949554400000000000c05840008f169548bea654406edbb66ddbb6584000887eb375e8b75440dbb66ddbb6ad58400180e6d1a212c954404a92244992a4584000774ef0cf3cda5440b76ddbb66d9b58400070b60efd66eb5440254992244992584001691e2d2a91fc544092244992248958400060864b57bb0d554000000000008058400059ee6984e51e55406ddbb66ddb76584001',0.29999999999999998889,X'0000000000000000000000000000000000000000000000000000000048b0440000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',NULL);
INSERT INTO timings VALUES(2,2,'bench',80.459770114942529058,100.0,1.2428571428571428825,1.2179999999999999715,1.2677142857142857934,X'43bfd93af41b53409224499224895940013c27f8671e2d5340000000000080594000348f1695483e53406edbb66ddb765940002cf734c2724f5340dbb66ddbb66d594001255f53ef9c6053404a92244992645940001dc7711cc7715340b66ddbb66d5b594000142f9049f18253402549922449525940010d97ae761b94534092244992244959400005ffcca345a55340000000000040594000fd66ebd06fb653406edbb66ddb36594001f5ce09fe99c75340dbb66ddbb62d594000ee36282bc4d853404a9224499224594000e59e4658eee95340b66ddbb66d1b594001dd06658518fb5340254992244912594000d66e83b2420c5440922449922409594000ced6a1df6c1d5440000000000000594001c73ec00c972e54406edbb66ddbf6584000bea6de39c13f5440dbb66ddbb6ed584000b70efd66eb5054404992244992e4584001af761b9415625440b76ddbb66ddb584000a6de39c13f7354402549922449d25840009f4658ee698454409224499224c958400198ae761b949554400000000000c05840008f169548bea654406edbb66ddbb6584000887eb375e8b75440dbb66ddbb6ad58400180e6d1a212c954404a92244992a4584000774ef0cf3cda5440b76ddbb66d9b58400070b60efd66eb5440254992244992584001691e2d2a91fc544092244992248958400060864b57bb0d554000000000008058400059ee6984e51e55406ddbb66ddb76584001',0.29999999999999998889,X'0000000000000000000000000000000000000000000000000000000048b0440000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',2.5);
INSERT INTO timings VALUES(3,3,'bench',100.0,100.0,1.0,0.97999999999999998223,1.0200000000000000177,X'0000000000c057409224499224895940015655555555d55740000000000080594000abaaaaaaaaea57406edbb66ddb765940000000000000005840dbb66ddbb66d59400156555555551558404a9224499264594000abaaaaaaaa2a5840b66ddbb66d5b59400000000000004058402549922449525940015655555555555840922449922449594000abaaaaaaaa6a584000000000004059400000000000008058406edbb66ddb365940015555555555955840dbb66ddbb62d594000abaaaaaaaaaa58404a92244992245940000000000000c05840b66ddbb66d1b5940015555555555d55840254992244912594000abaaaaaaaaea5840922449922409594000000000000000594000000000000059400156555555551559406edbb66ddbf6584000aaaaaaaaaa2a5940dbb66ddbb6ed58400000000000004059404992244992e45840015655555555555940b76ddbb66ddb584000aaaaaaaaaa6a59402549922449d258400000000000008059409224499224c958400156555555559559400000000000c0584000aaaaaaaaaaaa59406edbb66ddbb65840000000000000c05940dbb66ddbb6ad5840015655555555d559404a92244992a4584000aaaaaaaaaaea5940b76ddbb66d9b5840000000000000005a402549922449925840015655555555155a40922449922489584000aaaaaaaaaa2a5a400000000000805840000000000000405a406ddbb66ddb76584001',NULL,NULL,NULL);
INSERT INTO timings VALUES(4,4,'bench',66.666666666666671405,100.0,1.5,1.4699999999999999733,1.5300000000000000266,X'0000000000805040b66ddbb66d1b594001e4388ee3388e5040254992244912594000c8711cc7719c5040922449922409594000abaaaaaaaaaa50400000000000005940018fe3388ee3b850406edbb66ddbf6584000721cc7711cc75040dbb66ddbb6ed5840005655555555d550404992244992e4584001',NULL,NULL,NULL);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, campaign INTEGER REFERENCES campaigns(id), made TEXT NOT NULL, kind TEXT NOT NULL, details TEXT NOT NULL, step INTEGER);
INSERT INTO events VALUES(1,1,'2026-11-22T00:37:08Z','problem_started','{"problem":"sum_f32"}',8);
INSERT INTO events VALUES(2,NULL,'2026-11-22T00:37:08Z','said twice, and a third time','{"x":0.1}',NULL);
INSERT INTO events VALUES(3,NULL,'2026-11-22T00:37:08Z','said twice, and a third time','{"x":0.1}',NULL);
INSERT INTO events VALUES(4,NULL,'2026-11-22T00:37:08Z','said twice, and a third time','{"x":0.1}',NULL);
CREATE TABLE calibrations (  -- what a device reached when it was measured; append-only, the newest counts
  id INTEGER PRIMARY KEY, device TEXT NOT NULL, made TEXT NOT NULL, facts TEXT NOT NULL);
INSERT INTO calibrations VALUES(1,'cuda GPU','2026-11-21T10:00:00Z','{"architecture":"sm_90a","device":"GPU","dram_copy_gb_s":1000.1,"dram_read_gb_s":1000.1,"dram_write_gb_s":1000.1,"driver":"13.0","fp32_flop_s":50000000000000.0,"fp64_flop_s":50000000000000.0,"l2_bytes":62914560,"l2_read_gb_s":2000.2,"launch_floor_us":2.5,"made":"2026-11-21T10:00:00Z","multiprocessors":132,"tensor_bf16_flop_s":50000000000000.0,"tensor_f16_flop_s":50000000000000.0,"tensor_instruction":"wgmma","tensor_tf32_flop_s":50000000000000.0}');
CREATE TABLE baselines (  -- what people would otherwise use, timed by the same rules; never a candidate; append-only
  id INTEGER PRIMARY KEY, problem INTEGER NOT NULL REFERENCES problems(id), device TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environments(id), library TEXT NOT NULL, made TEXT NOT NULL,
  verdict TEXT NOT NULL, verdict_json TEXT NOT NULL, measurement_json TEXT);
INSERT INTO baselines VALUES(1,1,'cuda GPU',1,'cuBLAS 13.0','2026-11-22T00:37:08Z','correct','{"deterministic":true,"launches":12,"name":"correct","worst_ratio":0.25}','{"clock":"cpu-rough","outcome":"win","speed_up":[4.0,3.92,4.08],"stopped_early":false,"workloads":[{"candidate_us":25.0,"incumbent_us":100.0,"pairs":[[23.75,102.14285714285714,true],[23.833333333333336,102.0,false],[23.916666666666668,101.85714285714286,false],[24.0,101.71428571428571,true],[24.083333333333336,101.57142857142858,false],[24.166666666666668,101.42857142857142,false],[24.25,101.28571428571429,true],[24.333333333333336,101.14285714285714,false],[24.416666666666668,101.0,false],[24.5,100.85714285714286,true],[24.583333333333332,100.71428571428571,false],[24.666666666666668,100.57142857142858,false],[24.75,100.42857142857142,true],[24.833333333333332,100.28571428571429,false],[24.916666666666668,100.14285714285714,false],[25.0,100.0,true],[25.083333333333336,99.85714285714286,false],[25.166666666666664,99.71428571428571,false],[25.25,99.57142857142857,true],[25.333333333333336,99.42857142857143,false],[25.416666666666664,99.28571428571429,false],[25.5,99.14285714285714,true],[25.583333333333336,99.0,false],[25.666666666666664,98.85714285714286,false],[25.75,98.71428571428571,true],[25.833333333333336,98.57142857142858,false],[25.916666666666664,98.42857142857143,false],[26.0,98.28571428571429,true],[26.083333333333336,98.14285714285714,false],[26.166666666666664,98.0,false],[26.25,97.85714285714285,true]],"speed_up":[4.0,3.92,4.08],"weight":2.0,"workload":"bench"}]}');
CREATE TABLE selftests (  -- what a device's judge says of itself; append-only
  id INTEGER PRIMARY KEY, device TEXT NOT NULL, environment INTEGER NOT NULL REFERENCES environments(id),
  made TEXT NOT NULL, seed TEXT NOT NULL, quick INTEGER NOT NULL, seconds REAL NOT NULL,
  dishonest INTEGER NOT NULL, false_accepts INTEGER NOT NULL, honest INTEGER NOT NULL, false_rejects INTEGER NOT NULL,
  widest_noise REAL, candidates_per_hour REAL, details TEXT NOT NULL);
INSERT INTO selftests VALUES(1,'cpu',1,'2026-11-22T00:37:08Z','1',0,60.0,70,0,30,0,1.0100000000000000088,NULL,'{"cases":3}');
CREATE TABLE texts (  -- parts of prompts, each kept once
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
INSERT INTO texts VALUES(1,'3f9626946a0b648ef9124c8b3b4507760c5ed8e46af51985bb899d47384aeff5','the problem, at length');
INSERT INTO texts VALUES(2,'13ecab4e989e16463283a0bbb0b85c3e9c74cf69b5b346575b07e6582063bd1d','1');
INSERT INTO texts VALUES(3,'9a2fd9206f536cd7c9cf83c56b567885c049068fe40b733b142f224669b54d3f','be brief');
INSERT INTO texts VALUES(4,'6fff12b46b3d432130acb6e58f07d25e27b3b8fb5560ab9733fa3ad20c1bdf36','2');
CREATE TABLE requests (  -- what a model was asked, written before it is sent; append-only
  id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL REFERENCES campaigns(id), problem TEXT NOT NULL, number INTEGER NOT NULL,
  model TEXT NOT NULL, proposal TEXT NOT NULL, prompt TEXT NOT NULL, prompt_hash TEXT NOT NULL,
  reserved_tokens INTEGER NOT NULL, reserved_dollars REAL, asked TEXT NOT NULL, step INTEGER);
INSERT INTO requests VALUES(1,1,'sum_f32',1,'anthropic:some-model','{"operator":"improve","parents":["naive"]}','{"system":3,"turns":[{"sections":[1,2],"speaker":"user"}]}','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1000,0.10000000000000000555,'2026-11-22T00:37:08Z',5);
INSERT INTO requests VALUES(2,1,'sum_f32',2,'anthropic:some-model','{"operator":"improve","parents":["naive"]}','{"system":3,"turns":[{"sections":[1,4],"speaker":"user"}]}','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1000,0.10000000000000000555,'2026-11-22T00:37:08Z',7);
CREATE TABLE replies (  -- what came of a request, if anything; append-only
  id INTEGER PRIMARY KEY, request INTEGER NOT NULL UNIQUE REFERENCES requests(id), outcome TEXT NOT NULL, what TEXT NOT NULL,
  model TEXT NOT NULL, reply TEXT NOT NULL, complete INTEGER NOT NULL, input INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  cache_written INTEGER NOT NULL, output INTEGER NOT NULL, estimated INTEGER NOT NULL, dollars REAL,
  tries INTEGER NOT NULL, seconds REAL NOT NULL, arrived TEXT NOT NULL, step INTEGER);
INSERT INTO replies VALUES(1,1,'completion','','some-model-20260101','a kernel',1,0,0,0,44,0,0.3000000000000000444,1,3.5,'2026-11-22T00:37:08Z',6);
CREATE TABLE proposed (  -- the solutions that a reply brought
  reply INTEGER NOT NULL REFERENCES replies(id), solution INTEGER NOT NULL REFERENCES solutions(id),
  PRIMARY KEY (reply, solution));
INSERT INTO proposed VALUES(1,4);
CREATE TABLE standings (  -- of each solution the best point that was right against naive, confirmed (it won) or not
  problem INTEGER NOT NULL REFERENCES problems(id), device TEXT NOT NULL,
  solution INTEGER NOT NULL REFERENCES solutions(id), confirmed INTEGER NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempts(id), low REAL NOT NULL,
  PRIMARY KEY (problem, device, solution, confirmed)) WITHOUT ROWID;
INSERT INTO standings VALUES(1,'cpu',2,0,6,1.4699999999999999733);
INSERT INTO standings VALUES(1,'cpu',2,1,2,1.2179999999999999715);
CREATE TABLE baseline_timings (  -- per bench workload
  id INTEGER PRIMARY KEY, baseline INTEGER NOT NULL REFERENCES baselines(id), workload TEXT NOT NULL,
  candidate_us REAL NOT NULL, incumbent_us REAL NOT NULL, speed_up REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  bound_us REAL, weight REAL);
INSERT INTO baseline_timings VALUES(1,1,'bench',25.0,100.0,4.0,3.9199999999999999289,4.080000000000000071,NULL,2.0);
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
CREATE INDEX calibrations_by_device ON calibrations(device);
CREATE INDEX baselines_by_problem ON baselines(problem, device);
CREATE TRIGGER calibrations_stay BEFORE UPDATE ON calibrations BEGIN SELECT RAISE(ABORT, 'calibrations are append-only'); END;
CREATE TRIGGER calibrations_remain BEFORE DELETE ON calibrations BEGIN SELECT RAISE(ABORT, 'calibrations are append-only'); END;
CREATE TRIGGER baselines_stay BEFORE UPDATE ON baselines BEGIN SELECT RAISE(ABORT, 'baselines are append-only'); END;
CREATE TRIGGER baselines_remain BEFORE DELETE ON baselines BEGIN SELECT RAISE(ABORT, 'baselines are append-only'); END;
CREATE INDEX selftests_by_device ON selftests(device);
CREATE TRIGGER selftests_stay BEFORE UPDATE ON selftests BEGIN SELECT RAISE(ABORT, 'selftests are append-only'); END;
CREATE TRIGGER selftests_remain BEFORE DELETE ON selftests BEGIN SELECT RAISE(ABORT, 'selftests are append-only'); END;
CREATE INDEX requests_by_campaign ON requests(campaign, problem, number);
CREATE INDEX proposed_by_solution ON proposed(solution);
CREATE TRIGGER requests_stay BEFORE UPDATE ON requests BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
CREATE TRIGGER requests_remain BEFORE DELETE ON requests BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
CREATE TRIGGER replies_stay BEFORE UPDATE ON replies BEGIN SELECT RAISE(ABORT, 'replies are append-only'); END;
CREATE TRIGGER replies_remain BEFORE DELETE ON replies BEGIN SELECT RAISE(ABORT, 'replies are append-only'); END;
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
  INSERT OR IGNORE INTO baseline_timings (baseline, workload, candidate_us, incumbent_us, speed_up, low, high, bound_us,
                                          weight)
    SELECT NEW.id, w.value ->> '$.workload', w.value ->> '$.candidate_us', w.value ->> '$.incumbent_us',
           w.value ->> '$.speed_up[0]', w.value ->> '$.speed_up[1]', w.value ->> '$.speed_up[2]',
           w.value ->> '$.bound_us', w.value ->> '$.weight'
    FROM json_each(NEW.measurement_json, '$.workloads') w;
END;
CREATE INDEX standings_by_low ON standings(problem, device, confirmed, low DESC);
CREATE INDEX standings_by_solution ON standings(solution);
CREATE INDEX baseline_timings_by_baseline ON baseline_timings(baseline);
CREATE INDEX attempts_by_problem ON attempts(problem, made);
CREATE INDEX attempts_by_verdict ON attempts(campaign, verdict);
CREATE INDEX solutions_by_name ON solutions(name);
CREATE INDEX solutions_by_parent ON solutions(parent) WHERE parent IS NOT NULL;
CREATE VIEW v_problems AS
  SELECT id AS problem_id, name AS problem, hash,
         row_number() OVER (PARTITION BY name ORDER BY last_attempt DESC NULLS LAST, last_attempt_id DESC,
                                                       last_baseline DESC NULLS LAST, id DESC) = 1 AS is_current
  FROM (SELECT p.id, p.name, p.hash, (SELECT max(a.made) FROM attempts a WHERE a.problem = p.id) AS last_attempt,
               (SELECT a.id FROM attempts a WHERE a.problem = p.id ORDER BY a.made DESC, a.id DESC LIMIT 1)
                 AS last_attempt_id,
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
  SELECT m.attempt, t.workload, t.candidate_us AS time_us, t.incumbent_us, t.speed_up, t.low, t.high,
         coalesce(t.weight, 1) AS weight, t.bound_us, t.bound_us / t.candidate_us AS share_of_bound,
         length(t.samples) / 17 AS pairs
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
       LEFT JOIN best before ON before.campaign = k.campaign AND before.solution = k.parent
;
CREATE VIEW v_advice AS
  SELECT advice, count(DISTINCT request) FILTER (WHERE NOT sent_back) AS given, count(solution) AS solutions,
         sum(correct) AS correct, count(*) FILTER (WHERE gain > 1.01) AS faster, exp(avg(ln(gain))) AS mean_gain
  FROM v_advised GROUP BY advice;
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
       LEFT JOIN best before ON before.campaign = k.campaign AND before.solution = k.parent
;
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
COMMIT;
PRAGMA application_id = 1264009554;
PRAGMA user_version = 11;
