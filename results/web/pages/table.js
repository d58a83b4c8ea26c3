// Tables with sorting and filters, which survive changes of the rows.
"use strict";
(function(kw) {
const kAtOnce = 100;  // rows shown at first

// columns: [{title, show(row), value(row)?, number?, wraps?, minor?}]; value makes a column sortable. `about`: the
// table's caption. keep(row)?: true for rows to show. sort?: [index of a column, descending].
kw.table = function({about, columns, keep, sort, empty}) {
  let rows = [];
  let order = sort || null;
  let all = false;
  const body = kw.el("tbody");
  const heads = columns.map((column, index) => {
    const head = kw.el("th", {scope: "col", class: classes(column)});
    if (!column.value) return kw.put(head, column.title);
    const button = kw.el("button", {type: "button", class: "sort"}, column.title);
    button.addEventListener("click", () => {
      const descending = order && order[0] === index ? !order[1] : Boolean(column.number);
      order = [index, descending];
      draw();
    });
    return kw.put(head, button);
  });
  const more = kw.el("button", {type: "button", class: "more"});
  more.addEventListener("click", () => {
    all = true;
    draw();
  });
  const table =
      kw.el("table", {}, kw.el("caption", {class: "hidden"}, about), kw.el("thead", {}, kw.el("tr", {}, heads)), body);
  const element = kw.el(
      "div", {class: "table"},
      kw.el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": about}, table), more);

  const isEmpty = (cell) => cell === "" || cell === null || cell === undefined;

  function classes(column) {
    return [column.number ? "n" : "", column.wraps ? "wraps" : "", column.minor ? "minor" : ""].filter(Boolean).join(" ") || null;
  }

  function sorted(shown) {
    if (!order) return shown;
    const value = columns[order[0]].value;
    const sign = order[1] ? -1 : 1;
    return [...shown].sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === y) return 0;
      if (x === null || x === undefined || x === "") return 1;  // unknown values come last
      if (y === null || y === undefined || y === "") return -1;
      return (x < y ? -1 : 1) * sign;
    });
  }

  function draw() {
    const shown = sorted(keep ? rows.filter(keep) : rows);
    heads.forEach((head, index) => {
      if (!columns[index].value) return;
      const by = order && order[0] === index;
      head.setAttribute("aria-sort", by ? (order[1] ? "descending" : "ascending") : "none");
    });
    body.replaceChildren();
    const cells = (all ? shown : shown.slice(0, kAtOnce)).map((row) => columns.map((column) => column.show(row)));
    // Hides columns without any value.
    const used = columns.map((_, index) => cells.length === 0 || cells.some((row) => !isEmpty(row[index])));
    heads.forEach((head, index) => (head.hidden = !used[index]));
    cells.forEach(
        (row, at) => body.append(kw.el(
            "tr", {class: kw.isLibrary(shown[at]) ? "library" : null},
            row.map(
                (cell, index) => kw
                                     .el("td", {
                                       class: classes(columns[index]),
                                       hidden: !used[index],
                                       "data-label": columns[index].title,
                                       "data-empty": isEmpty(cell) ? "yes" : null
                                     },
                                         kw.el("div", {}, cell))))));
    if (shown.length === 0) {
      body.append(kw.el(
          "tr", {},
          kw.el(
              "td", {colspan: columns.length, class: "none"},
              rows.length ? "No row matches the filter." : empty || "Nothing yet.")));
    }
    more.hidden = all || shown.length <= kAtOnce;
    more.textContent = `Show all ${kw.count(shown.length)}`;
  }

  return {
    element,
    draw,
    update(next) {
      rows = next;
      draw();
    },
  };
};

// A table without sorting and filters.
kw.plainTable = function(about, columns, rows) {
  const table = kw.table({about, columns});
  table.update(rows);
  return table.element;
};

// Labelled choices above a table. `fields`: [{label, kind: "text" | "select" | "check", test(row, value),
// options(rows)?, start?}]. Returns {element, keep(row), update(rows)}; Calls `changed` when a choice changes.
kw.filters = function(fields, changed) {
  const inputs = fields.map((field) => {
    if (field.kind === "select") return kw.el("select");
    return kw.el(
        "input",
        field.kind === "check" ? {type: "checkbox", checked: field.start} : {type: "search", placeholder: field.hint});
  });
  inputs.forEach((input) => input.addEventListener("input", changed));
  const value = (index) => (fields[index].kind === "check" ? inputs[index].checked : inputs[index].value);
  return {
    element: kw.el(
        "form", {class: "filters", role: "search"},
        fields.map(
            (field, index) => kw.el("label", {class: field.kind}, kw.el("span", {}, field.label), inputs[index]))),
    keep: (row) =>
        fields.every((field, index) => value(index) === "" || value(index) === false || field.test(row, value(index))),
    update(rows) {
      fields.forEach((field, index) => {
        if (field.kind !== "select") return;
        const chosen = inputs[index].value;
        const options = [...new Set(rows.map(field.of))].sort();
        kw.fill(
            inputs[index], kw.el("option", {value: ""}, "all"),
            options.map((option) => kw.el("option", {value: option, selected: option === chosen}, option)));
      });
    },
  };
};
})(window.kw);
