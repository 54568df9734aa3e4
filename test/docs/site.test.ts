// The documentation as a site: it builds without a dead link, works without a network, is searched, and axe finds nothing.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { overflowOf, violationsOf } from "../support/page-checks.js";

const repository = new URL("../..", import.meta.url).pathname;
const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".jpg": "image/jpeg",
  ".woff2": "font/woff2",
};

describe.skipIf(!hasBrowser)("the site", () => {
  const folder = mkdtempSync(join(tmpdir(), "opwright-site-"));
  let server: Server;
  let browser: Browser;
  let url = "";
  beforeAll(async () => {
    const vitepress = createRequire(import.meta.url).resolve("vitepress/package.json");
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(vitepress, "../bin/vitepress.js"), "build", "site", "--outDir", folder],
      { cwd: repository, encoding: "utf8" },
    );
    expect([status, status === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
    server = createServer((req, res) => {
      const [path = "/"] = (req.url ?? "/").split("?");
      const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
        return res.writeHead(404).end();
      return res
        .writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" })
        .end(readFileSync(file));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await openBrowser();
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("programs find each page as Markdown, from llms.txt on", async () => {
    const index = await (await fetch(`${url}/llms.txt`)).text();
    const paths = [...index.matchAll(/\]\((\S+\.md)\)/g)].map(([, path]) => path ?? "");
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const answer = await fetch(`${url}/${path}`);
      expect([path, answer.status, (await answer.text()).slice(0, 2)]).toEqual([path, 200, "# "]);
    }
  });

  test.each([
    ["/", "light"],
    ["/", "dark"],
    ["/docs/registry.html", "light"],
    ["/docs/pages.html", "dark"],
  ] as const)(
    "%s in %s fits a phone, and axe finds nothing",
    async (path, colorScheme) => {
      for (const width of [390, 1280]) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
        await page.goto(`${url}${path}`);
        await page.waitForSelector("main h1");
        expect([width, await overflowOf(page)]).toEqual([width, 0]);
        const found = await violationsOf(page);
        // The theme's button is called "Search", and also shows the keys for it.
        const others = found.filter(
          (text) => !/^label-content-name-mismatch: <button[^>]*DocSearch/.test(text),
        );
        expect([width, others]).toEqual([width, []]);
        await page.close();
      }
    },
    60_000,
  );

  test("it finds a word, and asks nobody else", async () => {
    const page = await browser.newPage();
    const origins = new Set<string>();
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    await page.goto(`${url}/`);
    await page.click(".VPNavBarSearch button");
    await page.fill(".VPLocalSearchBox input", "redrive");
    await page.waitForSelector(".VPLocalSearchBox .result");
    await page.keyboard.press("Enter");
    await page.waitForURL(/docs\//);
    expect([...origins]).toEqual([url]);
    await page.close();
  }, 60_000);
});
