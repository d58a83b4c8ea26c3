// Sources coloured by Prism, and their differences. Prism's tokens become elements here, so no markup is ever parsed.
"use strict";
(function(kw) {
const kColoured = 200000;  // characters; longer sources stay plain
const kCompared = 3000;    // lines

Prism.languages.insertBefore("cpp", "keyword", {
  cuda: {
    pattern: /\b__(?:global|device|host|shared|constant|restrict|launch_bounds|forceinline|noinline)__\b/,
    alias: "keyword"
  },
  place: {pattern: /\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b/, alias: "builtin"},
});

// The source as an array of lines, each an array of nodes.
function colouredLines(text) {
  const lines = [[]];
  function add(string, type) {
    string.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part === "") return;
      lines[lines.length - 1].push(type ? kw.el("span", {class: "t-" + type}, part) : document.createTextNode(part));
    });
  }
  function walk(token, type) {
    if (typeof token === "string")
      add(token, type);
    else if (Array.isArray(token))
      token.forEach((part) => walk(part, type));
    else
      walk(token.content, typeof token.alias === "string" ? token.alias : token.type);
  }
  walk(text.length > kColoured ? text : Prism.tokenize(text, Prism.languages.cpp), null);
  return lines;
}

// With line numbers that are not copied along.
kw.source = function(text) {
  const code = kw.el(
      "code", {}, colouredLines(text.replace(/\n$/, "")).map((line) => kw.el("span", {class: "line"}, line, "\n")));
  return kw.el("pre", {class: "source", tabindex: "0", "aria-label": "Source"}, code);
};

// A unified diff, its lines marked.
kw.unified = function(text) {
  const mark = (line) => ({"+": "new", "-": "gone"}[line[0]] || "");
  return kw.el(
      "pre", {class: "source plain", tabindex: "0", "aria-label": "Changes"},
      text.replace(/\n$/, "").split("\n").map((line) => kw.el("span", {class: "changed " + mark(line)}, line, "\n")));
};

// Pairs of numbers of equal lines, by the longest common subsequence.
function matched(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const n = a.length - start - end, m = b.length - start - end;
  const pairs = [];
  for (let i = 0; i < start; ++i) pairs.push([i, i]);
  if (n * m <= kCompared * kCompared) {
    const width = m + 1;
    const longest = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; --i) {
      for (let j = m - 1; j >= 0; --j) {
        longest[i * width + j] = a[start + i] === b[start + j] ?
            longest[(i + 1) * width + j + 1] + 1 :
            Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < n && j < m;) {
      if (a[start + i] === b[start + j])
        pairs.push([start + i++, start + j++]);
      else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        ++i;
      else
        ++j;
    }
  }
  for (let i = end; i > 0; --i) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

// Two sources side by side; on a narrow screen one below the other.
kw.difference = function(left, right) {
  const a = left.replace(/\n$/, "").split("\n"), b = right.replace(/\n$/, "").split("\n");
  const rows = [];
  const cell = (line, number, mark) => kw.el(
      "td", {class: "code " + mark, "data-line": number},
      kw.el(
          "span", {class: "mark"},
          mark === "gone"    ? "−" :
              mark === "new" ? "+" :
                               " "),
      line);
  const row = (x, y, same) => rows.push(kw.el(
      "tr", {class: same ? "same" : "changed"},
      x === null ? kw.el("td", {class: "void"}) : cell(a[x], x + 1, same ? "" : "gone"),
      y === null ? kw.el("td", {class: "void"}) : cell(b[y], y + 1, same ? "" : "new")));
  let i = 0, j = 0;
  for (const [x, y] of [...matched(a, b), [a.length, b.length]]) {
    while (i < x || j < y) row(i < x ? i++ : null, j < y ? j++ : null, false);
    if (x < a.length && y < b.length) row(i++, j++, true);
  }
  return kw.el(
      "table", {class: "difference"}, kw.el("caption", {class: "hidden"}, "Lines of both sources"),
      kw.el("tbody", {}, rows));
};
})(window.kw);
