/* Replays a run: where each packet is at an instant, from its recorded hops. */
"use strict";
(() => {
  const told = JSON.parse(document.querySelector("#told").textContent), total = told.end - told.begin;
  const unpacked = (text, kind) => new kind(Uint8Array.from(atob(text), one => one.charCodeAt(0)).buffer);
  const column = (name, kind) => unpacked(told.legs[name], kind);
  const left = column("left", Float32Array), came = column("came", Float32Array), flight = column("flight", Float32Array);
  const hop = column("hop", Uint16Array), flow = column("flow", Uint16Array), kind = column("kind", Uint8Array);
  const DROPPED = 2, DATA = 1;
  const colours = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8a8a8a", "#b8a800"];
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const map = document.querySelector("#map"), ctx = map.getContext("2d");

  /* Which hops are under way in each part of the time: to look at few of them for a frame. */
  const PARTS = Math.max(1, Math.min(4000, Math.ceil(left.length / 50)));
  const part = time => Math.max(0, Math.min(PARTS - 1, Math.floor(time / total * PARTS)));
  const under = Array.from({length: PARTS}, () => []);
  const LINGER = total / 400;
  for (let n = 0; n < left.length; n++) {
    const end = part(came[n] + (kind[n] & DROPPED ? LINGER : 0));
    for (let k = part(left[n]); k <= end; k++) under[k].push(n);
  }

  /* Places of nodes: on the globe, on a map, or in columns by their distance from the busiest sender. */
  const nodes = told.nodes.map(name => ({name, x: 0, y: 0, shown: true}));
  const neighbours = new Map(nodes.map((_, n) => [n, new Set()]));
  for (const [one, other] of told.hops) { neighbours.get(one).add(other); neighbours.get(other).add(one); }
  const columns = (() => {
    const count = new Array(nodes.length).fill(0);
    for (let n = 0; n < left.length; n++) if (kind[n] & DATA) count[told.hops[hop[n]][0]]++;
    const into = new Set(told.hops.map(one => one[1])), start = count.indexOf(Math.max(...count));
    const depth = new Map();
    const leaves = [...neighbours].filter(([n, near]) => near.size === 1 && count[n] > 0).sort((a, b) => count[b[0]] - count[a[0]]);
    let wave = [leaves.length ? leaves[0][0] : Math.max(0, start)];
    for (let at = 0; wave.length; at++) {
      wave.forEach(n => depth.set(n, at));
      wave = [...new Set(wave.flatMap(n => [...neighbours.get(n)]))].filter(n => !depth.has(n));
    }
    nodes.forEach((_, n) => { if (!depth.has(n)) depth.set(n, 0); });
    return depth;
  })();
  const deepest = Math.max(1, ...columns.values());
  const projection = d3.geoOrthographic().clipAngle(90);
  const graticule = d3.geoGraticule10(), globe = told.places && told.places.globe, ground = told.places && told.places.map;
  let width = 0, height = 0;

  function laidOut() {
    width = map.clientWidth;
    height = map.clientHeight;
    map.width = width * devicePixelRatio;
    map.height = height * devicePixelRatio;
    if (globe) {
      projection.fitExtent([[20, 20], [width - 20, height - 20]], {type: "Sphere"});
      return;
    }
    const many = new Map();
    nodes.forEach((_, n) => many.set(columns.get(n), (many.get(columns.get(n)) || 0) + 1));
    const seen = new Map(), side = ground ? 0.35 : 1;
    nodes.forEach((node, n) => {
      const at = columns.get(n), k = seen.get(at) || 0;
      seen.set(at, k + 1);
      node.x = 60 + (width - 140) * side * at / deepest;
      node.y = height * (k + 1) / (many.get(at) + 1);
    });
    if (ground) {
      const all = Object.values(ground), reach = Math.max(...all.flat().map(Math.abs), 1);
      const scale = Math.min(height - 40, width * 0.6) / 2 / reach, middle = [width - (height / 2 + 40), height / 2];
      nodes.forEach(node => {
        if (ground[node.name]) [node.x, node.y] = [middle[0] + ground[node.name][0] * scale, middle[1] - ground[node.name][1] * scale];
      });
      // The station stands where its cells are.
      const station = nodes.find((_, n) => [...neighbours.get(n)].filter(m => ground[nodes[m].name]).length > 1);
      if (station) [station.x, station.y] = middle;
    }
  }

  function onGlobe(time) {
    const steps = Object.values(globe)[0].at.length - 1, at = Math.min(steps, Math.max(0, time / total * steps));
    const low = Math.floor(at), high = Math.min(steps, low + 1);
    const place = node => d3.geoInterpolate(globe[node].at[low], globe[node].at[high])(at - low);
    const fixed = Object.keys(globe).filter(name => globe[name].kind !== "satellite");
    if (!turned && fixed.length) {
      const middle = d3.geoCentroid({type: "MultiPoint", coordinates: fixed.map(place)});
      projection.rotate([-middle[0], -middle[1]]);
    }
    const centre = projection.rotate();
    nodes.forEach((node, n) => {
      const known = globe[node.name] ? node.name : [...neighbours.get(n)].map(m => nodes[m].name).find(name => globe[name]);
      if (!known) return;
      const spot = place(known), [x, y] = projection(spot), off = known === node.name ? 0 : 26;
      node.x = x + off;
      node.y = y + off;
      node.shown = d3.geoDistance(spot, [-centre[0], -centre[1]]) < Math.PI / 2;
    });
  }

  let turned = false;
  if (globe) {
    let from = null;
    /* A finger turns it; elsewhere it moves the page. */
    map.style.touchAction = "none";
    map.addEventListener("pointerdown", event => { from = [event.clientX, event.clientY, ...projection.rotate()]; map.setPointerCapture(event.pointerId); });
    map.addEventListener("pointermove", event => {
      if (!from) return;
      turned = true;
      projection.rotate([from[2] + (event.clientX - from[0]) / 3, Math.max(-90, Math.min(90, from[3] - (event.clientY - from[1]) / 3))]);
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) map.addEventListener(end, () => { from = null; });
  }

  let now = 0;
  const slots = told.served
    ? {time: unpacked(told.served.time, Float32Array), node: unpacked(told.served.node, Uint16Array), received: unpacked(told.served.received, Uint8Array)}
    : {time: []};
  /* The nodes that are served now, and whether they get their block. */
  function servedNow() {
    let low = 0, high = slots.time.length;
    while (low < high) { const mid = (low + high) >> 1; if (slots.time[mid] <= now) low = mid + 1; else high = mid; }
    const found = new Map(), window = Math.max(0.004, step / 2);
    for (let k = low - 1; k >= 0 && slots.time[k] > now - window; k--) if (!found.has(slots.node[k])) found.set(slots.node[k], slots.received[k]);
    return found;
  }

  function draw() {
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    if (globe) {
      onGlobe(now);
      const path = d3.geoPath(projection, ctx);
      ctx.strokeStyle = css("--line");
      ctx.lineWidth = 0.7;
      ctx.beginPath(); path({type: "Sphere"}); ctx.stroke();
      ctx.beginPath(); path(graticule); ctx.stroke();
      ctx.fillStyle = css("--line");
      for (const name in globe) if (globe[name].kind === "satellite") {
        const steps = globe[name].at.length - 1, spot = globe[name].at[Math.round(Math.min(steps, now / total * steps))], centre = projection.rotate();
        if (d3.geoDistance(spot, [-centre[0], -centre[1]]) < Math.PI / 2) {
          const [x, y] = projection(spot);
          ctx.fillRect(x - 1.5, y - 1.5, 3, 3);
        }
      }
    }
    ctx.lineWidth = 1;
    ctx.strokeStyle = css("--line");
    ctx.beginPath();
    for (const [one, other] of told.hops) if (nodes[one].shown && nodes[other].shown) {
      ctx.moveTo(nodes[one].x, nodes[one].y);
      ctx.lineTo(nodes[other].x, nodes[other].y);
    }
    ctx.stroke();
    const waiting = new Map();
    let flying = 0, lost = 0;
    for (const n of under[part(now)]) {
      if (left[n] > now) continue;
      const [one, other] = told.hops[hop[n]], a = nodes[one], b = nodes[other];
      const dx = b.x - a.x, dy = b.y - a.y, far = Math.hypot(dx, dy) || 1;
      // There and back keep apart.
      const side = [-dy / far * 4, dx / far * 4], visible = a.shown && b.shown;
      if (came[n] < now) {
        if (kind[n] & DROPPED && now - came[n] < LINGER) {
          lost++;
          if (!visible) continue;
          const x = a.x + dx * 0.2 + side[0], y = a.y + dy * 0.2 + side[1];
          ctx.strokeStyle = "#d7263d";
          ctx.lineWidth = 2;
          ctx.beginPath();
          ctx.moveTo(x - 5, y - 5); ctx.lineTo(x + 5, y + 5); ctx.moveTo(x + 5, y - 5); ctx.lineTo(x - 5, y + 5);
          ctx.stroke();
        }
        continue;
      }
      const start = came[n] - flight[n];
      ctx.fillStyle = colours[flow[n] % colours.length];
      if (now < start || kind[n] & DROPPED) {
        const place = waiting.get(hop[n]) || 0;
        waiting.set(hop[n], place + 1);
        if (!visible || place > 119) continue;
        // A stack beside the node, in front of the link.
        const row = Math.floor(place / 6), along = 12 + row * 4, across = (place % 6) * 4 + 5;
        ctx.fillRect(a.x + dx / far * along - dy / far * across - 1.5, a.y + dy / far * along + dx / far * across - 1.5, 3, 3);
        continue;
      }
      flying++;
      if (!visible) continue;
      const share = flight[n] > 0 ? (now - start) / flight[n] : 1, size = kind[n] & DATA ? 3.2 : 1.8;
      ctx.beginPath();
      ctx.arc(a.x + dx * share + side[0], a.y + dy * share + side[1], size, 0, 7);
      ctx.fill();
    }
    const serving = servedNow();
    nodes.forEach((node, n) => {
      if (!node.shown) return;
      const one = serving.get(n);
      ctx.fillStyle = one === undefined ? css("--ink") : one ? "#009E73" : "#D55E00";
      ctx.beginPath();
      ctx.arc(node.x, node.y, one === undefined ? 4 : 7, 0, 7);
      ctx.fill();
    });
    ctx.fillStyle = css("--ink");
    ctx.font = "12px system-ui";
    const written = (text, x, y) => ctx.fillText(text, Math.max(2, Math.min(x, width - 4 - ctx.measureText(text).width)), y);
    if (nodes.length <= 40 || ground) nodes.forEach((node, n) => {
      if (node.shown && (!ground || !ground[node.name] || serving.has(n) || nodes.length <= 20)) written(node.name, node.x + 8, node.y - 8);
    });
    waiting.forEach((count, at) => {
      const [one, other] = told.hops[at], a = nodes[one], b = nodes[other], far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      if (count > 5 && a.shown && b.shown) written(`${count} wait`, a.x + (b.x - a.x) / far * 26, a.y + (b.y - a.y) / far * 26 + 34);
    });
    const queue = [...waiting.values()].reduce((sum, one) => sum + one, 0);
    const said = told.events.filter(event => event.at <= now).pop();
    document.querySelector("#state").textContent = `${flying} packets fly, ${queue} wait, ${lost} dropped just now`
      + (serving.size ? `; served: ${[...serving.keys()].map(n => nodes[n].name).join(", ")}` : "")
      + (said ? `; since ${(told.begin + said.at).toFixed(2)} s: ${said.said}` : "");
    document.querySelector("#clock").textContent = `${(told.begin + now).toFixed(total < 5 ? 4 : 3)} s`;
    drawn++;
  }

  let drawn = 0;
  const slider = document.querySelector("#time"), play = document.querySelector("#play"), speed = document.querySelector("#speed");
  slider.max = total;
  const speeds = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];
  const wished = total / 30;
  const usual = speeds.reduce((best, one) => Math.abs(Math.log(one / wished)) < Math.abs(Math.log(best / wished)) ? one : best);
  for (const one of speeds) speed.append(new Option(`${one} ×`, one, one === usual, one === usual));
  let step = usual / 60;
  speed.addEventListener("change", () => { step = Number(speed.value) / 60; });

  const marks = [];
  function seek(time) {
    now = Math.max(0, Math.min(total, time));
    slider.value = now;
    slider.setAttribute("aria-valuetext", `${(told.begin + now).toFixed(3)} s`);
    marks.forEach(one => one());
    draw();
  }

  let playing = false, last = 0;
  function frame(stamp) {
    if (!playing) return;
    // After a pause of the page itself a frame is not made up for.
    const seconds = Math.min(0.1, (stamp - last) / 1000);
    last = stamp;
    seek(now + seconds * Number(speed.value));
    if (now >= total) return toggle();
    requestAnimationFrame(frame);
  }
  function toggle() {
    playing = !playing;
    play.textContent = playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", playing);
    if (playing) {
      if (now >= total) seek(0);
      last = performance.now();
      requestAnimationFrame(frame);
    }
  }
  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => seek(Number(slider.value)));
  document.addEventListener("keydown", event => {
    if (event.target.matches("select, button, input") && event.key !== " ") return;
    if (event.key === " " && !event.target.matches("button, select")) toggle();
    else if (event.key === "ArrowRight") seek(now + step);
    else if (event.key === "ArrowLeft") seek(now - step);
    else return;
    event.preventDefault();
  });

  const legend = document.querySelector("#legend");
  told.flows.slice(0, colours.length).forEach((name, n) => {
    const item = document.createElement("li"), dot = document.createElement("span");
    dot.style.background = colours[n % colours.length];
    item.append(dot, name);
    legend.append(item);
  });
  if (told.flows.length > colours.length) legend.append(Object.assign(document.createElement("li"), {textContent: `and ${told.flows.length - colours.length} more flows, in the same colours`}));

  /* Lines of one colour differ in their dashes. */
  const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
  const look = place => ({stroke: colours[place % colours.length], dash: dashes[Math.floor(place / colours.length) % dashes.length]});

  /* The curves, with a line at the present. */
  const charts = told.curves.map(curve => {
    const box = document.createElement("div");
    const label = curve.label + (curve.of > curve.lines.length ? `: of ${curve.of} lines the ${curve.lines.length} with the highest values` : "");
    document.querySelector("#curves").append(Object.assign(document.createElement("h2"), {textContent: label}), box);
    const size = () => ({width: box.clientWidth, height: 130});
    const axis = {stroke: () => css("--ink"), grid: {stroke: css("--line"), width: 0.5}, ticks: {stroke: css("--line"), width: 0.5}, font: "12px system-ui", labelFont: "12px system-ui"};
    const line = (name, n) => ({label: name, ...look(told.flows.indexOf(name) >= 0 ? told.flows.indexOf(name) : n), width: 1.2,
      points: {show: false}, paths: uPlot.paths.stepped({align: curve.step})});
    const u = new uPlot({
      ...size(), title: "", legend: {show: curve.lines.length > 1 || told.flows.indexOf(curve.lines[0].name) < 0, live: false},
      scales: {x: {time: false, range: () => [0, total]}, y: {range: (_, low, high) => [Math.min(0, low), 1.05 * high || 1]}}, cursor: {drag: {x: false, y: false}, y: false},
      axes: [{...axis, values: (_, splits) => splits.map(one => +(one + told.begin).toPrecision(6))}, {...axis, size: 56, space: 20}],
      series: [{}, ...curve.lines.map((one, n) => line(one.name, n))],
      hooks: {draw: [u => {
        const x = Math.round(u.valToPos(now, "x", true));
        u.ctx.save();
        u.ctx.strokeStyle = css("--bad");
        u.ctx.lineWidth = 2;
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
        u.ctx.restore();
      }]},
    }, uPlot.join(curve.lines.map(one => [one.x, one.y])), box);
    let dragging = false;
    const to = event => seek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
    u.over.addEventListener("pointerdown", event => { dragging = true; u.over.setPointerCapture(event.pointerId); to(event); });
    u.over.addEventListener("pointermove", event => { if (dragging) to(event); });
    for (const end of ["pointerup", "pointercancel"]) u.over.addEventListener(end, () => { dragging = false; });
    marks.push(() => u.redraw(false, false));
    new ResizeObserver(() => u.setSize(size())).observe(box);
    return u;
  });

  new ResizeObserver(() => { laidOut(); draw(); }).observe(map);
  document.querySelector("#theme").addEventListener("click", () => { charts.forEach(u => u.redraw()); draw(); });
  laidOut();
  seek(0);
  /* For measurements of how fluent it is. */
  window.replay = {seek, frames: () => drawn, total};
})();
