/* Draws the figures of the page again, to zoom into: each from the data beside its picture. */
"use strict";
(() => {
  const root = document.documentElement;
  const dark = () => getComputedStyle(root).getPropertyValue("--paper").trim() !== "#ffffff" && !matchMedia("print").matches;
  const css = name => getComputedStyle(root).getPropertyValue(name).trim();
  const text = value => value == null ? "" : Number(value.toPrecision(5)).toLocaleString("en", {maximumSignificantDigits: 5}).replaceAll(",", "\u202f");

  /* What else has the colours of lines. */
  const repaint = [];

  /* A line's colour, lighter on dark paper where it would not be seen. */
  function ink(colour) {
    const parts = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
    const light = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
    if (!dark() || light > 0.45) return colour;
    const more = light < 0.05 ? 0.85 : 0.4;
    return `rgb(${parts.map(part => Math.round(part + (255 - part) * more)).join(",")})`;
  }

  /* How far the name of an axis upwards is from its values, in pixels. */
  const APART = 6;

  /* What its values take beside an axis upwards (after uPlot's demo of axes that size themselves). */
  function widest(u, values, n, cycle) {
    const axis = u.axes[n];
    if (cycle > 1) return axis._size;
    u.ctx.font = axis.font[0];
    return Math.ceil(axis.ticks.size + axis.gap + APART + Math.max(0, ...(values || []).map(one => u.ctx.measureText(one).width / devicePixelRatio)));
  }

  /* An axis of the panel `box`. A long name is smaller, so that it fits in its `length` of pixels. */
  function axis(box, told, side, length) {
    const points = Math.max(8, Math.min(12, length / (0.55 * told.label.length)));
    const made = {label: told.label, stroke: css("--ink"), labelSize: 20, font: "12px system-ui", labelFont: `${points}px system-ui`,
      grid: {stroke: css("--line"), width: 0.5}, ticks: {stroke: css("--line"), width: 0.5}, size: side === "y" ? widest : 40};
    made.values = (_, splits) => splits.map(text);
    if (told.ticks.length) {
      made.splits = () => told.ticks.map(tick => tick[0]);
      /* Names that would lie on the one before are left out. */
      made.values = u => {
        let end = -Infinity;
        return told.ticks.map(([at, name]) => {
          const middle = u.valToPos(at, side), half = 3.5 * name.length;
          if (side === "x" && middle - half < end + 4) return "";
          end = middle + half;
          return name;
        });
      };
      made.filter = (_, splits) => splits;
    }
    if (side === "y" && !told.named) {
      /* The panel before has the same, as long as it stands in the same row. */
      const all = made.values, beside = () => box.previousElementSibling && box.previousElementSibling.offsetTop === box.offsetTop;
      made.values = (u, splits) => beside() ? splits.map(() => "") : all(u, splits);
    }
    return made;
  }

  const path = series => series.width === 0 ? () => null
    : series.step ? uPlot.paths.stepped({align: series.step}) : uPlot.paths.linear();

  /* How wide markers are, in pixels of the page. */
  const MARKER = 7;

  /* A series' marker at each of its points. */
  const markers = series => (u, n, first, last) => {
    const size = MARKER * devicePixelRatio, {left, top, width, height} = u.bbox;
    const one = new Path2D(series.marker), all = new Path2D(), clip = new Path2D();
    for (let k = first; k <= last; k++) {
      const x = u.data[0][k], y = u.data[n][k];
      if (y != null) all.addPath(one, new DOMMatrix([size, 0, 0, size, u.valToPos(x, "x", true), u.valToPos(y, "y", true)]));
    }
    clip.rect(left - size, top - size, width + 2 * size, height + 2 * size);
    return {stroke: all, fill: all, clip, flags: 3};
  };

  /* Bands and error bars, which belong to a series and go with it. */
  function extras(u, chart) {
    const {ctx} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    const at = (value, scale) => u.valToPos(value, scale, true);
    for (const span of chart.spans) {
      ctx.fillStyle = ink(span.color) + "";
      ctx.globalAlpha = 0.18;
      const left = at(span.x[0], "x");
      ctx.fillRect(left, u.bbox.top, at(span.x[1], "x") - left, u.bbox.height);
    }
    chart.series.forEach((series, n) => {
      if (!u.series[n + 1].show) return;
      if (series.from) {
        ctx.globalAlpha = 0.22;
        ctx.fillStyle = ink(series.color);
        ctx.beginPath();
        series.x.forEach((x, k) => ctx.lineTo(at(x, "x"), at(series.from[k], "y")));
        for (let k = series.x.length - 1; k >= 0; k--) ctx.lineTo(at(series.x[k], "x"), at(series.to[k], "y"));
        ctx.fill();
      }
      const bar = (from, to, point) => {
        if (!from) return;
        ctx.globalAlpha = 1;
        ctx.strokeStyle = ink(series.color);
        ctx.lineWidth = devicePixelRatio;
        ctx.beginPath();
        from.forEach((_, k) => {
          if (from[k] == null || to[k] == null) return;
          ctx.moveTo(...point(from[k], k));
          ctx.lineTo(...point(to[k], k));
        });
        ctx.stroke();
      };
      bar(series.low, series.high, (end, k) => [at(series.x[k], "x"), at(end, "y")]);
      bar(series.left, series.right, (end, k) => [at(end, "x"), at(series.y[k], "y")]);
    });
    ctx.restore();
  }

  /* Lines across the panel, and words in it and above it. */
  function notes(u, chart) {
    const {ctx} = u, {left, top, width, height} = u.bbox, ratio = devicePixelRatio;
    const at = (value, scale, frame) => frame === "data" ? u.valToPos(value, scale, true)
      : scale === "x" ? left + value * width : top + (1 - value) * height;
    const inside = (x, y) => x >= left - 1 && x <= left + width + 1 && y >= top - 1 && y <= top + height + 1;
    ctx.save();
    for (const rule of chart.rules) {
      const x = rule.x == null ? null : at(rule.x, "x", "data"), y = rule.y == null ? null : at(rule.y, "y", "data");
      if (!inside(x ?? left, y ?? top)) continue;
      ctx.strokeStyle = ink(rule.color);
      ctx.lineWidth = rule.width * ratio;
      ctx.setLineDash((rule.dash || []).map(part => part * ratio));
      ctx.beginPath();
      ctx.moveTo(x ?? left, y ?? top);
      ctx.lineTo(x ?? left + width, y ?? top + height);
      ctx.stroke();
    }
    ctx.font = `${WORDS * ratio}px system-ui`;
    for (const word of chart.words) {
      const x = at(word.x, "x", word.by[0]), y = at(word.y, "y", word.by[1]);
      if (!inside(word.by[0] === "data" ? x : left, word.by[1] === "data" ? y : top)) continue;
      const [across, up] = word.align;
      ctx.fillStyle = ink(word.color);
      ctx.save();
      ctx.translate(x + word.shift[0] * ratio * 4 / 3, y - word.shift[1] * ratio * 4 / 3);
      if (word.upright) ctx.rotate(-Math.PI / 2);
      ctx.textAlign = word.upright ? {bottom: "left", baseline: "left", top: "right"}[up] || "center" : across;
      ctx.textBaseline = word.upright ? {left: "top", right: "bottom"}[across] || "middle" : {center: "middle", baseline: "alphabetic"}[up] || up;
      word.text.split("\n").forEach((line, n) => ctx.fillText(line, 0, 1.2 * WORDS * ratio * n));
      ctx.restore();
    }
    ctx.restore();
  }

  /* How large words are, in pixels of the page. */
  const WORDS = 11;

  /* The room that words above a panel take. */
  const above = chart => Math.max(8, ...chart.words.filter(word => word.by[1] === "axes" && word.y >= 1)
    .map(word => word.upright ? 0.6 * WORDS * word.text.length : 1.5 * WORDS));

  function panel(holder, columns, chart, sync, ratio) {
    const box = document.createElement("div");
    box.className = "panel";
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `Chart of ${chart.y.label} over ${chart.x.label}. Arrow keys read values, plus and minus zoom, 0 shows all.`);
    if (chart.title) box.append(Object.assign(document.createElement("b"), {textContent: chart.title}));
    holder.append(box);
    const data = uPlot.join(chart.series.map(series => [series.x, series.y]));
    const outputs = [];
    const whole = u => u.batch(() => {
      u.setScale("x", {min: chart.x.limits[0], max: chart.x.limits[1]});
      u.setScale("y", {min: chart.y.limits[0], max: chart.y.limits[1]});
    });
    /* Panels of a row are equally high, whatever their widths. */
    const size = () => {
      const width = box.clientWidth, row = holder.clientWidth;
      return {width: Math.max(200, width), height: Math.max(220, Math.round((width < row ? row / columns : width) * ratio))};
    };
    const options = {
      ...size(), legend: {show: false}, padding: [above(chart), 12, 0, 0],
      scales: {
        x: {time: false, distr: chart.x.log ? 3 : 1, dir: chart.x.reversed ? -1 : 1, auto: false},
        y: {distr: chart.y.log ? 3 : 1, dir: chart.y.reversed ? -1 : 1, auto: false},
      },
      axes: [axis(box, chart.x, "x", size().width - 70), axis(box, chart.y, "y", size().height - 50)],
      cursor: {sync: {key: sync, scales: ["x", null]}, drag: {x: true, y: true, uni: 25}, bind: {dblclick: u => () => { whole(u); return null; }},
        points: {size: 6}, dataIdx: (u, n, idx) => near(u, n, idx)},
      series: [{}, ...chart.series.map(series => ({
        label: series.name, stroke: () => ink(series.color), width: series.width, dash: series.dash || undefined, paths: path(series), alpha: series.faint ? 0.5 : 1,
        points: {show: Boolean(series.marker), size: 5, paths: markers(series), fill: series.open ? css("--paper") : () => ink(series.color), stroke: () => ink(series.color)},
      }))],
      hooks: {drawAxes: [u => extras(u, chart)], draw: [u => notes(u, chart)], setCursor: [u => {
        chart.series.forEach((_, n) => {
          const idx = u.cursor.idxs ? u.cursor.idxs[n + 1] : null;
          if (outputs[n]) outputs[n].textContent = idx == null ? "" : text(u.data[n + 1][idx]);
        });
      }]},
    };
    /* The last value at or before the cursor: lines have their own times. */
    function near(u, n, idx) {
      const column = u.data[n];
      for (let k = idx; k >= 0; k--) if (column[k] != null) return k;
      return idx;
    }
    const u = new uPlot(options, data, box);
    whole(u);
    box.append(legend(u, chart, outputs));
    box.addEventListener("keydown", event => {
      const {min, max} = u.scales.x, key = event.key;
      const zoom = {"+": 0.25, "=": 0.25, "-": -0.5}[key];
      if (zoom !== undefined) {
        const [to, from] = chart.x.log ? [Math.log, Math.exp] : [x => x, x => x];
        const low = to(min), high = to(max), by = (high - low) * zoom;
        u.setScale("x", {min: from(low + by), max: from(high - by)});
      }
      else if (key === "0" || key === "Escape") whole(u);
      else if (key === "ArrowLeft" || key === "ArrowRight") {
        const left = u.cursor.left < 0 ? 0 : u.cursor.left + (key === "ArrowRight" ? 1 : -1) * u.over.clientWidth / 60;
        u.setCursor({left: Math.min(u.over.clientWidth, Math.max(0, left)), top: u.over.clientHeight / 2});
      } else return;
      event.preventDefault();
    });
    new ResizeObserver(() => u.setSize(size())).observe(box);
    return {u, whole: () => whole(u), redraw: () => {
      u.axes.forEach(one => { one.stroke = () => css("--ink"); one.grid.stroke = one.ticks.stroke = () => css("--line"); });
      u.redraw();
    }};
  }

  function legend(u, chart, outputs) {
    const list = document.createElement("div");
    list.className = "series";
    chart.series.forEach((series, n) => {
      if (!series.name) return;
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const colour = () => { button.style.setProperty("--ink-of-line", ink(series.color)); };
      colour();
      repaint.push(colour);
      const dash = series.dash ? ` stroke-dasharray="${series.dash}"` : "";
      const fill = series.open ? "none" : "var(--ink-of-line)";
      const mark = series.marker ? `<path transform="translate(11 5) scale(${MARKER})" d="${series.marker}" fill="${fill}" stroke="var(--ink-of-line)" stroke-width="1" vector-effect="non-scaling-stroke"/>` : "";
      const line = series.width ? `<line x1="0" x2="22" y1="5" y2="5" stroke="var(--ink-of-line)" stroke-width="2"${dash}/>` : "";
      button.innerHTML = `<svg width="22" height="10" aria-hidden="true">${line}${mark}</svg>`;
      button.append(series.name, outputs[n] = document.createElement("output"));
      button.addEventListener("click", () => {
        const show = !u.series[n + 1].show, {min, max} = u.scales.y;
        u.batch(() => {
          u.setSeries(n + 1, {show});
          // It would fit the axis to what is shown.
          u.setScale("y", {min, max});
        });
        button.setAttribute("aria-pressed", show);
      });
      list.append(button);
    });
    return list;
  }

  /* What is drawn, as a table: a row for each point. */
  function table(charts) {
    const quoted = value => value == null ? "" : /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value;
    const rows = [["panel", "series", "x", "y", "low", "high", "left", "right"]];
    charts.forEach((chart, place) => chart.series.forEach(series => series.x.forEach((x, k) => rows.push(
      [chart.title || place + 1, series.name, x, series.y[k], (series.low || series.from || [])[k], (series.high || series.to || [])[k], (series.left || [])[k], (series.right || [])[k]]))));
    return rows.map(row => row.map(quoted).join(",")).join("\n") + "\n";
  }

  function draw(figure) {
    const told = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const place = figure.querySelector(".chart"), panels = document.createElement("div");
    panels.className = "panels";
    place.append(panels);
    figure.classList.add("live");
    /* Where the first panel has the names for its row, it has the room for them too. */
    const shared = told.columns > 1 && !told.charts[1].y.named, lengths = told.charts[0].y.ticks.map(tick => tick[1].length);
    const names = shared ? 7 * Math.max(0, ...lengths) : 0, each = (panels.clientWidth - names) / told.columns;
    panels.style.gridTemplateColumns = Array.from({length: told.columns}, (_, n) => `minmax(0, ${n ? 1 : 1 + names / each}fr)`).join(" ");
    const made = told.charts.map(chart => panel(panels, told.columns, chart, figure.id, told.ratio * chart.height * told.columns));
    const tools = document.createElement("div");
    tools.className = "tools";
    const button = (name, act) => {
      const one = Object.assign(document.createElement("button"), {type: "button", textContent: name});
      one.addEventListener("click", act);
      tools.append(one);
    };
    button("Show all", () => made.forEach(one => one.whole()));
    button("Save as CSV", () => {
      const link = Object.assign(document.createElement("a"), {download: `${figure.id}.csv`});
      link.href = URL.createObjectURL(new Blob([table(told.charts)], {type: "text/csv"}));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    tools.append("Drag to zoom; click a name to hide or show it.");
    place.append(tools);
    return made;
  }

  const drawn = [];
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) {
      seen.unobserve(entry.target);
      drawn.push(...draw(entry.target));
    }
  }, {rootMargin: "600px"});
  document.querySelectorAll("figure:has(script[type='application/json'])").forEach(figure => seen.observe(figure));
  const again = () => { drawn.forEach(one => one.redraw()); repaint.forEach(one => one()); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  document.querySelector("#theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    again();
  });

  /* The claims of one verdict alone. */
  document.querySelectorAll(".counts button").forEach(button => button.addEventListener("click", () => {
    const only = button.getAttribute("aria-pressed") === "true" ? null : button.dataset.verdict;
    document.querySelectorAll(".counts button").forEach(one => one.setAttribute("aria-pressed", one.dataset.verdict === only));
    document.querySelectorAll(".claim").forEach(claim => { claim.hidden = only !== null && claim.dataset.verdict !== only; });
  }));
})();
