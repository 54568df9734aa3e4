// Draws the charts of docs/bench.md from its tables, so that both say the same. Both axes are logarithmic: what grows in
// proportion rises in a straight line, and what doesn't grow is level.
import { readFileSync } from "node:fs";
import { root } from "./prepare.mjs";

const width = 860;
const height = 340;
const frame = { left: 70, top: 46, right: 590, bottom: 290 };
const gap = 16;

/** What is drawn: rows of a section's table, one line for each name, along numbers in a column or in the heads. */
const charts = [
  {
    file: "growth-sqlite",
    title: "Milliseconds of a request on SQLite, while what is stored grows",
    across: "documents, signals of one mailbox, or objects",
    lines: (tables) => alongHeads(tables("growth"), (row) => row[0] === "sqlite", 1),
  },
  {
    file: "growth-postgres",
    title: "Milliseconds of a request on PostgreSQL, while what is stored grows",
    across: "documents, signals of one mailbox, or objects",
    lines: (tables) => alongHeads(tables("growth"), (row) => row[0] === "postgres", 1),
  },
  {
    file: "connections",
    title: "Resident megabytes of a process, while connections become more",
    across: "open connections",
    lines: (tables) => alongColumn(tables("connections"), 0, 1, 2),
  },
  {
    file: "operations",
    title: "What a registry takes, while its operations become more",
    across: "operations",
    lines: (tables) =>
      [
        [1, "generate, s"],
        [3, "tsc, s"],
        [4, "start, s", 1_000],
        [6, "a request, ms"],
      ].map(([column, name, by = 1]) => ({
        name,
        points: tables("operations").rows.map((row) => [
          numberOf(row[0]),
          numberOf(row[column]) / by,
        ]),
      })),
  },
];

const numberOf = (cell) => Number(cell.replaceAll(" ", "").replace(/,.*$/, ""));

/** One line for each row that is wanted, along the heads that are numbers. */
function alongHeads({ head, rows }, isWanted, nameAt) {
  const columns = head.flatMap((cell, at) =>
    /^[\d ]+, /.test(cell) ? [[at, numberOf(cell)]] : [],
  );
  return rows.filter(isWanted).map((row) => ({
    name: row[nameAt],
    points: columns.flatMap(([at, x]) => (row[at] === "" ? [] : [[x, Number(row[at])]])),
  }));
}

/** One line for each name, along a column. */
function alongColumn({ rows }, nameAt, xAt, yAt) {
  return [...new Set(rows.map((row) => row[nameAt]))].map((name) => ({
    name,
    points: rows
      .filter((row) => row[nameAt] === name)
      .map((row) => [numberOf(row[xAt]), numberOf(row[yAt])]),
  }));
}

/** The first table of a section of docs/bench.md. */
function tableOf(section) {
  const page = readFileSync(`${root}/docs/bench.md`, "utf8");
  const [, part = ""] = page.split(`\n## ${section}\n`);
  const lines = part.split("\n").slice(part.split("\n").findIndex((line) => line.startsWith("| ")));
  const end = lines.findIndex((line) => !line.startsWith("|"));
  const [head, , ...rows] = lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  if (head === undefined) throw new Error(`docs/bench.md has no table of ${section}`);
  return { head, rows };
}

const decades = (low, high) => {
  const first = Math.floor(Math.log10(low));
  return Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, at) => 10 ** (first + at),
  );
};

/** A scale from powers of ten to a place. */
function scaleOf(values, from, to) {
  const ticks = decades(Math.min(...values), Math.max(...values));
  const [low, high] = [Math.log10(ticks[0]), Math.log10(ticks.at(-1))];
  return {
    ticks,
    at: (value) => from + ((Math.log10(value) - low) / (high - low || 1)) * (to - from),
  };
}

const grouped = (number) => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, number >= 1 ? " " : "");
const place = (number) => String(Math.round(number * 10) / 10);

