// Charts by Chart.js, each with its figures in a table below. Colours come from the style sheet and follow the theme.
"use strict";
(function(kw) {
const drawn = new Set();  // charts and their restyling functions
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const series = (index) => colour("--series-" + (index % 8));
const dashes = [[], [7, 4], [2, 3]];
const short = (text) => (text.length > 26 ? text.slice(0, 25) + "…" : text);

Object.assign(Chart.defaults, {animation: false, maintainAspectRatio: false});
Chart.defaults.font.family = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

// Draws 99 % intervals on bars, from a dataset's `intervals`: an array of {low, high} or null.
const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const draw = chart.ctx;
    draw.save();
    draw.strokeStyle = colour("--text");
    draw.lineWidth = 1.4;
    chart.data.datasets.forEach((set, index) => (set.intervals || []).forEach((interval, at) => {
      const bar = chart.getDatasetMeta(index).data[at];
      if (!interval || !bar || !chart.isDatasetVisible(index)) return;
      const [from, to] = [interval.low, interval.high].map((value) => chart.scales.x.getPixelForValue(value));
      draw.beginPath();
      for (const x of [from, to]) {
        draw.moveTo(x, bar.y - 4);
        draw.lineTo(x, bar.y + 4);
      }
      draw.moveTo(from, bar.y);
      draw.lineTo(to, bar.y);
      draw.stroke();
    }));
    draw.restore();
  },
};

function axis(title, more) {
  return {
    title: {display: true, text: title, color: colour("--quiet")},
    grid: {color: colour("--line")},
    ticks: {color: colour("--quiet"), ...(more && more.ticks)},
    ...Object.fromEntries(Object.entries(more || {}).filter(([key]) => key !== "ticks"))
  };
}

// Labels only 1, 2, 5, 10, ...: a logarithmic axis has no room for more.
function plainTicks(value) {
  const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((good) => Math.abs(lead - good) < 1e-6) ? Number(value.toPrecision(3)).toLocaleString("en-US") :
                                                                  null;
}

// make(): {config for Chart.js, height in px, columns and rows of the table, about}. Called again when the theme
// changes.
function figure(title, note) {
  const canvas = kw.el("canvas", {role: "img", "aria-label": title});
  const frame = kw.el("div", {class: "canvas"}, canvas);
  const figures = kw.el("div");
  const said = kw.el("p", {class: "note"}, note || null);
  const element = kw.el(
      "figure", {}, kw.el("figcaption", {}, title), frame, said,
      kw.el("details", {class: "figures"}, kw.el("summary", {}, "Figures as a table"), figures));
  let chart = null, make = null;
  const entry = {
    get chart() {
      return chart;
    },
    draw() {
      if (!make || !element.isConnected) return;
      const {config, height} = make();
      frame.style.height = height + "px";
      config.options = {...config.options, color: colour("--text")};
      if (!chart)
        chart = new Chart(canvas, config);
      else
        Object.assign(chart, {options: config.options}).data = config.data;
      chart.update("none");
    },
    drop() {
      if (chart) chart.destroy();
      drawn.delete(entry);
    },
  };
  drawn.add(entry);
  return {
    element,
    say: (text) => kw.fill(said, text),
    update(next, columns, rows) {
      make = next;
      kw.fill(figures, kw.plainTable(title, columns, rows));
      requestAnimationFrame(() => entry.draw());
    },
    drop: entry.drop,
  };
}

const legend = (shown) => ({
  display: shown,
  position: "bottom",
  labels: {color: colour("--text"), boxWidth: 18, boxHeight: 2, usePointStyle: false}
});

