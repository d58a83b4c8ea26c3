// One campaign: progress, results and model costs.
"use strict";
(function(kw) {
const columns = [
  {title: "Problem", value: (a) => a.problem, show: (a) => kw.link("problem/" + a.problem, a.problem)},
  {title: "Solution", value: (a) => a.solution, show: (a) => a.solution},
  ...kw.attemptColumns,
];
const models = [
  {title: "Model", show: (m) => m.model},
  {title: "Requests", number: true, show: (m) => kw.count(m.requests)},
  {title: "Answered", number: true, show: (m) => kw.count(m.completions)},
  {title: "Solutions", number: true, show: (m) => kw.count(m.solutions)},
  {title: "Tokens in", number: true, show: (m) => kw.count(m.input_tokens)},
  {title: "Tokens out", number: true, show: (m) => kw.count(m.output_tokens)},
  {title: "Cost", number: true, show: (m) => kw.money(m)},
  {title: "Waited", number: true, show: (m) => kw.seconds(m.seconds)},
];

const cards = [
  {title: "Card", show: (c) => c.card},
  {title: "Sent", number: true, show: (c) => kw.count(c.sent)},
  {title: "Solutions", number: true, show: (c) => kw.count(c.solutions)},
  {title: "Correct", number: true, show: (c) => kw.count(c.correct)},
  {title: "Won", number: true, show: (c) => kw.count(c.won)},
  {title: "Mean gain", number: true, show: (c) => kw.times(c.mean_gain)},
];

const advice = [
  {title: "Advice", show: (a) => a.advice ?? "none"},
  {title: "Given", number: true, show: (a) => kw.count(a.given)},
  {title: "Solutions", number: true, show: (a) => kw.count(a.solutions)},
  {title: "Correct", number: true, show: (a) => kw.count(a.correct)},
  {title: "Faster", number: true, show: (a) => kw.count(a.faster)},
  {title: "Mean gain", number: true, show: (a) => kw.times(a.mean_gain)},
];

const requests = [
  {
    title: "Request",
    number: true,
    value: (r) => r.exchange,
    show: (r) => kw.link("exchange/" + r.exchange, String(r.number))
  },
  {title: "Problem", value: (r) => r.problem, show: (r) => kw.link("problem/" + r.problem, r.problem)},
  {title: "Model", value: (r) => r.model, show: (r) => r.model},
  {title: "Task", value: (r) => r.task, show: (r) => r.task},
  {title: "Asked", minor: true, value: (r) => r.asked, show: (r) => kw.when(r.asked)},
  {
    title: "Outcome",
    wraps: true,
    value: (r) => r.outcome,
    show: kw.outcome
  },
];
const gain = "The mean gain says how many times as fast their solutions are as the one they were to improve, or else as the best so far.";
const total = (uses) => uses.reduce((sum, use) => sum + use.requests, 0);

kw.views.campaign = function(name) {
  const facts = kw.el("div");
  const charts = [
    kw.curves("Best so far, by attempts", "attempts", "attempts at the problem"),
    kw.curves("Best so far, by time", "seconds", "seconds since its first attempt"),
    kw.curves("Best so far, by money", "dollars", "dollars for models")
  ];
  const verdicts = kw.verdictBars("Verdicts");
  const latest = kw.table({about: "The newest attempts", columns, empty: "No attempt yet."});
  const failure = kw.el("p", {class: "older", role: "status"});
  const replies = kw.table({about: "Requests to models and their outcomes", columns: requests});
  const counted = kw.el("p", {class: "note"});
  const exchanges = kw.section("Requests to models", counted, replies.element);
  const asked = kw.el("div"), shown = kw.el("div"), events = kw.el("div"), free = kw.el("p", {class: "note"});
  return {
    title: name,
    element: kw.el(
        "div", {}, kw.el("h1", {}, "Campaign " + name), failure, facts, exchanges,
        kw.section(
            "Best so far",
            kw.el(
                "p", {class: "note"},
                "Confirmed speed-ups over naive: each was won again in fresh processes on fresh inputs. The curves show the lower ends of their 99 % intervals, by which solutions are ranked."),
            kw.el("div", {class: "charts three"}, charts.map((chart) => chart.element)), free),
        kw.section("Verdicts", kw.el("div", {class: "charts"}, verdicts.element)), asked, shown,
        kw.section(
            "Newest attempts",
            kw.el("details", {open: !kw.bundle}, kw.el("summary", {}, "The last of them"), latest.element)),
        events),
    paths: ["campaign/" + name],
    update(of) {
      const best = of.curves.filter((curve) => curve.steps.length);
      kw.fill(facts, kw.facts([
        ["Status", kw.el("span", {class: "status " + of.status}, of.status)],
        ["Started", kw.when(of.started)],
        ["Ended", kw.when(of.ended)],
        ["Device", of.settings.device],
        ["Attempts", kw.count(of.attempts)],
        ["Judging took", kw.seconds(of.spent_seconds)],
        ["Best", best.map((curve) => `${curve.problem} ${kw.times(curve.now.speed_up.value)}`).join(", ")],
        ["Models", (of.settings.proposers || []).join(", ")],
        ["Strategy", (of.settings.proposers || []).length ? of.settings.strategy : "tune"],
      ]));
      failure.hidden = of.none_answered === null;
      kw.fill(
          failure,
          of.none_answered === null ?
              null :
              `None of ${kw.many(total(of.models), "request")} to models was answered. The last reason: ${of.none_answered}`);
      exchanges.hidden = of.requests.length === 0;
      kw.fill(
          counted, "Each request's number leads to its prompt and its reply.",
          total(of.models) > of.requests.length ?
              ` The newest ${of.requests.length} of ${kw.count(total(of.models))} are shown.` :
              "");
      replies.update(of.requests);
      charts.forEach((chart) => chart.show(of.curves));
      const paid = of.curves.some((curve) => curve.now.dollars > 0);
      charts[2].element.hidden = !paid;
      kw.fill(
          free,
          paid                 ? "" :
              of.models.length ? "The cost of the models' replies is unknown, so there is no curve against money." :
                                 "No requests went to models, so there is no curve against money.");
      verdicts.show(of.verdicts);
      kw.fill(
          asked,
          of.models.length ?
              kw.section("Models", kw.plainTable("Requests to each model and their cost", models, of.models)) :
              null);
      kw.fill(
          shown,
          of.cards.length ?
              kw.section(
                  "Technique cards",
                  kw.el("p", {class: "note"}, "What came of requests whose prompts showed a card. " + gain),
                  kw.plainTable("Technique cards and what came of their requests", cards, of.cards)) :
              null,
          of.advice.length ?
              kw.section(
                  "Advice",
                  kw.el("p", {class: "note"}, "What came of requests whose prompts gave a piece of advice. " + gain),
                  kw.plainTable("Advice and what came of it", advice, of.advice)) :
              null);
      latest.update(of.latest);
      kw.fill(
          events,
          of.events.length ? kw.section(
                                 "Events",
                                 kw.plainTable(
                                     "Events, the newest first",
                                     [
                                       {title: "When", show: (e) => kw.when(e.made)},
                                       {title: "Event", show: (e) => e.kind.replaceAll("_", " ")},
                                       {title: "Details", show: (e) => e.details}
                                     ],
                                     of.events)) :
                             null);
    },
  };
};
})(window.kw);
