/* Draws a live run from its stream of snapshots. */
"use strict";
(() => {
  /* Okabe and Ito (2008), as in all pictures. */
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#888888", "#000000"];
  const POINTS = 300;
  const id = name => document.getElementById(name);
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const text = value => value == null ? "" : Number(value.toPrecision(4)).toLocaleString("en", {maximumSignificantDigits: 4}).replaceAll(",", "\u202f");
  const times = [], ways = new Map();
  let charts = {};

  function row(cells) {
    const made = document.createElement("tr");
    cells.forEach((cell, at) => {
      const td = document.createElement("td");
      td.textContent = typeof cell === "number" ? text(cell) : cell ?? "";
      if (at && (typeof cell === "number" || cell == null)) td.className = "n";
      made.append(td);
    });
    return made;
  }

  const causes = drops => Object.entries(drops).map(([cause, count]) => `${text(count)} ${cause}`).join(", ");

  /* New ways make new charts: uPlot's lines are fixed when it is made. */
  function make(quantity) {
    charts[quantity]?.destroy();
    const lines = [...ways.values()].filter(way => way.colour);
    const axis = size => ({stroke: css("--ink"), grid: {stroke: css("--line"), width: 0.5}, ticks: {stroke: css("--line"), width: 0.5}, size, font: "12px system-ui"});
    charts[quantity] = new uPlot({
      width: id(quantity).clientWidth, height: 180, legend: {show: false}, cursor: {drag: {x: false, y: false}},
      scales: {x: {time: false}, y: {range: (u, low, high) => [0, Math.max(1, high * 1.05)]}},
      axes: [{...axis(30), values: (u, at) => at.map(s => `${text(s)} s`)}, {...axis(60), values: (u, at) => at.map(text)}],
      series: [{}, ...lines.map(way => ({stroke: way.colour, width: 1.5, points: {show: false}}))],
    }, [times, ...lines.map(way => way[quantity])], id(quantity));
  }

  function legend() {
    id("legend").replaceChildren(...[...ways].filter(([, way]) => way.colour).map(([name, way]) => {
      const item = document.createElement("li"), dot = document.createElement("span");
      dot.style.background = way.colour;
      item.append(dot, name);
      return item;
    }));
  }

  function add(snapshot) {
    times.push(snapshot.at_s);
    const now = new Map(snapshot.ways.map(way => [way.way, way]));
    let fresh = false;
    for (const name of now.keys()) {
      if (ways.has(name)) continue;
      ways.set(name, {colour: COLOURS[ways.size], rate: Array(times.length - 1).fill(null), queue: Array(times.length - 1).fill(null)});
      fresh = true;
    }
    for (const [name, way] of ways) {
      const found = now.get(name);
      way.rate.push(found?.rate_kbps ?? 0);
      way.queue.push(found?.queue_packets ?? 0);
      if (times.length > POINTS) { way.rate.shift(); way.queue.shift(); }
    }
    if (times.length > POINTS) times.shift();
    return fresh;
  }

  function draw(snapshot, fresh) {
    if (fresh || !charts.rate) { legend(); make("rate"); make("queue"); }
    else for (const quantity of ["rate", "queue"]) {
      charts[quantity].setData([times, ...[...ways.values()].filter(way => way.colour).map(way => way[quantity])]);
    }
    id("ways").replaceChildren(...snapshot.ways.map(way => row([way.way, way.rate_kbps, way.queue_packets, way.queue_ms, way.marks,
      causes(way.drops), causes(way.all_drops)])));
    id("hosts").replaceChildren(...snapshot.hosts.map(host => row([host.host, host.sent_kbps, host.delivered_kbps, host.lateness_ms_p50,
      host.lateness_ms_p99, host.late_packets])));
    id("serving").hidden = !snapshot.served.length;
    id("served").textContent = snapshot.served.map(([who, what]) => `${who}: ${what}`).join(", ");
    const behind = snapshot.behind_ms >= 1 ? `, ${text(snapshot.behind_ms)} ms behind` : "";
    id("state").textContent = `${snapshot.at_s.toFixed(0)} s, processor ${snapshot.cpu_pct.toFixed(0)} % of a core${behind}`;
  }

  const stream = new EventSource("/snapshots");
  stream.onmessage = event => {
    const snapshot = JSON.parse(event.data);
    draw(snapshot, add(snapshot));
  };
  stream.addEventListener("over", () => {
    stream.close();
    id("state").textContent += ", over";
  });
  stream.onerror = () => { id("state").textContent += ", no connection"; stream.close(); };
  addEventListener("resize", () => { if (charts.rate) { make("rate"); make("queue"); } });
  id("theme").addEventListener("click", () => { if (charts.rate) { make("rate"); make("queue"); } });
})();
