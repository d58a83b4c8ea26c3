// Shows the views. A report contains all of them, one after another, and their data; the web server's page shows one at a
// time and reloads its data when the archive has changed.
"use strict";
(function(kw) {
const main = document.getElementById("main");
const live = document.getElementById("live");
const nav = document.getElementById("nav");
const data = document.getElementById("data");
kw.bundle = data ? JSON.parse(data.textContent) : null;
kw.has = (path) => !kw.bundle || path in kw.bundle.answers;

const themes = ["system", "light", "dark"];
const button = document.getElementById("theme");
function setTheme(theme) {
  if (theme === "system")
    delete document.documentElement.dataset.theme;
  else
    document.documentElement.dataset.theme = theme;
  button.textContent = "Theme: " + theme;
  kw.redraw();
}
let theme = "system";  // not remembered: a local file may not store anything
button.addEventListener("click", () => setTheme((theme = themes[(themes.indexOf(theme) + 1) % themes.length])));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", kw.redraw);

function report() {
  const answers = kw.bundle.answers;
  document.title = "Kernelwright report";
  document.getElementById("made").textContent = [
    kw.bundle.version ? "Kernelwright " + kw.bundle.version : "",
    kw.bundle.made ? "made " + kw.when(kw.bundle.made) : ""
  ].filter(Boolean).join(", ");
  main.replaceChildren();
  const order = ["overview", "scores", "campaign", "attempt", "exchange", "problem", "solution"];
  const paths = Object.keys(answers).sort((a, b) => order.indexOf(a.split("/")[0]) - order.indexOf(b.split("/")[0]));
  for (const path of paths) {
    const kind = path.split("/")[0], name = path.slice(kind.length + 1);
    const view = kw.views[kind](name);
    const id = path === "overview" ? "/" : kw.address(...[kind, name].filter(Boolean)).slice(1);
    main.append(kw.el("article", {id, class: kind}, view.element));
    view.update(answers[path]);
    if (kind === "scores") nav.append(kw.el("a", {href: "#" + id}, view.title));
    if (kind === "problem" || kind === "campaign") nav.append(kw.el("a", {href: "#" + id}, name));
  }
}

let shown = null;  // {view, tags: the server's tag of each answer}

async function get(path) {
  const response = await fetch("/api/" + path.split("/").map(encodeURIComponent).join("/"), {cache: "no-cache"});
  if (!response.ok) throw new Error((await response.text()).trim() || "error " + response.status);
  return {tag: response.headers.get("ETag"), json: await response.json()};
}

async function refresh(page) {
  try {
    const answers = await Promise.all(page.view.paths.map(get));
    if (shown !== page) return;  // another page was opened meanwhile
    const tags = answers.map((answer) => answer.tag).join();
    if (tags === page.tags) return;
    if (page.tags === null) main.replaceChildren(page.view.element);
    page.tags = tags;
    page.view.update(...answers.map((answer) => answer.json));
  } catch (error) {
    if (shown === page && page.tags === null)
      kw.fill(main, kw.el("h1", {}, "Not found"), kw.el("p", {}, error.message));
  }
}

function go() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
  const kind = Object.hasOwn(kw.views, parts[0] || "overview") ? parts[0] || "overview" : null;
  kw.dropCharts();
  if (!kind) return kw.fill(main, kw.el("h1", {}, "Not found"), kw.el("p", {}, "There is no such page."));
  shown = {view: kw.views[kind](...parts.slice(1).concat("", "")), tags: null};
  document.title = shown.view.title + " – Kernelwright";
  window.scrollTo(0, 0);
  refresh(shown);
}

let events = null;

function listen() {
  events = new EventSource("/events");
  events.addEventListener("changed", () => shown && refresh(shown));
  events.addEventListener("open", () => {
    live.textContent = "live";
    live.dataset.state = "on";
  });
  events.addEventListener("error", () => {
    live.textContent = "not connected";
    live.dataset.state = "off";
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 5000);  // too many pages were listening
  });
}

if (kw.bundle) {
  report();
} else {
  nav.append(kw.el("a", {href: "#/"}, "Leaderboard"), kw.el("a", {href: "#/scores"}, "Scores"),
             kw.el("a", {href: "#/campaigns"}, "Campaigns"));
  window.addEventListener("hashchange", go);
  go();
  listen();
  // A browser has six connections per server and keeps those of hidden pages, so hidden pages stop listening until they
  // are visible again.
  document.addEventListener("visibilitychange", () => document.hidden ? events.close() : listen());
}
})(window.kw);