// Best confirmed speed-ups as steps. kind: "attempts", "seconds" or "dollars".
kw.curves = function(title, kind, unit) {
  const made = figure(title);
  made.show = function(curves) {
    const start = {attempts: 0, seconds: 0, dollars: 0, speed_up: {value: 1, low: 1, high: 1}};
    const points = (curve) => [start, ...curve.steps, curve.now].map((p) => ({x: p[kind], y: p.speed_up.low}));
    const top = 1.3 * Math.max(1.5, ...curves.map((curve) => curve.now.speed_up.low));
    const several = new Set(curves.map((curve) => curve.device)).size > 1;
    made.update(
        () => ({
          height: curves.length > 6 ? 330 : 260,
          config: {
            type: "line",
            data: {
              datasets:
                  curves.map((curve, index) => ({
                               label: curve.problem + (several ? ", " + curve.device : ""),
                               data: points(curve),
                               stepped: true,
                               borderColor: series(index),
                               backgroundColor: series(index),
                               borderWidth: 2,
                               borderDash: dashes[Math.floor(index / 8) % 3],
                               pointRadius: (at) => (at.dataIndex === 0 || at.dataIndex > curve.steps.length ? 0 : 3)
                             }))
            },
            options: {
              parsing: false,
              interaction: {mode: "nearest", intersect: false},
              scales: {
                x: axis(unit, {type: "linear", min: 0}),
                y: axis("speed-up over naive, at least", {type: "logarithmic", min: 0.9, max: top, ticks: {callback: plainTicks}})
              },
              plugins: {legend: legend(true)}
            },
          },
        }),
        [
          {title: "Problem", show: (r) => r.problem},
          {
            title: kind === "dollars" ? "Dollars" :
                kind === "seconds"    ? "Time" :
                                        "Attempts",
            number: true,
            show: (r) =>
                (kind === "dollars"     ? kw.dollars(r.at) :
                     kind === "seconds" ? kw.seconds(r.at) :
                                          kw.count(r.at))
          },
          {title: "Best", number: true, show: (r) => kw.interval(r.speed_up)},
          {title: "Solution", show: (r) => (r.hash ? kw.link("solution/" + r.hash, r.solution) : r.solution)},
        ],
        curves.flatMap((curve) => curve.steps.map((step) => ({problem: curve.problem, at: step[kind], ...step}))));
  };
  return made;
};

// Speed-ups over naive of several solutions by workload.
kw.workloadBars = function(title) {
  const made = figure(title, "The thin lines are 99 % intervals.");
  made.show = function(rows) {
    const names = [...new Set(rows.flatMap((row) => row.workloads.map((w) => w.workload)))];
    const at = (row, name) => row.workloads.find((w) => w.workload === name);
    made.update(
        () => ({
          height: 70 + rows.length * (10 + 20 * names.length),
          config: {
            type: "bar",
            plugins: [whiskers],
            data: {
              labels: rows.map((row) => short(kw.name(row))),
              datasets: names.map((name, index) => ({
                                    label: name,
                                    data: rows.map((row) => (at(row, name) ? at(row, name).speed_up.value : null)),
                                    intervals: rows.map((row) => (at(row, name) ? at(row, name).speed_up : null)),
                                    backgroundColor: series(index),
                                    maxBarThickness: 18
                                  }))
            },
            options: {
              indexAxis: "y",
              scales: {
                x: axis("speed-up over naive", {min: 0, ticks: {precision: 0}}),
                y: axis("", {grid: {display: false}, ticks: {autoSkip: false}})
              },
              plugins: {legend: legend(names.length > 1)}
            },
          },
        }),
        [
          {title: "Solution", show: (r) => kw.name(r.row)},
          {title: "Workload", show: (r) => r.w.workload},
          {title: "Time", number: true, show: (r) => kw.time(r.w.time_us)},
          {
            title: "99 % interval",
            number: true,
            minor: true,
            show: (r) => (kw.isLibrary(r.row) ? "" : `${kw.time(r.w.time_low_us)} to ${kw.time(r.w.time_high_us)}`)
          },
          {title: "Naive", number: true, show: (r) => kw.time(r.w.naive_us)},
          {title: "Speed-up", number: true, show: (r) => kw.interval(r.w.speed_up)},
          {title: "Share of bound", number: true, show: (r) => kw.percent(r.w.share_of_bound)},
        ],
        rows.flatMap((row) => row.workloads.map((w) => ({row, w}))));
  };
  return made;
};

