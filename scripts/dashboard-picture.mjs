// npm run pictures:dashboard: what the dashboard of the reference service shows of seven minutes of load, in which its
// database is away for half a minute. A real Prometheus scrapes the service and runs the rules; each panel is drawn from the dashboard's
// own queries, in its own place. Grafana itself is not among Debian's packages, so the lines are drawn here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build, buildService, install, root } from "./prepare.mjs";

const seconds = Number(process.env.PICTURE_SECONDS ?? 420);
/**
 * When the database goes away and comes back, as shares of the whole time: so early that the ratios of three days, which are
 * recorded every five minutes, know of it at the end.
 */
const away = { from: 0.2, to: 0.27 };
/** Requests a second, of which a quarter write. */
const rate = 60;
const step = 5;

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

install();
build();
buildService();
const { chromium } = createRequire(import.meta.url)("playwright-core");
const folder = mkdtempSync(join(tmpdir(), "opwright-dashboard-"));
const admin = new URL(
  process.env.OPWRIGHT_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres",
);

/** A door to the database that can be shut. */
const links = new Set();
let isShut = false;
const door = createServer((near) => {
  if (isShut) return near.destroy();
  const far = connect(Number(admin.port || 5432), admin.hostname);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ]) {
    links.add(one);
    one.pipe(other);
    one.on("error", () => one.destroy());
    one.on("close", () => {
      links.delete(one);
      other.destroy();
    });
  }
}).listen(0, "127.0.0.1");
await once(door, "listening");
function shut(value) {
  isShut = value;
  if (isShut) for (const link of links) link.destroy();
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function untilAnswered(url) {
  for (let tries = 0; tries < 300; tries += 1) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await sleep(100);
  }
  throw new Error(`${url} does not answer`);
}

const { Client } = createRequire(import.meta.url)("pg");
const client = new Client({ connectionString: admin.href });
await client.connect();
const database = `opwright_picture_${process.pid}`;
await client.query(`CREATE DATABASE ${database}`);

const [port, ofPrometheus] = [await freePort(), await freePort()];
const url = `http://127.0.0.1:${port}`;
const through = new URL(admin.href);
through.host = `127.0.0.1:${door.address().port}`;
through.pathname = database;
const env = {
  ...process.env,
  PORT: String(port),
  DATA_DIR: folder,
  DATABASE_URL: through.href,
  LOG_LEVEL: "error",
  METRICS: "on",
};
const run = (file) => spawn("node", [join(root, "dist/service", file)], { env, stdio: "ignore" });
const server = run("generated/server.js");
await untilAnswered(`${url}/readyz`);
await once(run("registry/demo/load.js"), "exit");

