// One solution: its origin, speed, launch plan and source; and a comparison of two.
"use strict";
(function(kw) {
const workloads = [
  {title: "Device", show: (r) => r.row.device},
  {title: "Tunables", show: (r) => kw.tunables(r.row)},
  {title: "Workload", show: (r) => r.w.workload},
  {title: "Time", number: true, show: (r) => kw.time(r.w.time_us)},
  {title: "99 % interval", number: true, show: (r) => `${kw.time(r.w.time_low_us)} to ${kw.time(r.w.time_high_us)}`},
  {title: "Naive", number: true, show: (r) => kw.time(r.w.naive_us)},
  {title: "Speed-up", number: true, show: (r) => kw.interval(r.w.speed_up)},
  {title: "Share of bound", number: true, show: (r) => kw.percent(r.w.share_of_bound)},
];
const flat = (best) => best.flatMap((row) => row.workloads.map((w) => ({row, w})));

const attempts = [
  {title: "Attempt", number: true, value: (a) => a.attempt, show: (a) => kw.attempt(a.attempt)},
  {title: "Tunables", value: kw.tunables, show: kw.tunables},
  {title: "Effort", value: (a) => a.effort, show: (a) => a.effort},
  {title: "Verdict", value: (a) => a.verdict_name, show: (a) => kw.verdict(a.verdict_name)},
  {title: "Speed-up", number: true, value: (a) => a.speed_up && a.speed_up.value, show: (a) => kw.interval(a.speed_up)},
  {title: "Against", minor: true, show: (a) => (a.speed_up ? a.against : "")},
  {title: "Finding", show: (a) => a.sentence},
];

// Registers, shared memory and spills of each row.
function resources(best) {
  return best
      .map(
          (row) => [row.registers !== null ? `${row.registers} registers` : null,
                    row.shared_bytes ? `${kw.count(row.shared_bytes)} bytes of shared memory` : null,
                    row.spill_bytes ? `${kw.count(row.spill_bytes)} bytes spilled` : null]
                       .filter(Boolean)
                       .join(", "))
      .filter(Boolean)
      .join("; ");
}

function origin(of) {
  return kw.facts([
    ["Problem", kw.link("problem/" + of.problem, of.problem)],
    ["By", of.descent.model ? `${of.descent.model} (${of.descent.task})` : of.origin],
    ["Cost of its lineage", kw.cost(of.descent.lineage_cost)],
    ["Added", kw.when(of.added)],
    ["Attempts", kw.count(of.attempts)],
    ["A thread block takes", resources(of.best)],
    ["Hash", kw.el("code", {}, of.hash.slice(0, 16))],
  ]);
}

function lineage(of) {
  if (of.ancestors.length === 0) return kw.el("p", {class: "note"}, "Not made from another solution.");
  return kw.el(
      "ol", {class: "lineage"},
      [...of.ancestors].reverse().map(
          (a) => kw.el(
              "li", {}, kw.link("solution/" + a.hash, a.name), ` (${a.model || a.origin})`,
              a.speed_up ? " " + kw.interval(a.speed_up) : "")),
      kw.el("li", {}, kw.el("strong", {}, of.name)));
}

// A profiler's counters of each launch.
kw.profile = function(launches) {
  if (launches.length === 0) return null;
  const columns = [...new Set(launches.flatMap((launch) => Object.keys(launch)))].filter((key) => key !== "stalls");
  return kw.section(
      "Profile",
      kw.plainTable(
          "Hardware counters of each launch",
          columns.map((key) => ({
                        title: key.replaceAll("_", " "),
                        number: key !== "kernel",
                        show: (launch) => (typeof launch[key] === "number" ? kw.digits(launch[key]) : launch[key] || "")
                      })),
          launches));
};

kw.views.solution = function(hash) {
  const heading = kw.el("h1", {}, "Solution");
  const facts = kw.el("div"), figures = kw.el("div"), rest = kw.el("div");
  let drawnSource = null;
  const source = kw.el("div");
  return {
    title: hash.slice(0, 8),
    element: kw.el("div", {}, heading, facts, figures, kw.el("section", {}, kw.el("h2", {}, "Source"), source), rest),
    paths: ["solution/" + hash],
    update(of) {
      kw.fill(heading, of.name);
      kw.fill(facts, origin(of));
      kw.fill(
          figures,
          kw.section(
              "Figures", kw.plainTable("Times by device and workload, against naive", workloads, flat(of.best))));
      if (drawnSource !== of.source) {
        drawnSource = of.source;
        kw.fill(
            source,
            kw.bundle ? null :
                        kw.el(
                            "p", {class: "downloads"},
                            "Download: ", kw.el("a", {href: `/download/solution/${hash}.cu`, download: true}, "source"),
                            " · ", kw.el("a", {href: `/download/solution/${hash}.json`, download: true}, "JSON")),
            kw.el(
                "details", {class: "print", open: !kw.bundle},
                kw.el("summary", {}, `${kw.count(of.source.split("\n").length)} lines`), kw.source(of.source)));
      }
      kw.fill(
          rest, kw.profile(of.counters), kw.section("Lineage", lineage(of)),
          of.plan ? kw.section(
                        "Launch plan",
                        kw.el(
                            "details", {}, kw.el("summary", {}, "The header as JSON"),
                            kw.el("pre", {class: "source plain"}, JSON.stringify(of.plan, null, 2)))) :
                    null,
          kw.section(
              "Attempts",
              kw.el(
                  "details", {open: !kw.bundle}, kw.el("summary", {}, `The newest ${of.latest.length}`),
                  kw.plainTable("The newest attempts at this solution", attempts, of.latest))));
    },
  };
};

kw.views.compare = function(left, right) {
  const body = kw.el("div");
  const columns = [{title: "Solution", show: (r) => r.of.name}, ...workloads];
  return {
    title: "Compare",
    element: kw.el("div", {}, kw.el("h1", {}, "Compare"), body),
    paths: ["solution/" + left, "solution/" + right],
    update(a, b) {
      const side = (of) => kw.el("div", {}, kw.el("h2", {}, kw.link("solution/" + of.hash, of.name)), origin(of));
      kw.fill(
          body, kw.el("div", {class: "two"}, side(a), side(b)),
          kw.section(
              "Figures",
              kw.plainTable(
                  "Times of both, each against naive", columns,
                  [a, b].flatMap((of) => flat(of.best).map((r) => ({of, ...r})))),
              kw.el("p", {class: "note"}, "The two were not timed as a pair: each was paired with the naive solution.")),
          a.problem === b.problem ? null : kw.el("p", {class: "note"}, "They solve different problems."),
          kw.section("Sources", kw.difference(a.source, b.source)));
    },
  };
};
kw.attemptColumns = attempts;
kw.resources = resources;
})(window.kw);
