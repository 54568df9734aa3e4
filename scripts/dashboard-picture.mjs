// npm run pictures:dashboard: what the dashboard of the reference service shows of seven minutes of load, in which its
// database is away for half a minute. A real Prometheus scrapes the service and runs the rules; each panel is drawn from the
// dashboard's own queries. Grafana itself is not among Debian's packages, so the lines are drawn here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onEngine } from "../test/bench/engines.mjs";
import { ending, execute, freePort, serve } from "../test/bench/tools.mjs";
import { openBrowser } from "./browser.mjs";
import { dashboardHtml } from "./dashboard-panels.mjs";
import { build, buildService, install, root } from "./prepare.mjs";

const seconds = Number(process.env.PICTURE_SECONDS ?? 420);
/**
 * When the database goes away and comes back, as shares of the whole time: so early that the ratios of three days, which are
 * recorded every five minutes, know of it at the end.
 */
const away = { from: 0.2, to: 0.27 };
/** Requests a second, of which a quarter write. */
const rate = 60;
/** Seconds between scrapes. */
const step = 5;
const monitoring = join(root, "generated/monitoring");

install();
build();
buildService();
await onEngine("postgres", takePicture);

async function takePicture(databaseUrl, folder) {
  const door = await openDoor(databaseUrl);
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...process.env,
    PORT: port,
    DATA_DIR: folder,
    DATABASE_URL: door.url,
    LOG_LEVEL: "error",
    METRICS: "on",
  };
  const service = join(root, "dist/service");
  const server = await serve([join(service, "generated/server.js")], `${url}/readyz`, { env });
  // This waits for it, so the door would be shut meanwhile.
  const direct = { ...env, DATABASE_URL: databaseUrl };
  execute("node", [join(service, "registry/demo/load.js")], { env: direct });
  const prometheus = await scrape(new URL(url).host, folder);
  const started = Date.now();
  await makeLoad(url, door.shut);
  const ended = Date.now();
  const dashboard = JSON.parse(readFileSync(join(monitoring, "dashboard.json"), "utf8"));
  const series = [];
  for (const panel of dashboard.panels)
    series.push(await seriesOf(prometheus.url, panel, started, ended));
  await Promise.all([server.stop(), prometheus.stop()]);
  door.close();
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.setContent(dashboardHtml(dashboard, series, (ended - started) / 1_000));
  const path = join(root, "docs/pictures/dashboard.jpg");
  await page.screenshot({ path, type: "jpeg", quality: 80, fullPage: true });
  await browser.close();
}

/** A way to a database that can be shut. */
async function openDoor(databaseUrl) {
  const url = new URL(databaseUrl);
  const [host, port] = [url.hostname, Number(url.port || 5432)];
  const links = new Set();
  let isShut = false;
  const server = createServer((near) => {
    if (isShut) return near.destroy();
    const far = connect(port, host);
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
  await once(server, "listening");
  url.host = `127.0.0.1:${server.address().port}`;
  return {
    url: url.href,
    shut(value) {
      isShut = value;
      if (isShut) for (const link of links) link.destroy();
    },
    close: () => server.close(),
  };
}

/** Starts a Prometheus that scrapes a service and runs the generated rules. */
async function scrape(target, folder) {
  const settings = {
    global: { scrape_interval: `${step}s` },
    rule_files: [join(monitoring, "rules.yaml")],
    scrape_configs: [{ job_name: "tracker", static_configs: [{ targets: [target] }] }],
  };
  writeFileSync(join(folder, "prometheus.yaml"), JSON.stringify(settings));
  const address = `127.0.0.1:${await freePort()}`;
  const child = ending(
    spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yaml")}`,
        `--web.listen-address=${address}`,
        `--storage.tsdb.path=${join(folder, "prometheus")}`,
      ],
      { stdio: "ignore" },
    ),
  );
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
    await sleep(50);
  }
  return {
    url: `http://${address}`,
    stop: () => new Promise((resolve) => child.on("exit", resolve).kill("SIGTERM")),
  };
}

/** Tasks are made, read, changed, listed and searched, some requests are wrong, and somebody signs in. */
async function makeLoad(url, setAway) {
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
  const started = Date.now();
  const running = new Set();
  for (let at = 0; Date.now() - started < seconds * 1_000; at += 1) {
    const share = (Date.now() - started) / (seconds * 1_000);
    setAway(share >= away.from && share < away.to);
    const kind = at % 1_200 === 1_199 ? signIn : kinds[at % kinds.length];
    const one = kind(at).catch(() => undefined);
    running.add(one);
    void one.finally(() => running.delete(one));
    const due = started + ((at + 1) * 1_000) / rate;
    await sleep(Math.max(0, due - Date.now()));
  }
  await Promise.all(running);
}

async function ask(source, path, query) {
  const answer = await fetch(`${source}/api/v1/${path}?${new URLSearchParams(query)}`);
  const { status, data, error } = await answer.json();
  if (status !== "success") throw new Error(`${query.query}: ${error}`);
  return data.result;
}

/** The series of a panel with their names; Grafana's interval is four scrapes at least. */
async function seriesOf(source, { type, targets }, started, ended) {
  const all = await Promise.all(
    targets.map(async ({ expr, legendFormat = "" }) => {
      const query = expr.replaceAll("$__rate_interval", `${4 * step}s`);
      const [start, end] = [started / 1_000, ended / 1_000].map(String);
      const found =
        type === "stat"
          ? await ask(source, "query", { query, time: end })
          : await ask(source, "query_range", { query, start, end, step: String(step) });
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