const monitoring = join(root, "generated/monitoring");
writeFileSync(
  join(folder, "prometheus.yaml"),
  JSON.stringify({
    global: { scrape_interval: `${step}s` },
    rule_files: [join(monitoring, "rules.yaml")],
    scrape_configs: [{ job_name: "tracker", static_configs: [{ targets: [new URL(url).host] }] }],
  }),
);
const prometheus = spawn(
  "prometheus",
  [
    `--config.file=${join(folder, "prometheus.yaml")}`,
    `--web.listen-address=127.0.0.1:${ofPrometheus}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
  ],
  { stdio: "ignore" },
);
const source = `http://127.0.0.1:${ofPrometheus}`;
await untilAnswered(`${source}/-/ready`);

const started = Date.now();
let ended = started;
try {
  await makeLoad();
  ended = Date.now();
  await draw();
} finally {
  for (const child of [server, prometheus]) child.kill("SIGTERM");
  await Promise.all([once(server, "exit"), once(prometheus, "exit")]);
  door.close();
  await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
  await client.end();
  rmSync(folder, { recursive: true, force: true });
}

/** Tasks are made, read, changed, listed and searched, some requests are wrong, and somebody signs in. */
async function makeLoad() {
  let token;
  const call = (method, path, body) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const said = async (answer) => (await answer).json();
  const login = { login: "bob@example.test", password: "correct horse battery staple" };
  /** Access tokens last five minutes. */
  const signIn = async () => {
    const answer = await call("POST", "/auth/login", login);
    if (answer.status !== 200) return;
    token = (await answer.json()).access_token;
    const [{ tenant_id: tenant }] = (await said(call("GET", "/tenants"))).tenants;
    token = (await said(call("POST", `/tenants/${tenant}/activate`))).access_token;
  };
  await signIn();
  const [{ id: project }] = (await said(call("POST", "/projects/list", {}))).hits;
  const ids = [];
  const some = (at) => ids[(at * 7) % Math.max(1, ids.length)];
  const kinds = [
    async (at) => {
      const made = await call("POST", "/tasks", { title: `Task ${at}`, project });
      if (made.status === 201) ids.push((await made.json()).id);
    },
    () => call("POST", "/tasks/query", { size: 20, sorts: { created_at: "desc" } }),
    (at) => call("GET", `/tasks/${some(at)}`),
    (at) => call("PATCH", `/tasks/${some(at)}?rev=1`, { title: `Task ${at}, again` }),
    () => call("POST", "/projects/list", {}),
    (at) => call("GET", `/tasks/${some(at)}`),
    () => call("POST", "/tasks/list_cursor", { size: 20 }),
    (at) => call("GET", `/projects/${at % 40 === 0 ? some(at) : project}`),
  ];
  const running = new Set();
  for (let at = 0; Date.now() - started < seconds * 1_000; at += 1) {
    const share = (Date.now() - started) / (seconds * 1_000);
    const wanted = share >= away.from && share < away.to;
    if (wanted !== isShut) shut(wanted);
    const kind = at % 1_200 === 1_199 ? signIn : kinds[at % kinds.length];
    const one = kind(at).catch(() => undefined);
    running.add(one);
    void one.finally(() => running.delete(one));
    const due = started + ((at + 1) * 1_000) / rate;
    await sleep(Math.max(0, due - Date.now()));
  }
  await Promise.all(running);
}

async function ask(path, query) {
  const answer = await fetch(`${source}/api/v1/${path}?${new URLSearchParams(query)}`);
  const { status, data, error } = await answer.json();
  if (status !== "success") throw new Error(`${query.query}: ${error}`);
  return data.result;
}

/** The series of a panel with their names; Grafana's interval is four scrapes at least. */
async function seriesOf({ type, targets }) {
  const all = await Promise.all(
    targets.map(async ({ expr, legendFormat = "" }) => {
      const query = expr.replaceAll("$__rate_interval", `${4 * step}s`);
      const [start, end] = [started / 1_000, ended / 1_000].map(String);
      const found =
        type === "stat"
          ? await ask("query", { query, time: end })
          : await ask("query_range", { query, start, end, step: String(step) });
      return found.map(({ metric, value, values = [value] }) => ({
        name: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_all, label) => metric[label] ?? ""),
        points: values
          .map(([time, text]) => [time - started / 1_000, Number(text)])
          .filter(([, number]) => Number.isFinite(number)),
      }));
    }),
  );
  return all.flat();
}

async function draw() {
  const dashboard = JSON.parse(readFileSync(join(monitoring, "dashboard.json"), "utf8"));
  const panels = [];
  for (const panel of dashboard.panels) panels.push(panelHtml(panel, await seriesOf(panel)));
  const browser = await chromium.launch({
    executablePath: process.env.OPWRIGHT_TEST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.setContent(pageHtml(dashboard.title, panels));
  await page.screenshot({
    path: join(root, "docs/pictures/dashboard.jpg"),
    type: "jpeg",
    quality: 80,
    fullPage: true,
  });
  await browser.close();
}

function pageHtml(title, panels) {
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
  </style><h1>${escaped(title)}</h1><main>${panels.join("")}</main>`;
}

function panelHtml({ title, type, gridPos, fieldConfig }, series) {
  const { unit, thresholds } = fieldConfig.defaults;
  const place = `grid-column: ${gridPos.x + 1} / span ${gridPos.w}; grid-row: ${gridPos.y + 1} / span ${gridPos.h}`;
  const content = type === "stat" ? numberHtml(series, unit, thresholds) : graphHtml(series, unit);
  return `<section style="${place}"><h2>${escaped(title)}</h2>${content}</section>`;
}

function numberHtml([first], unit, { steps }) {
  const value = first?.points.at(-1)?.[1];
  if (value === undefined) return "<b>No data</b>";
  const { color } = steps.findLast((one) => one.value === null || value >= one.value);
  const shades = { red: "#a8233f", yellow: "#8a6d00", green: "#1b7f5c" };
  return `<b style="color: ${shades[color]}">${printed(value, unit)}</b>`;
}

function graphHtml(series, unit) {
  const [width, height, left] = [600, 190, 62];
  const top = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1;
  const [length, bottom] = [(ended - started) / 1_000, height - 18];
  const x = (time) => left + (time / length) * (width - left - 24);
  const y = (value) => bottom - (value / (top * 1.05)) * (bottom - 6);
  const levels = [0, 0.5, 1].map((share) => share * top);
  const grid = levels.map(
    (level) =>
      `<path d="M${left} ${y(level)}H${width - 8}" stroke="#d9dde3"/><text x="${left - 6}" y="${y(level) + 4}" text-anchor="end" font-size="11" fill="#545d6a">${printed(level, unit)}</text>`,
  );
  const times = [];
  for (let time = 0; time <= length; time += 60)
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
