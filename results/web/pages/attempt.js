// One attempt: the judge's finding, its times, where its solution came from, and which requests followed.
"use strict";
(function(kw) {
const words = (text) => text && text.replaceAll("_", " ");
const figure = (x) => (typeof x === "number" ? String(Number(x.toPrecision(9))) : x);  // "nan" and "inf" are text
const note = (...parts) => kw.el("p", {class: "note"}, ...parts);

function facts(of) {
  const by = of.descent.model ? `${of.descent.model} (${of.descent.task})` : of.origin;
  return kw.facts([
    ["Solution", kw.link("solution/" + of.hash, of.solution)],
    ["Tunables", kw.tunables(of)],
    ["Problem", [kw.link("problem/" + of.problem, of.problem), of.older_files ? kw.olderFiles() : null]],
    ["Campaign", of.campaign && kw.link("campaign/" + of.campaign, of.campaign)],
    ["Device", of.device],
    ["Effort", of.effort],
    ["By", by],
    ["Made", kw.when(of.made)],
    ["A thread block takes", kw.resources([of])],
  ]);
}

// Places and figures that a verdict names, beside its sentence (verifier/verdicts/verdict_json.cpp).
function places(verdict) {
  const where = verdict.where || {}, fault = verdict.fault || {}, scope = verdict.scope || {};
  const at = (index) => index && index.join(", ");
  const wrong = verdict.wrong_elements || verdict.count;
  return kw.facts([
    ["Workload", where.workload || verdict.workload],
    ["Shape", where.axes],
    ["Inputs", where.distribution],
    ["Thread order", where.order],
    ["Line", verdict.line || fault.line],
    ["Kernel", fault.kernel],
    ["Thread block", at(fault.block)],
    ["Thread", at(fault.thread)],
    ["Output", verdict.output],
    ["Buffer", verdict.buffer],
    ["Input", verdict.input],
    ["Index", verdict.index],
    ["Expected", figure(verdict.expected)],
    ["Got", figure(verdict.got)],
    ["Times the allowed error", figure(verdict.ratio)],
    ["Wrong elements", wrong && `${kw.count(wrong)} of ${kw.count(verdict.elements)}`],
    ["Pattern", verdict.pattern && verdict.pattern.kind],
    ["Signal", verdict.signal || null],
    ["Compared launches", verdict.launches],
    ["Largest error", verdict.launches && kw.percent(verdict.worst_ratio) + " of the allowed"],
    ["Largest axes", scope.largest && Object.entries(scope.largest).map(([axis, n]) => `${axis}=${n}`).join(" ")],
    ["Largest tensor", scope.elements && kw.count(scope.elements) + " elements"],
  ]);
}

// The source around the line that a verdict names.
function near(of) {
  if (!of) return null;
  return kw.el(
      "pre", {class: "source plain", tabindex: "0", "aria-label": "Source near line " + of.line},
      of.lines.map((line, index) => {
        const number = of.first + index;
        return kw.el("span", {class: "changed " + (number === of.line ? "gone" : "")}, `${number}  ${line}\n`);
      }));
}

function finding(of) {
  return kw.section(
      "Verdict", kw.el("p", {}, kw.verdict(of.verdict_name), ": ", of.sentence),
      of.advice ? kw.el("p", {}, "Advice: ", of.advice) : null,
      of.reused_from === null ?
          null :
          note("Its binary and plan are those of attempt ", kw.attempt(of.reused_from), ", whose result it copies."),
      places(of.verdict), near(of.near),
      of.compile_log ? kw.el("details", {}, kw.el("summary", {}, "The compiler's messages"), kw.said(of.compile_log)) :
                       null);
}

const samples = (w) => [kw.many(w.pairs, "pair"), w.left_out ? `${w.left_out} left out for their clocks` : null,
                        w.throttled ? `${w.throttled} throttled` : null]
                           .filter(Boolean)
                           .join(", ");
const workloads = [
  {title: "Workload", show: (w) => w.workload},
  {title: "Time", number: true, show: (w) => kw.time(w.time_us)},
  {title: "Incumbent", number: true, show: (w) => kw.time(w.incumbent_us)},
  {title: "Speed-up", number: true, show: (w) => kw.interval(w.speed_up)},
  {title: "Samples", number: true, wraps: true, show: samples},
  {title: "Bound", number: true, minor: true, show: (w) => kw.time(w.bound_us)},
  {title: "Share of bound", number: true, show: (w) => kw.percent(w.share_of_bound)},
  {title: "Weight", number: true, minor: true, show: (w) => (w.weight === 1 ? "" : w.weight)},
];

function timing(attempt) {
  const of = attempt.timing;
  if (!of) {
    const elsewhere = attempt.reused_from !== null && attempt.verdict_name === "correct";
    return kw.section(
        "Times", elsewhere ? note("Those of attempt ", kw.attempt(attempt.reused_from), ".") : note("It was not timed."));
  }
  const incumbent = of.against_hash ? kw.link("solution/" + of.against_hash, of.against) : of.against;
  return kw.section(
      "Times",
      kw.el(
          "p", {}, `${kw.interval(of.speed_up)} against `, incumbent, ` (99 % interval, ${of.clock} clock): `,
          kw.el("strong", {}, of.outcome), of.stopped_early ? ". Timing stopped early: one was far ahead." : "."),
      kw.plainTable("Times by workload, against the incumbent", workloads, of.workloads));
}

function host(of) {
  const took = (ms) => (ms > 0 ? kw.time(1000 * ms) : null);
  const {environment, stages} = of;
  const others = Object.entries(environment).filter(([name]) => !/^sandbox|_level$/.test(name));
  const value = (fact) => (typeof fact === "object" ? JSON.stringify(fact) : String(fact));
  return kw.section(
      "Stages and sandbox", kw.facts([
        ["Compiling", took(stages.compile_ms)],
        ["Checking", took(stages.check_ms)],
        ["Timing", took(stages.timing_ms)],
        ["Audits", took(stages.audit_ms)],
        ["Sanitizer", took(stages.sanitizer_ms)],
        ["Sandbox level", environment.sandbox_level],
        ["Compiler's level", environment.compile_level],
        ["Judge's level", environment.judge_level],
        ["Sandbox", environment.sandbox],
      ]),
      kw.el(
          "details", {}, kw.el("summary", {}, "The host and its tools"),
          kw.facts(others.map(([name, fact]) => [words(name), value(fact)]))));
}

function origin(of) {
  const asked = of.proposed_by;
  const by = asked ?
      kw.el(
          "p", {}, kw.link("exchange/" + asked.exchange, `Request ${asked.number}`), ` to ${asked.model} (${asked.task})`,
          asked.campaign === of.campaign ? "" : ` in campaign ${asked.campaign}`, " proposed its solution.") :
      note(`No request to a model proposed its solution. Its origin: ${of.origin}.`);
  if (!of.parent) return kw.section("Origin", by);
  const parent = kw.link("solution/" + of.parent.hash, of.parent.solution);
  return kw.section(
      "Origin", by, kw.el("p", {}, "It was made from ", parent, "."),
      of.difference ? kw.el(
                          "details", {open: !kw.bundle}, kw.el("summary", {}, "Changes to " + of.parent.solution),
                          kw.unified(of.difference)) :
                      note("Their sources are the same, or too long to compare."));
}

const requests = [
  {title: "Request", number: true, show: (r) => kw.link("exchange/" + r.exchange, String(r.number))},
  {title: "Model", show: (r) => r.model},
  {title: "Task", show: (r) => r.task},
  {title: "Limit", show: (r) => words(r.limit)},
  {title: "Advice", show: (r) => words(r.advice)},
  {title: "Outcome", wraps: true, show: kw.outcome},
];

function next(of) {
  if (!of.campaign) return null;
  if (of.later.length === 0)
    return kw.section("Told next", note("No later request of its campaign asked to change this solution."));
  return kw.section(
      "Told next", kw.plainTable("Later requests to change this solution", requests, of.later),
      of.findings ? kw.el(
                        "details", {open: !kw.bundle},
                        kw.el("summary", {}, `Findings about this solution that request ${of.findings.number} gave`),
                        kw.said(of.findings.text)) :
                    null);
}

kw.views.attempt = function(number) {
  const heading = kw.el("h1", {}, "Attempt " + number), fixed = kw.el("div"), later = kw.el("div");
  let asked = null;  // later requests come while the page is open; all else stays
  return {
    title: "Attempt " + number,
    element: kw.el("div", {}, heading, fixed, later),
    paths: ["attempt/" + number],
    update(of) {
      if (asked === null) {
        kw.fill(heading, `Attempt ${of.attempt}: ${kw.name(of)}`);
        kw.fill(fixed, facts(of), finding(of), timing(of), of.timing && kw.profile(of.timing.counters), host(of),
                origin(of));
      }
      const now = JSON.stringify([of.later, of.findings]);
      if (now === asked) return;
      asked = now;
      kw.fill(later, next(of));
    },
  };
};
})(window.kw);
