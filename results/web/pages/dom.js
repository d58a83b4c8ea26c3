// Building blocks of the pages. Data of an archive enters a page as text, never as markup: no file here sets innerHTML,
// and the content security policy would refuse it.
"use strict";
window.kw = {
  views: {}
};

(function(kw) {
// el("td", {class: "n"}, child, ...): children are nodes or become text; null is left out.
kw.el = function(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  kw.put(element, ...children);
  return element;
};

kw.put = function(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
};

kw.fill = function(element, ...children) {
  element.replaceChildren();
  return kw.put(element, ...children);
};

// Three significant digits, no exponent.
function digits(value) {
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(places, 6));
}

kw.time = function(us) {
  if (us === null || us === undefined) return "";
  if (us < 1000) return digits(us) + " µs";
  return us < 1e6 ? digits(us / 1e3) + " ms" : digits(us / 1e6) + " s";
};
kw.seconds = function(s) {
  if (s < 120) return digits(s) + " s";
  return s < 7200 ? digits(s / 60) + " min" : digits(s / 3600) + " h";
};
kw.times = (x) => (x === null || x === undefined ? "" : x.toFixed(2) + "×");
kw.interval = (s) => (s ? `${kw.times(s.value)} [${s.low.toFixed(2)}, ${s.high.toFixed(2)}]` : "");
kw.percent = (share) => (share === null || share === undefined ? "" : (100 * share).toFixed(0) + " %");
kw.count = (n) => Math.round(n).toLocaleString("en-US").replaceAll(",", "\u202f");
kw.many = (n, what) => `${kw.count(n)} ${what}${n === 1 ? "" : "s"}`;
kw.dollars = (d) => "$" + (d < 1 ? d.toFixed(4) : d.toFixed(2));
// Cost of models; without a number if the price is unknown.
kw.money = (cost) => [cost.dollars > 0 || cost.all_priced ? kw.dollars(cost.dollars) : "",
                      cost.all_priced ? "" : "price unknown"]
                         .filter(Boolean)
                         .join(" and more, ");
kw.cost = (cost) => (cost.tokens ? `${kw.count(cost.tokens)} tokens, ${kw.money(cost)}` : "");
kw.when = (utc) => (utc ? utc.replace("T", " ").replace("Z", " UTC") : "");
kw.digits = digits;

// Fields of a leaderboard row (results/view/json.h).
kw.isLibrary = (row) => row.kind === "library";
kw.tunables = (of) => Object.entries(of.tunables || {}).map(([name, value]) => `${name}=${value}`).join(" ");
kw.name = (row) => [row.solution, kw.tunables(row)].filter(Boolean).join(" ");

kw.address = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

// A link to a page, or only the text if this report does not contain the page.
kw.link = function(path, text) {
  if (!kw.has(path)) return document.createTextNode(text);
  const slash = path.indexOf("/");
  return kw.el("a", {href: kw.address(path.slice(0, slash), path.slice(slash + 1))}, text);
};

kw.attempt = (number) => kw.link("attempt/" + number, String(number));
kw.verdict = (name) =>
    kw.el("span", {class: "verdict " + (name === "correct" ? "right" : "wrong")}, name.replaceAll("_", " "));

// The outcome of a request to a model (results/view/exchange.h).
kw.outcome = (of) => kw.el("span", {class: of.arrived ? "verdict " + (of.good ? "right" : "wrong") : null}, of.outcome);
// Text of a model, or for one.
kw.said = (text) => kw.el("pre", {class: "source plain said", tabindex: "0", "aria-label": "Text"}, text);

// [["Device", "cpu"], ...] as a list of facts, without empty ones.
kw.facts = function(pairs) {
  const list = kw.el("dl", {class: "facts"});
  for (const [term, fact] of pairs) {
    if (fact === null || fact === undefined || fact === "") continue;
    list.append(kw.el("div", {}, kw.el("dt", {}, term), kw.el("dd", {}, fact)));
  }
  return list;
};

kw.section = (title, ...children) => kw.el("section", {}, kw.el("h2", {}, title), ...children);
})(window.kw);
