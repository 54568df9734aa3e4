// The panels of a dashboard of Grafana as a page: numbers, and graphs over time, each in its place.

const colours = [
  "#2748c9",
  "#b4541a",
  "#1b7f5c",
  "#8a3ab9",
  "#a8233f",
  "#5b6470",
  "#0f7f93",
  "#8a6d00",
  "#c2379a",
  "#4b7f1b",
];

/**
 * The page of a dashboard. Of each panel it gets the series: their names, and their points as seconds since the beginning
 * with a value each.
 */
export function dashboardHtml({ title, panels }, seriesOfAll, seconds) {
  const drawn = panels.map((panel, at) => panelHtml(panel, seriesOfAll[at], seconds));
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; padding: 16px; background: #f4f5f7; color: #1a1f27; font: 12px system-ui, sans-serif; }
    h1 { font-size: 18px; margin: 0 0 12px; }
    main { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 30px; gap: 8px; }
    section { background: #fff; border: 1px solid #d9dde3; border-radius: 6px; padding: 8px 10px; overflow: hidden; display: flex; flex-direction: column; }
    h2 { font-size: 12.5px; margin: 0 0 4px; }
    b { font-size: 30px; margin: auto; }
    svg { flex: 1; min-height: 0; width: 100%; }
    ul { display: flex; flex-wrap: wrap; gap: 0 12px; list-style: none; margin: 0; padding: 0; color: #545d6a; font-size: 10.5px; max-height: 28px; overflow: hidden; }
    i { display: inline-block; width: 8px; height: 8px; border-radius: 4px; margin-right: 4px; }
  </style><h1>${escaped(title)}</h1><main>${drawn.join("")}</main>`;
}

function panelHtml({ title, type, gridPos, fieldConfig }, series, seconds) {
  const { unit, thresholds } = fieldConfig.defaults;
  const place = `grid-column: ${gridPos.x + 1} / span ${gridPos.w}; grid-row: ${gridPos.y + 1} / span ${gridPos.h}`;
  const content =
    type === "stat" ? numberHtml(series, unit, thresholds) : graphHtml(series, unit, seconds);
  return `<section style="${place}"><h2>${escaped(title)}</h2>${content}</section>`;
}

function numberHtml([first], unit, { steps }) {
  const value = first?.points.at(-1)?.[1];
  if (value === undefined) return "<b>No data</b>";
  const { color } = steps.findLast((one) => one.value === null || value >= one.value);
  const shades = { red: "#a8233f", yellow: "#8a6d00", green: "#1b7f5c" };
  return `<b style="color: ${shades[color]}">${printed(value, unit)}</b>`;
}

function graphHtml(series, unit, seconds) {
  const [width, height, left] = [600, 190, 62];
  const top = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1;
  const bottom = height - 18;
  const x = (time) => left + (time / seconds) * (width - left - 24);
  const y = (value) => bottom - (value / (top * 1.05)) * (bottom - 6);
  const levels = [0, 0.5, 1].map((share) => share * top);
  const grid = levels.map(
    (level) =>
      `<path d="M${left} ${y(level)}H${width - 8}" stroke="#d9dde3"/><text x="${left - 6}" y="${y(level) + 4}" text-anchor="end" font-size="11" fill="#545d6a">${printed(level, unit)}</text>`,
  );
  const times = [];
  for (let time = 0; time <= seconds; time += 60)
    times.push(
      `<text x="${x(time)}" y="${height - 4}" text-anchor="middle" font-size="11" fill="#545d6a">${time / 60} min</text>`,
    );
  const lines = series.map(({ points }, at) => {
    const path = points.map(([time, value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`);
    return `<path d="M${path.join("L")}" fill="none" stroke="${colours[at % colours.length]}" stroke-width="1.6"/>`;
  });
  const names = series.map(
    ({ name }, at) =>
      `<li><i style="background: ${colours[at % colours.length]}"></i>${escaped(name)}</li>`,
  );
  return `<svg viewBox="0 0 ${width} ${height}">${grid.join("")}${times.join("")}${lines.join("")}</svg><ul>${names.join("")}</ul>`;
}

function printed(value, unit) {
  const short = (number) => String(Number(number.toPrecision(3)));
  if (unit === "percentunit") return `${(value * 100).toFixed(3)} %`;
  if (unit === "bytes") return `${short(value / 2 ** 20)} MiB`;
  if (unit === "s") return value < 1 ? `${short(value * 1_000)} ms` : `${short(value)} s`;
  return unit === "reqps" ? `${short(value)}/s` : short(value);
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