function draw({ title, across, lines: linesOf }) {
  const lines = linesOf(tableOf);
  const all = lines.flatMap(({ points }) => points);
  const x = scaleOf(
    all.map(([one]) => one),
    frame.left,
    frame.right,
  );
  const y = scaleOf(
    all.map(([, one]) => one),
    frame.bottom,
    frame.top,
  );
  const grid = [
    ...x.ticks.map((tick) => [
      `<path class="grid" d="M${place(x.at(tick))} ${frame.top}V${frame.bottom}" />`,
      `<text class="text" text-anchor="middle" x="${place(x.at(tick))}" y="${frame.bottom + 20}">${grouped(tick)}</text>`,
    ]),
    ...y.ticks.map((tick) => [
      `<path class="grid" d="M${frame.left} ${place(y.at(tick))}H${frame.right}" />`,
      `<text class="text" text-anchor="end" x="${frame.left - 10}" y="${place(y.at(tick) + 4)}">${grouped(tick)}</text>`,
    ]),
  ].flat();
  const labels = apart(lines.map(({ points }) => y.at(points.at(-1)[1])));
  const drawn = lines.flatMap(({ name, points }, at) => {
    const path = points
      .map(([one, other]) => `${place(x.at(one))} ${place(y.at(other))}`)
      .join("L");
    const [last, end] = points.at(-1).map((value, axis) => (axis === 0 ? x : y).at(value));
    return [
      `<path class="line c${at % 6}" d="M${path}" />`,
      ...points.map(
        ([one, other]) =>
          `<circle class="dot c${at % 6}" cx="${place(x.at(one))}" cy="${place(y.at(other))}" r="2.5" />`,
      ),
      `<path class="lead" d="M${place(last + 5)} ${place(end)}L${frame.right + 18} ${place(labels[at])}" />`,
      `<text class="text" x="${frame.right + 22}" y="${place(labels[at] + 4)}">${name}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t">
  <title id="t">${title}</title>
  <style>
    .head { font: 600 15px system-ui, sans-serif; fill: #1a1f27; }
    .text { font: 12px system-ui, sans-serif; fill: #545d6a; }
    .grid { stroke: #d9dde3; }
    .lead { stroke: #d9dde3; fill: none; }
    .line { fill: none; stroke-width: 2; }
    .dot { stroke: none; }
${palette(["#2748c9", "#b4541a", "#1b7f5c", "#8a3ab9", "#a8233f", "#5b6470"], "    ")}
    @media (prefers-color-scheme: dark) {
      .head { fill: #e6e9ee; }
      .text { fill: #a3acb9; }
      .grid, .lead { stroke: #2b313a; }
${palette(["#8ea6ff", "#f0a070", "#5fd0a5", "#cf9bf0", "#ff8fa3", "#b3bcc9"], "      ")}
    }
  </style>
  <text class="head" x="${frame.left}" y="24">${title}</text>
  ${grid.join("\n  ")}
  <text class="text" text-anchor="middle" x="${(frame.left + frame.right) / 2}" y="${frame.bottom + 42}">${across}</text>
  ${drawn.join("\n  ")}
</svg>
`;
}

function palette(colors, indent) {
  return colors
    .map(
      (color, at) =>
        `${indent}.line.c${at} { stroke: ${color}; }\n${indent}.dot.c${at} { fill: ${color}; }`,
    )
    .join("\n");
}

/** Places for labels near these, so far apart that each can be read. */
function apart(wanted) {
  const order = wanted.map((_one, at) => at).toSorted((one, other) => wanted[one] - wanted[other]);
  const places = [];
  let free = frame.top - 20;
  for (const at of order) {
    places[at] = Math.max(wanted[at], free);
    free = places[at] + gap;
  }
  // What was pushed below the frame goes up again, and pushes what is above it.
  let limit = frame.bottom;
  for (const at of order.toReversed()) {
    places[at] = Math.min(places[at], limit);
    limit = places[at] - gap;
  }
  return places;
}

/** Every chart by its file. */
export function drawCharts() {
  return Object.fromEntries(
    charts.map((chart) => [`docs/pictures/${chart.file}.svg`, draw(chart)]),
  );
}
