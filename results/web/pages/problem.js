// One problem: its definition, and its results on each device.
"use strict";
(function(kw) {
const kBars = 8;  // solutions with bars, without libraries

function domain(axis) {
  if (axis.values.length > 0) return axis.values.map(kw.count).join(", ");
  return `${kw.count(axis.min)} to ${kw.count(axis.max)}`;
}

function facts(of) {
  if (!of) return kw.el("p", {class: "note"}, "This version cannot read the problem's description.");
  return [
    kw.el("p", {class: "lead"}, of.title),
    kw.el("p", {class: "formula"}, of.description),
    kw.facts([
      [
        "Axes",
        of.axes.map((axis) => `${axis.name}: ${axis.description} (${domain(axis)})`).join("; ")
      ],
      ["Scalars", of.scalars.map((scalar) => `${scalar.name} = ${scalar.text} (${scalar.dtype})`).join("; ")],
      [
        "Timed at",
        of.workloads.filter((w) => w.role === "bench")
            .map((w) => [w.name, ...(w.devices.length ? [`(${w.devices.join(", ")})`] : []),
                         ...(w.weight !== 1 ? [`weight ${w.weight}`] : [])].join(" "))
            .join(", ")
      ],
      ["FLOP", of.cost.flops],
      ["Bytes read", of.cost.bytes_read],
      ["Bytes written", of.cost.bytes_written],
    ]),
  ];
}

function onDevice(device) {
  const bars = kw.workloadBars("Speed-up over naive by workload, " + device);
  const roof = kw.roofline("Roofline, " + device);
  const rows = kw.table({
    about: "Solutions on " + device,
    columns: [kw.column.rank, kw.column.solution, kw.column.speedUp, kw.column.time, kw.column.bound, kw.column.by, kw.column.attempt],
  });
  const charts = kw.el("div", {class: "charts two"}, bars.element);
  const element = kw.section("On " + device, rows.element, charts);
  return {
    element,
    update(of) {
      const timed = of.rows.filter((row) => row.workloads.length > 0);
      rows.update(of.rows);
      bars.show([...timed.filter((row) => !kw.isLibrary(row)).slice(0, kBars), ...timed.filter((row) => kw.isLibrary(row))]);
      // Without a roof or without arithmetic there is nothing to see that the table does not say.
      const drawn = of.roofline && of.roofline.ceilings && of.roofline.points.some((point) => point.intensity > 0);
      if (!drawn) return roof.element.remove();
      charts.append(roof.element);
      roof.show(of.roofline);
    },
  };
}

kw.views.problem = function(name) {
  const about = kw.el("div");
  const parts = new Map();
  const devices = kw.el("div");
  return {
    title: name,
    element: kw.el("div", {}, kw.el("h1", {}, name), about, devices),
    paths: ["problem/" + name],
    update(answer) {
      kw.fill(
          about, facts(answer.facts),
          answer.older_files ?
              kw.el("p", {class: "note older"}, "These results are of older files: the problem has changed since.") :
              null);
      for (const of of answer.devices) {
        if (!parts.has(of.device)) {
          parts.set(of.device, onDevice(of.device));
          devices.append(parts.get(of.device).element);
        }
        parts.get(of.device).update(of);
      }
      if (answer.devices.length === 0)
        kw.fill(devices, kw.el("p", {class: "note"}, "No solution is verified to be faster than naive yet."));
    },
  };
};
})(window.kw);