// Roofline: arithmetic intensity against the achieved rate, below the device's peak.
kw.roofline = function(title) {
  const made = figure(title);
  const kinds =
      [["solution", "Solutions", "circle"], ["library", "Libraries", "rectRot"], ["naive", "Naive", "crossRot"]];
  made.show = function(roofline) {
    const points = roofline.points.filter((p) => p.intensity > 0);
    const roof = roofline.ceilings;
    made.say(
        points.length === 0 ?
            "This problem has no arithmetic: its bandwidth is in the table." :
            roof ?
            `Roofs as calibrated ${kw.when(roof.made)}: ${kw.digits(roof.gb_s)} GB/s${
                roof.gflop_s ? `, ${kw.count(roof.gflop_s)} GFLOP/s` : ""}.` :
                               "This device is not calibrated, so there is no roof above the points: the cpu device ranks kernels and says nothing about hardware.");
    const low = Math.min(...points.map((p) => p.intensity)) / 4, high = Math.max(...points.map((p) => p.intensity)) * 4;
    const line = roof && points.length ?
        [low, roof.gflop_s ? Math.min(Math.max(roof.gflop_s / roof.gb_s, low), high) : high, high].map(
            (x) => ({x, y: Math.min(x * roof.gb_s, roof.gflop_s || Infinity)})) :
        [];
    made.update(
        () => ({
          height: 300,
          config: {
            type: "scatter",
            data: {
              datasets: [
                ...kinds
                    .map(([kind, label, shape], index) => ({
                           label,
                           data: points.filter((p) => p.kind === kind)
                                     .map((p) => ({x: p.intensity, y: p.gflop_s, name: p.name})),
                           borderColor: series(index),
                           backgroundColor: series(index),
                           pointStyle: shape,
                           pointRadius: 5,
                           borderWidth: 2
                         }))
                    .filter((set) => set.data.length > 0),
                ...(line.length ? [{
                  label: "Roof",
                  data: line,
                  type: "line",
                  borderColor: colour("--text"),
                  borderWidth: 2,
                  pointRadius: 0
                }] :
                                  [])
              ]
            },
            options: {
              scales: {
                x: axis("FLOP per byte", {
                  type: "logarithmic",
                  min: points.length ? low : undefined,
                  max: points.length ? high : undefined,
                  ticks: {callback: plainTicks}
                }),
                y: axis("GFLOP/s", {type: "logarithmic", ticks: {callback: plainTicks}})
              },
              plugins: {
                legend: {...legend(true), labels: {...legend(true).labels, usePointStyle: true, boxHeight: 7}},
                tooltip: {
                  callbacks: {label: (item) => `${short(item.raw.name || "roof")}: ${kw.digits(item.parsed.y)} GFLOP/s`}
                }
              }
            },
          },
        }),
        [
          {title: "Solution", show: (p) => (p.hash ? kw.link("solution/" + p.hash, p.name) : p.name)},
          {title: "Workload", show: (p) => p.workload},
          {title: "FLOP per byte", number: true, show: (p) => kw.digits(p.intensity)},
          {title: "GFLOP/s", number: true, show: (p) => kw.digits(p.gflop_s)},
          {title: "GB/s", number: true, show: (p) => kw.digits(p.gb_s)},
          {title: "Time", number: true, show: (p) => kw.time(p.time_us)},
        ],
        roofline.points);
  };
  return made;
};

// Number of attempts by verdict.
kw.verdictBars = function(title) {
  const made = figure(title);
  made.show = function(verdicts) {
    const rows =
        Object.entries(verdicts).map(([verdict, count]) => ({verdict, count})).sort((a, b) => b.count - a.count);
    const sum = rows.reduce((total, row) => total + row.count, 0);
    made.update(
        () => ({
          height: 60 + 26 * rows.length,
          config: {
            type: "bar",
            data: {
              labels: rows.map((r) => r.verdict.replaceAll("_", " ")),
              datasets: [{
                label: "attempts",
                data: rows.map((r) => r.count),
                backgroundColor: rows.map((r) => (r.verdict === "correct" ? series(1) : series(3))),
                maxBarThickness: 18
              }]
            },
            options: {
              indexAxis: "y",
              scales: {
                x: axis("attempts", {min: 0, ticks: {precision: 0}}),
                y: axis("", {grid: {display: false}, ticks: {autoSkip: false}})
              },
              plugins: {legend: legend(false)}
            },
          },
        }),
        [
          {title: "Verdict", show: (r) => r.verdict.replaceAll("_", " ")},
          {title: "Attempts", number: true, show: (r) => kw.count(r.count)},
          {title: "Share", number: true, show: (r) => kw.percent(r.count / sum)},
        ],
        rows);
  };
  return made;
};

kw.redraw = () => drawn.forEach((entry) => entry.draw());
kw.dropCharts = () => drawn.forEach((entry) => entry.drop());

// For printing: canvases do not shrink by themselves, and paper needs the light theme.
const kPaper = 660;  // px
let opened = [];
window.addEventListener("beforeprint", () => {
  document.documentElement.dataset.paper = "yes";
  opened = [...document.querySelectorAll("details.print:not([open])")];
  opened.forEach((details) => (details.open = true));
  kw.redraw();
  drawn.forEach(({chart}) => chart && chart.resize(kPaper, chart.height));
});
window.addEventListener("afterprint", () => {
  delete document.documentElement.dataset.paper;
  opened.forEach((details) => (details.open = false));
  kw.redraw();
  drawn.forEach(({chart}) => chart && chart.resize());
});
})(window.kw);
