// The leaderboard, campaigns and selftests.
"use strict";
(function(kw) {
// Marks results of files that the problem no longer has.
kw.olderFiles = () =>
    kw.el("span", {class: "older", title: "The problem's files have changed since it was judged"}, " of older files");

// Columns of leaderboards.
kw.column = {
  problem: {
    title: "Problem",
    value: (r) => r.problem,
    show: (r) => [kw.link("problem/" + r.problem, r.problem), r.older_files ? kw.olderFiles() : null]
  },
  rank:
      {title: "Rank", number: true, value: (r) => r.rank || null, show: (r) => (kw.isLibrary(r) ? "library" : r.rank || "–")},
  solution: {
    title: "Solution",
    value: (r) => kw.name(r),
    show: (r) =>
        [r.hash ? kw.link("solution/" + r.hash, r.solution) : r.solution,
         kw.tunables(r) ? kw.el("span", {class: "tunables"}, " " + kw.tunables(r)) : null]
  },
  speedUp: {
    title: "Speed-up over naive",
    number: true,
    value: (r) => r.low,
    show: (r) => (r.speed_up ? kw.interval({value: r.speed_up, low: r.low, high: r.high}) : r.verdict)
  },
  time: {title: "Time", number: true, value: (r) => r.time_us, show: (r) => kw.time(r.time_us)},
  bound: {
    title: "Bound",
    number: true,
    minor: true,
    value: (r) => r.share_of_bound,
    show: (r) => kw.percent(r.share_of_bound)
  },
  attempt: {
    title: "Attempt",
    number: true,
    value: (r) => r.attempt,
    show: (r) => (r.attempt ? kw.attempt(r.attempt) : "")
  },
  by: {title: "By", value: (r) => r.model || r.origin, show: (r) => r.model || r.origin},
};

// The campaigns of an archive, the newest first.
kw.campaignTable = () => kw.table({
  about: "Campaigns, the newest first",
  empty: "No campaign yet.",
  columns: [
    {title: "Campaign", value: (c) => c.campaign, show: (c) => kw.link("campaign/" + c.campaign, c.campaign)},
    {title: "Status", value: (c) => c.status, show: (c) => kw.el("span", {class: "status " + c.status}, c.status)},
    {title: "Started", value: (c) => c.started, show: (c) => kw.when(c.started)},
    {title: "Attempts", number: true, value: (c) => c.attempts, show: (c) => kw.count(c.attempts)},
    {title: "Judging", number: true, value: (c) => c.spent_seconds, show: (c) => kw.seconds(c.spent_seconds)},
    {title: "Device", minor: true, value: (c) => c.settings.device, show: (c) => c.settings.device || ""},
    {
      title: "Problems",
      show: (c) => {
        const p = c.settings.problems || [];
        return p.length > 3 ? p.length + " problems" : p.join(", ");
      }
    },
    {title: "Models", minor: true, show: (c) => (c.settings.proposers || []).join(", ")},
  ],
});

kw.views.campaigns = function() {
  const campaigns = kw.campaignTable();
  return {
    title: "Campaigns",
    element: kw.el("div", {}, kw.el("h1", {}, "Campaigns"), campaigns.element),
    paths: ["overview"],
    update: (answer) => campaigns.update(answer.campaigns),
  };
};

const over = (row) => row.over_libraries || [];

kw.views.overview = function() {
  const chosen = new Set();  // hashes of two solutions to compare
  const heading = kw.el("p", {class: "lead"});
  const best = kw.el("div", {class: "cards"});
  const compare = kw.el("a", {class: "button", "aria-disabled": "true"}, "Compare two");

  const filters = kw.filters(
      [
        {
          label: "Search",
          kind: "text",
          hint: "name, model, tunables",
          test: (row, text) => [row.problem, kw.name(row), row.origin, row.model, row.hash]
                                   .join(" ")
                                   .toLowerCase()
                                   .includes(text.toLowerCase())
        },
        {label: "Problem", kind: "select", of: (row) => row.problem, test: (row, problem) => row.problem === problem},
        {label: "Device", kind: "select", of: (row) => row.device, test: (row, device) => row.device === device},
        {label: "Confirmed only", kind: "check", start: true, test: (row) => row.confirmed || kw.isLibrary(row)},
      ],
      () => board.draw());

  function choice(row) {
    if (kw.isLibrary(row) || kw.bundle) return "";
    const box = kw.el("input", {type: "checkbox", "aria-label": "Compare " + kw.name(row)});
    box.checked = chosen.has(row.hash);
    box.addEventListener("change", () => {
      if (box.checked)
        chosen.add(row.hash);
      else
        chosen.delete(row.hash);
      if (chosen.size > 2) chosen.delete(chosen.values().next().value);
      if (chosen.size === 2)
        compare.setAttribute("href", kw.address("compare", ...chosen));
      else
        compare.removeAttribute("href");
      compare.setAttribute("aria-disabled", String(chosen.size !== 2));
      board.draw();
    });
    return box;
  }

  const board = kw.table({
    about: "Leaderboard: the best verified solutions",
    keep: (row) => filters.keep(row),
    empty: "Nothing is verified yet. Start with: kernelwright run --suite quick",
    columns: [
      ...(kw.bundle ? [] : [{title: "Pick", show: choice}]),
      kw.column.problem,
      kw.column.rank,
      kw.column.solution,
      kw.column.speedUp,
      kw.column.time,
      kw.column.bound,
      {
        title: "Over libraries",
        number: true,
        wraps: true,
        minor: true,
        value: (r) => (over(r).length ? Math.min(...over(r).map((l) => l.ratio.value)) : null),
        show: (r) => over(r).map((l) => `${kw.times(l.ratio.value)} ${l.library}`).join(", ")
      },
      {title: "Device", value: (r) => r.device, show: (r) => r.device},
      kw.column.by,
      {
        title: "Cost",
        number: true,
        minor: true,
        value: (r) => (kw.isLibrary(r) ? null : r.lineage_cost.dollars || r.lineage_cost.tokens),
        show: (r) => (kw.isLibrary(r) ? "" : kw.cost(r.lineage_cost))
      },
      {
        title: "Confirmed",
        minor: true,
        value: (r) =>
            (kw.isLibrary(r)       ? "" :
                 r.confirmed ? "yes" :
                               "no"),
        show: (r) =>
            (kw.isLibrary(r)       ? "" :
                 r.confirmed ? "yes" :
                               "no")
      },
    ],
  });

  const campaigns = kw.campaignTable();

  const selftests = kw.table({
    about: "Selftests: how often each device's judge was wrong",
    empty: "No selftest yet. Start with: kernelwright selftest",
    columns: [
      {title: "Device", show: (s) => s.device},
      {title: "Made", show: (s) => kw.when(s.made) + (s.quick ? " (quick)" : "")},
      {title: "Dishonest kernels accepted", number: true, show: (s) => `${s.false_accepts} of ${s.dishonest}`},
      {title: "Honest kernels refused", number: true, show: (s) => `${s.false_rejects} of ${s.honest}`},
      {title: "Widest A/A noise", number: true, show: (s) => (s.widest_noise ? s.widest_noise.toFixed(3) + "×" : "")},
      {
        title: "Candidates per hour",
        number: true,
        show: (s) => (s.candidates_per_hour ? kw.count(s.candidates_per_hour) : "")
      },
    ],
  });

  function card(of) {
    const naive = of.baselines[0];
    const fast = of.fast_p.filter((f) => f.p === 1 && f.baseline !== naive.baseline)
                     .map((f) => ["Faster than " + f.baseline, `${f.fast} of ${f.problems}`]);
    return kw.el("div", {class: "card"}, kw.el("h2", {}, `${of.device}, problems tried so far`), kw.facts([
      ["Solved", `${of.solved} of ${of.problems}`],
      ["Geometric mean over naive", naive.compared ? `${kw.times(naive.geometric_mean)} of ${naive.compared}` : ""],
      ...fast,
    ]));
  }

  return {
    title: "Leaderboard",
    element: kw.el(
        "div", {}, kw.el("h1", {}, "Leaderboard"), heading, best,
        kw.el(
            "div", {class: "tools"}, filters.element,
            kw.bundle ? null :
                        kw.el(
                            "p", {class: "downloads"}, compare,
                            " Download: ", kw.el("a", {href: "/download/leaderboard.csv", download: true}, "CSV"),
                            " · ", kw.el("a", {href: "/download/overview.json", download: true}, "JSON"), " · ",
                            kw.el("a", {href: "/download/report.html", download: true}, "report"))),
        board.element, kw.section("Campaigns", campaigns.element),
        kw.section(
            "Error rates of the judge",
            kw.el(
                "p", {class: "note"},
                "A selftest gives each device's judge kernels that it must refuse and kernels that it must accept, and times kernels against themselves."),
            selftests.element)),
    paths: ["overview"],
    update(answer) {
      const scope = Object.values(answer.scope).filter(Boolean).join(", ");
      kw.fill(
          heading,
          `${kw.many(answer.totals.attempts, "attempt")} at ${kw.many(answer.totals.solutions, "solution")} in ${
              kw.many(answer.totals.campaigns, "campaign")}`,
          scope ? ` (shown: ${scope})` : "", ".");
      kw.fill(best, answer.scores.map(card));
      filters.update(answer.leaderboard);
      board.update(answer.leaderboard);
      campaigns.update(answer.campaigns);
      selftests.update(answer.selftests);
    },
  };
};
})(window.kw);
