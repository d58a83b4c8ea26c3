// One request to a model: its outcome, its reply, what was told next, and its prompt by sections.
"use strict";
(function(kw) {
const tokens = (n) => `about ${kw.many(n, "token")}`;

function facts(of) {
  const reply = of.reply;
  return kw.facts([
    ["Campaign", kw.link("campaign/" + of.campaign, of.campaign)],
    ["Problem", kw.link("problem/" + of.problem, of.problem)],
    ["Model", of.model],
    ["Answered by", reply && reply.answered_by !== of.model ? reply.answered_by : null],
    ["Task", of.task],
    ["Asked", kw.when(of.asked)],
    ["Took", reply && kw.seconds(reply.seconds)],
    ["Tries", reply && reply.tries > 1 ? reply.tries : null],
    ["Tokens in", reply && kw.count(reply.input_tokens)],
    ["Tokens out", reply && kw.count(reply.output_tokens)],
    ["Cost", reply && reply.dollars !== null ? kw.dollars(reply.dollars) : null],
  ]);
}

const columns = [
  {title: "Solution", show: (b) => kw.link("solution/" + b.hash, b.solution)},
  {title: "Verdict", show: (b) => (b.verdict_name === null ? "" : kw.verdict(b.verdict_name))},
  {title: "Outcome", wraps: true, show: (b) => b.outcome},
  {title: "Attempt", number: true, show: (b) => (b.attempt === null ? "" : kw.attempt(b.attempt))},
  {title: "Made from", show: (b) => b.parent && kw.link("solution/" + b.parent.hash, b.parent.solution)},
];

function solutions(of) {
  return kw.section(
      "Solutions of the reply",
      of.brought.length ? kw.plainTable("Solutions of the reply with their verdicts", columns, of.brought) : null,
      of.brought.length ? null : kw.el("p", {class: "note"}, "None: ", of.outcome),
      of.brought.filter((b) => b.difference)
          .map((b) => kw.el(
                   "details", {open: true}, kw.el("summary", {}, `${b.solution}: changes to ${b.parent.solution}`),
                   kw.unified(b.difference))));
}

function reply(of) {
  if (!of.reply || of.reply.parts.length === 0) return null;
  return kw.section(
      "Reply",
      of.reply.complete ? null : kw.el("p", {class: "older"}, "It ran into the limit of tokens: its end is missing."),
      of.reply.parts.map((part) => (part.code ? kw.source(part.text) : kw.said(part.text))));
}

function next(of) {
  if (!of.next)
    return kw.section(
        "Told next", kw.el("p", {class: "note"}, "No later request continues this one: nothing was told."));
  const to = kw.link("exchange/" + of.next.exchange, `Request ${of.next.number}`);
  return kw.section(
      "Told next",
      kw.el(
          "p", {}, to,
          of.next.sent_back ? " sent this reply back with the reasons." : " was the next one in this line of the search.",
          " Its outcome: ", kw.outcome(of.next)),
      of.next.told.map((section) => kw.el(
                           "details", {open: of.next.sent_back},
                           kw.el("summary", {}, `${section.title}, ${tokens(section.tokens)}`),
                           section.difference ? kw.unified(section.difference) : kw.said(section.text))));
}

// The largest section is open.
function prompt(of) {
  const largest = Math.max(...of.prompt.map((section) => section.tokens));
  return kw.section(
      `Prompt, ${tokens(of.tokens)}`,
      of.prompt.map((section) => kw.el(
                        "details", {open: section.tokens === largest && !kw.bundle},
                        kw.el("summary", {}, `${section.title}, ${tokens(section.tokens)}`,
                              section.speaker === "assistant" ? " (the model's own earlier reply)" : ""),
                        kw.said(section.text))));
}

kw.views.exchange = function(number) {
  const heading = kw.el("h1", {}, "Request"), body = kw.el("div");
  return {
    title: "Request " + number,
    element: kw.el("div", {}, heading, body),
    paths: ["exchange/" + number],
    update(of) {
      kw.fill(heading, `Request ${of.number} for ${of.problem}`);
      kw.fill(body, kw.el("p", {}, kw.outcome(of)), facts(of), solutions(of), next(of), reply(of), prompt(of));
    },
  };
};
})(window.kw);
