// The scores of suites on each device, in the figures that KernelBench publishes.
"use strict";
(function(kw) {
const kDash = "–";

function table(of, about) {
  const thresholds = [...new Set(of.fast_p.map((f) => f.p))];
  const fast = (baseline, p) => of.fast_p.find((f) => f.baseline === baseline && f.p === p);
  return kw.plainTable(
      about,
      [
        {title: "Baseline", show: (b) => b.baseline},
        {title: "Problems with it", number: true, show: (b) => `${b.problems} of ${of.problems}`},
        ...thresholds.map((p) => ({
                            title: "fast_" + p,
                            number: true,
                            show: (b) => (b.problems ? kw.percent(fast(b.baseline, p).share) : kDash)
                          })),
        {
          title: "Geometric mean",
          number: true,
          show: (b) => (b.compared ? `${kw.times(b.geometric_mean)} of ${b.compared}` : kDash)
        },
      ],
      of.baselines);
}

const counts = (of) =>
    `verified kernels for ${of.verified} of ${of.problems} problems, confirmed wins over naive for ${of.solved}.`;

function section(of) {
  const where = `${of.suite} on ${of.device}`;
  const flaws = Object.entries(of.unclean);
  return kw.section(
      "Suite " + where, kw.el("p", {}, `All problems: ${counts(of)}`), table(of, `Scores of suite ${where}`),
      of.clean ? [
        kw.el("p", {}, `Clean subset: ${counts(of.clean)}`),
        table(of.clean, `Scores of the clean subset of suite ${where}`),
        kw.facts(flaws.map(([problem, flaw]) => [`Unclean: ${problem}`, flaw]))
      ] :
                 kw.el("p", {class: "note"}, "Clean subset: all of it; no problem of this suite is marked."),
      of.older_files.length ?
          kw.el("p", {class: "note older"}, `Judged with older files: ${of.older_files.join(", ")}.`) :
          null);
}

kw.views.scores = function() {
  const all = kw.el("div");
  const meanings = kw.el("ul", {class: "note"});
  return {
    title: "Scores",
    element: kw.el("div", {}, kw.el("h1", {}, "Scores"), all, meanings),
    paths: ["scores"],
    update(answer) {
      const none = "No problem of a suite has been judged yet. Start with: kernelwright run --suite quick";
      kw.fill(all, answer.scores.length ? answer.scores.map(section) : kw.el("p", {class: "note"}, none));
      kw.fill(meanings, answer.definitions.map((sentence) => kw.el("li", {}, sentence)));
    },
  };
};
})(window.kw);
