// What people open first: the reference of the reference service beside other viewers of OpenAPI documents, each with the
// same document, in the same Chromium.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { amount, execute, freePort, leaveOut, median, repository, serve, table } from "./tools.mjs";

const rounds = amount(3, 1);
const require = createRequire(import.meta.url);
const chromium = process.env.OPWRIGHT_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** Each with its package and files, the page that shows a document, and the licence. */
const peers = [
  {
    name: "Swagger UI",
    package: "swagger-ui-dist@5.35.0",
    files: ["swagger-ui-bundle.js", "swagger-ui.css"],
    body: '<div id="ui"></div>',
    script: 'SwaggerUIBundle({ url: "/openapi.json", domNode: document.getElementById("ui") });',
  },
  {
    name: "Scalar",
    package: "@scalar/api-reference@1.76.0",
    files: ["dist/browser/standalone.js"],
    body: '<div id="ui"></div>',
    script:
      'Scalar.createApiReference("#ui", { url: "/openapi.json", withDefaultFonts: false, telemetry: false });',
  },
  {
    name: "Redoc",
    package: "redoc@3.0.1",
    files: ["bundles/redoc.standalone.js"],
    body: '<redoc spec-url="/openapi.json"></redoc>',
    script: "",
  },
  {
    name: "Stoplight Elements",
    package: "@stoplight/elements@9.0.25",
    files: ["web-components.min.js", "styles.min.css"],
    body: '<elements-api apiDescriptionUrl="/openapi.json" router="hash"></elements-api>',
    script: "",
  },
  {
    name: "RapiDoc",
    package: "rapidoc@9.3.8",
    files: ["dist/rapidoc-min.js"],
    body: '<rapi-doc spec-url="/openapi.json"></rapi-doc>',
    script: "",
  },
];

const closed =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'";

export async function run() {
  if (!existsSync(chromium)) {
    leaveOut("pages: there is no Chromium");
    return;
  }
  const { chromium: browsers } = require("playwright-core");
  const browser = await browsers.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const own = await serve([join(repository, "dist/service/generated/server.js")], `${url}/livez`, {
    cwd: repository,
    env: {
      ...process.env,
      PORT: String(port),
      LOG_LEVEL: "error",
      DATA_DIR: join(repository, "node_modules/.cache/opwright-bench-pages/data"),
    },
  });
  const rows = [];
  const add = async (name, at) => {
    const { kilobytes, painted, readable, violations, blocked, foreign, wide } = await look(
      browser,
      at,
    );
    rows.push([
      name,
      kilobytes.toFixed(0),
      Number.isNaN(painted) ? "" : `${painted.toFixed(0)} ms`,
      `${readable.toFixed(0)} ms`,
      blocked === 0 ? "holds" : `${blocked} refused`,
      String(foreign),
      String(violations),
      wide === 0 ? "fits" : `${wide} px too wide`,
    ]);
  };
  await add("opwright", { open: `${url}/docs#tasks.create`, closed: `${url}/docs#tasks.create` });
  for (const peer of peers) {
    const served = await servePeer(peer);
    await add(peer.name, { open: `${served.url}/`, closed: `${served.url}/closed` });
    served.close();
  }
  await browser.close();
  await own.stop();
  table(
    [
      "reference",
      "KB, gzip",
      "first paint",
      "readable",
      "closed policy",
      "requests elsewhere",
      "axe",
      "390 px",
    ],
    rows,
  );
}

/** Serves a viewer with our document; `/closed` is the same under a policy without exceptions. */
async function servePeer({ name, package: wanted, files, body, script }) {
  const folder = join(repository, "node_modules/.cache/opwright-bench-pages", name);
  if (!existsSync(join(folder, "package"))) {
    mkdirSync(folder, { recursive: true });
    const packed = execute("npm", ["pack", wanted, "--silent"], { cwd: folder }).trim();
    execute("tar", ["xzf", packed.split("\n").at(-1)], { cwd: folder });
  }
  const kept = new Map(
    files.map((file) => [`/${file}`, readFileSync(join(folder, "package", file))]),
  );
  kept.set("/start.js", Buffer.from(script));
  kept.set("/openapi.json", readFileSync(join(repository, "generated/openapi.json")));
  const links = files.map((file) =>
    file.endsWith(".css")
      ? `<link rel="stylesheet" href="/${file}">`
      : `<script src="/${file}" defer></script>`,
  );
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${name}</title>${links.join("")}<script src="/start.js" defer></script><body>${body}</body></html>`;
  const types = { ".css": "text/css", ".js": "text/javascript", json: "application/json" };
  const server = createServer((req, res) => {
    const [path] = req.url.split("?");
    const isClosed = path === "/closed";
    const text = kept.get(path) ?? (path === "/" || isClosed ? Buffer.from(page) : undefined);
    if (text === undefined) return res.writeHead(404).end();
    const type = Object.entries(types).find(([ending]) => path.endsWith(ending))?.[1];
    res
      .writeHead(200, {
        "content-type": type ?? "text/html",
        "content-encoding": "gzip",
        ...(isClosed ? { "content-security-policy": closed } : {}),
      })
      .end(gzipSync(text));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => server.close(() => undefined),
  };
}

/** Opens a page a few times; the medians, and what is wrong with it. */
async function look(browser, { open, closed: strict }) {
  const results = [];
  for (let round = 0; round < rounds; round += 1) results.push(await lookOnce(browser, open));
  const blocked = await refusals(browser, strict);
  const [{ kilobytes, foreign, violations }] = results;
  return {
    kilobytes,
    foreign,
    violations,
    blocked,
    painted: median(results.map(({ painted }) => painted)),
    readable: median(results.map(({ readable }) => readable)),
    wide: await overflow(browser, open),
  };
}

async function lookOnce(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const sizes = [];
  let foreign = 0;
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(url).origin) foreign += 1;
  });
  page.on("response", (response) => {
    if (!/\.(?:js|css)(?:\?|$)/.test(response.url())) return;
    sizes.push(response.body().then((body) => gzipSync(body).length));
  });
  const started = performance.now();
  await page.goto(url);
  // The name of an operation, or of its namespace where operations are folded away.
  await page.getByText(/tasks/i).locator("visible=true").first().waitFor({ timeout: 60_000 });
  const readable = performance.now() - started;
  const painted = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await context.close();
  const violations = await violationsOf(browser, url);
  return { kilobytes: bytes / 1_000, painted, readable, violations, foreign };
}

/** Rules that axe finds broken. Our own policy forbids axe, so it is let in here. */
async function violationsOf(browser, url) {
  const context = await browser.newContext({ bypassCSP: true });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText(/tasks/i).locator("visible=true").first().waitFor({ timeout: 60_000 });
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const count = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(globalThis.document);
    return violations.length;
  });
  await context.close();
  return count;
}

/** How often a page without exceptions in its policy does what that refuses. */
async function refusals(browser, url) {
  const page = await browser.newPage();
  let refused = 0;
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) refused += 1;
  });
  await page.goto(url);
  await page.waitForTimeout(3_000);
  await page.close();
  return refused;
}

/** Pixels by which a page is wider than a phone. */
async function overflow(browser, url) {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(url);
  await page.getByText(/tasks/i).first().waitFor({ timeout: 60_000, state: "attached" });
  await page.waitForTimeout(1_000);
  const wide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = globalThis.document.documentElement;
    return scrollWidth - clientWidth;
  });
  await page.close();
  return wide;
}
