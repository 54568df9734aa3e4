// A front end that only knows the packed client, built by Vite, on an origin of its own, in a real browser.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { build, preview, type PreviewServer } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { password, peopleOf, type Member, type People } from "../support/people.js";
import { startTestService, type TestService } from "../support/service.js";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { engines } from "../support/engines.js";
import { installPackedClient } from "../support/packed-client.js";

const [sqlite] = engines;
const root = new URL("../..", import.meta.url).pathname;

/** Installs the packed client beside the front end, and builds it. */
async function built(folder: string): Promise<PreviewServer> {
  cpSync(join(root, "test/browser/board"), folder, { recursive: true });
  rmSync(join(folder, "tsconfig.json"));
  await installPackedClient(folder);
  const quiet = { root: folder, configFile: false, logLevel: "warn" } as const;
  await build(quiet);
  return preview({ ...quiet, preview: { host: "127.0.0.1", port: 0, strictPort: false } });
}

describe.skipIf(!hasBrowser)("a front end on the client", () => {
  const folder = mkdtempSync(join(tmpdir(), "opwright-board-"));
  let site: PreviewServer;
  let origin = "";
  let service: TestService;
  let people: People;
  let browser: Browser;
  let ann: Member;
  let ben: Member;
  let project = "";
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    site = await built(folder);
    origin = new URL(site.resolvedUrls?.local[0] ?? "").origin;
    service = await startTestService(sqlite, {
      signsIn: false,
      environment: { CORS_ORIGINS: origin },
    });
    people = peopleOf(service);
    const may = ["tasks", "projects", "files"].flatMap((of) => [`${of}.read`, `${of}.write`]);
    ann = await people.member("", ...may);
    ben = await people.member(ann.tenantId, ...may);
    const made = await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
    project = made.body.id;
    browser = await openBrowser();
  }, 120_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A browser of somebody's, with tabs; what goes wrong in one fails the test. */
  const browserOf = async () => {
    const context = await browser.newContext();
    contexts.push(context);
    const faults: string[] = [];
    const sockets: string[] = [];
    return {
      faults,
      sockets,
      tab: async (): Promise<Page> => {
        const page = await context.newPage();
        page.on("pageerror", (error) => faults.push(error.message));
        page.on("websocket", (socket) => sockets.push(socket.url()));
        await page.goto(`${origin}/?api=${encodeURIComponent(service.url)}`);
        return page;
      },
    };
  };
  const signIn = async (page: Page, who: Member): Promise<void> => {
    await page.fill("#login", who.login);
    await page.fill("#password", password);
    await page.click("#sign-in button");
    await isLive(page);
  };
  const isLive = (page: Page): Promise<void> =>
    expect.poll(() => page.textContent("#status"), { timeout: 15_000 }).toBe("open");
  const titles = (page: Page): Promise<string[]> =>
    page.$$eval("#tasks li input", (inputs) =>
      inputs.map((one) => (one as unknown as { readonly value: string }).value),
    );
  const add = async (page: Page, title: string): Promise<void> => {
    await page.fill("#title", title);
    await page.click("#add button");
    await expect.poll(() => titles(page)).toContain(title);
  };

  test("signs in, adds, filters, and tells a wrong password by its code", async () => {
    const { tab, faults } = await browserOf();
    const page = await tab();
    await page.fill("#login", ann.login);
    await page.fill("#password", "not hers");
    await page.click("#sign-in button");
    await expect.poll(() => page.textContent("#message")).toBe("core.authentication");
    await signIn(page, ann);
    await add(page, "red apple");
    await add(page, "green apple");
    await add(page, "pear");
    await page.fill("#words", "apple");
    await page.click("#filter button");
    await expect.poll(() => titles(page)).toEqual(["red apple", "green apple"]);
    await page.selectOption("#state", "done");
    await page.click("#filter button");
    await expect.poll(() => titles(page)).toEqual([]);
    expect(faults).toEqual([]);
  }, 60_000);

  test("a title that somebody else has changed is told of, and shown, not lost", async () => {
    const { tab, faults } = await browserOf();
    const page = await tab();
    await signIn(page, ann);
    await add(page, "contested");
    const task = await people.as(ann.token, "POST", "/tasks/query", {
      filters: { $values: { title: "contested" } },
    });
    const [{ id, rev }] = task.body.hits;
    // He is quicker: his change arrives while hers is on its way.
    let isFirst = true;
    await page.route(`**/tasks/${id}?*`, async (route) => {
      if (isFirst) await people.as(ben.token, "PATCH", `/tasks/${id}?rev=${rev}`, { title: "his" });
      isFirst = false;
      await route.continue();
    });
    const field = page.locator(`[id="${id}"] input`);
    await field.fill("hers");
    await field.blur();
    await expect.poll(() => page.textContent("#message")).toBe("historical_consistency_violation");
    await expect.poll(() => field.inputValue()).toBe("his");
    // A change that follows from what is there is made again on what is there then.
    await page.locator(`[id="${id}"] button`).click();
    await expect.poll(() => page.locator(`[id="${id}"] button`).textContent()).toBe("doing");
    expect(faults).toEqual([]);
  }, 60_000);

  test("two tabs share one connection, which outlives the tab that had it, and a restart", async () => {
    const { tab, faults, sockets } = await browserOf();
    const first = await tab();
    await signIn(first, ann);
    const second = await tab();
    await isLive(second);
    const board = `${service.url.replace("http", "ws")}/realtime/ws`;
    expect(sockets.filter((url) => url.startsWith(board)).length).toBe(1);
    const seen = async (title: string): Promise<void> => {
      const { status } = await people.as(ben.token, "POST", "/tasks", { title, project });
      expect(status).toBe(201);
      for (const page of [first, second])
        if (!page.isClosed())
          await expect.poll(() => titles(page), { timeout: 15_000 }).toContain(title);
    };
    await seen("by both");
    // The tab that follows talks through the one that leads.
    await second.fill("#text", "from the second");
    await second.click("#comment button");
    await expect.poll(() => second.textContent("#message")).toBe("commented: from the second");
    for (const page of [first, second])
      await expect.poll(() => page.locator("#heard li").count()).toBeGreaterThan(0);

    await first.close();
    await expect.poll(() => sockets.filter((url) => url.startsWith(board)).length).toBe(2);
    await isLive(second);
    await second.waitForTimeout(300);
    await seen("by who is left");

    await service.restart(500);
    await expect
      .poll(() => sockets.filter((url) => url.startsWith(board)).length, { timeout: 20_000 })
      .toBeGreaterThan(2);
    await isLive(second);
    await seen("after the restart");
    expect(faults).toEqual([]);
  }, 90_000);

  test("a tab that is put aside leaves the connection to the others, and hears on when it is back", async () => {
    const { tab, faults, sockets } = await browserOf();
    const aside = await tab();
    await signIn(aside, ann);
    const other = await tab();
    await isLive(other);
    // What a browser says when it keeps a page for going back to.
    const tell = (name: "pagehide" | "pageshow"): Promise<unknown> =>
      aside.evaluate(
        `dispatchEvent(new PageTransitionEvent(${JSON.stringify(name)}, { persisted: true }))`,
      );
    const made = async (title: string): Promise<void> => {
      const task = { title, project, assignee: ann.id };
      const { status } = await people.as(ben.token, "POST", "/tasks", task);
      expect(status).toBe(201);
      await expect.poll(() => titles(other), { timeout: 15_000 }).toContain(title);
    };
    /** What is kept for her: no tab may miss it. */
    const assigned = (page: Page): Promise<number> =>
      page.locator("#heard li", { hasText: "task.assigned" }).count();
    await tell("pagehide");
    await expect.poll(() => sockets.length).toBe(2);
    await isLive(other);
    await other.waitForTimeout(300);
    await made("while it was away");
    expect(await titles(aside)).not.toContain("while it was away");

    await tell("pageshow");
    await isLive(aside);
    await other.waitForTimeout(300);
    await made("when it is back");
    await expect.poll(() => titles(aside), { timeout: 15_000 }).toContain("when it is back");
    for (const page of [aside, other])
      await expect.poll(() => assigned(page), { timeout: 5_000 }).toBe(2);
    expect(sockets.length).toBe(2);

    // The same over a reload: what it had handled is its own.
    const url = aside.url();
    await other.waitForTimeout(1_500);
    await aside.goto("about:blank");
    await made("while it was elsewhere");
    await aside.goto(url);
    await isLive(aside);
    await expect.poll(() => assigned(aside), { timeout: 5_000 }).toBe(1);
    await expect.poll(() => assigned(other)).toBe(3);
    expect(faults).toEqual([]);
  }, 60_000);

  test("an upload that was stopped goes on after a reload", async () => {
    const { tab, faults } = await browserOf();
    const page = await tab();
    await signIn(page, ann);
    const bytes = Buffer.alloc(22 * 1024 * 1024, "board");
    const file = { name: "large.bin", mimeType: "application/octet-stream", buffer: bytes };
    const progress = (): Promise<string> =>
      page.$eval("#progress", (one) => one.getAttribute("data-log") ?? "");
    await page.setInputFiles("#file", file);
    await page.click("#upload button");
    await expect.poll(progress, { timeout: 20_000, interval: 5 }).toMatch(/ 23/);
    await page.click("#stop");
    await expect.poll(() => page.textContent("#message")).toBe("client.aborted");

    await page.reload();
    await isLive(page);
    await page.setInputFiles("#file", file);
    await page.click("#upload button");
    await expect
      .poll(() => page.textContent("#uploaded"), { timeout: 20_000 })
      .toBe(`board/large.bin ${bytes.length}`);
    // What had gone up before counted from the beginning.
    expect(Number((await progress()).trim().split(" ")[0])).toBeGreaterThanOrEqual(23);
    const stored = await fetch(`${service.url}/files/board/large.bin`, {
      headers: { authorization: `Bearer ${ann.token}` },
    });
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
    expect(faults).toEqual([]);
  }, 90_000);
});
