// Tabs that share a line where the leading one stands still: by an alert, a breakpoint, a loop. In a real browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../generated/service.js";
import { peopleOf, type Member, type People } from "../support/people.js";
import { startTestService, type TestService } from "../support/service.js";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { engines } from "../support/engines.js";

const [sqlite] = engines;
const root = new URL("../..", import.meta.url).pathname;

/** A page that hears a topic through the line that its browser's tabs share; the test reads what it has heard. */
async function pageScript(): Promise<string> {
  const contents = `
    import { createClient, tasks } from "./generated/client/index.js";
    import { connect, shareConnection, webSocket } from "./generated/client/realtime.js";
    const given = () => JSON.parse(localStorage.getItem("given"));
    const client = createClient({
      baseUrl: location.origin,
      tokens: {
        get: () => JSON.parse(localStorage.getItem("tokens")),
        set: (tokens) => localStorage.setItem("tokens", JSON.stringify(tokens)),
        caller: () => given().caller,
      },
    });
    const heard = [];
    const presence = [];
    const statuses = [];
    let opened = 0;
    const live = connect(client, {
      transport: shareConnection(webSocket()),
      topics: [given().topic],
      onStatus: (status) => { statuses.push(status); if (status === "open") opened += 1; },
    });
    live.listen(({ name, data }) => {
      if (name.startsWith("realtime.")) presence.push([name, data]);
      else heard.push(name + " " + (data.title ?? data.who ?? data.text));
    });
    globalThis.page = {
      heard, presence, statuses, live,
      opened: () => opened,
      comment: (task, text) => live.command("task.comment", { task, text }).settled()
        .then((settled) => settled.ok ? settled.data.text : settled.error.code),
      read: (id) => tasks.get(client, { id }).settled()
        .then((settled) => settled.ok ? settled.data.title : settled.error.code),
    };
  `;
  const built = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    format: "esm",
  });
  return built.outputFiles[0]?.text ?? "";
}

/** What the page offers to the test. */
interface Offered {
  readonly heard: string[];
  readonly presence: [string, { readonly principals?: string[]; readonly count: number }][];
  readonly opened: () => number;
  readonly comment: (task: string, text: string) => Promise<string>;
  readonly read: (id: string) => Promise<string>;
}

const offered = <Result>(page: Page, ask: (page: Offered) => Result): Promise<Awaited<Result>> =>
  page.evaluate(`(${String(ask)})(globalThis.page)`);

/** How a page stands still, and what lets it go on. */
const stalls: Readonly<Record<string, (page: Page) => Promise<() => Promise<void>>>> = {
  async "an alert"(page) {
    const shown = page.waitForEvent("dialog");
    page.on("dialog", () => undefined);
    void page.evaluate("alert('still')").catch(() => undefined);
    const dialog = await shown;
    return () => dialog.accept();
  },
  async "a breakpoint"(page) {
    const session = await page.context().newCDPSession(page);
    await session.send("Debugger.enable");
    const paused = new Promise<void>((resolve) => session.once("Debugger.paused", () => resolve()));
    void page.evaluate("(() => { debugger; })()").catch(() => undefined);
    await paused;
    return async () => {
      await session.send("Debugger.resume");
      await session.detach();
    };
  },
};

describe.skipIf(!hasBrowser)("tabs that share a line", () => {
  const folder = mkdtempSync(join(tmpdir(), "opwright-tabs-"));
  let service: TestService;
  let people: People;
  let browser: Browser;
  let ben: Member;
  const contexts: BrowserContext[] = [];
  const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    const script = await pageScript();
    service = await startTestService(sqlite, {
      definition: {
        ...reference,
        app: (req, res, next) => {
          if (req.url === "/tab")
            return res
              .setHeader("Content-Type", "text/html")
              .end(`<!doctype html><script type="module" src="/tab.js"></script>`);
          if (req.url === "/tab.js")
            return res.setHeader("Content-Type", "text/javascript").end(script);
          return reference.app?.(req, res, next);
        },
      },
      signsIn: false,
    });
    people = peopleOf(service);
    ben = await people.member("", ...may);
    browser = await openBrowser();
  }, 60_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A browser of somebody's with tabs, the first of which leads. */
  const browserOf = async () => {
    // A new device hears all that is kept for its owner.
    const ann = await people.member(ben.tenantId, ...may);
    const made = await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
    const project: string = made.body.id;
    const context = await browser.newContext();
    contexts.push(context);
    const session = await people.session(ann.id, ann.tenantId);
    const given = { topic: `project:${project}`, caller: ann.id };
    // Each tab runs it; a token that was renewed stays.
    await context.addInitScript(`
      localStorage.setItem("given", ${JSON.stringify(JSON.stringify(given))});
      if (localStorage.getItem("tokens") === null)
        localStorage.setItem("tokens", ${JSON.stringify(JSON.stringify(session))});
    `);
    const sockets: string[] = [];
    const tab = async (): Promise<Page> => {
      const page = await context.newPage();
      page.on("websocket", (socket) => sockets.push(socket.url()));
      await page.goto(`${service.url}/tab`);
      await expect.poll(() => offered(page, ({ opened }) => opened())).toBeGreaterThan(0);
      return page;
    };
    const assign = async (title: string): Promise<string> => {
      const task = { title, project, assignee: ann.id };
      const { status, body } = await people.as(ben.token, "POST", "/tasks", task);
      expect(status).toBe(201);
      return body.id;
    };
    return { tab, assign, sockets };
  };
  const heard = (page: Page): Promise<string[]> => offered(page, (one) => one.heard);

  test("a tab that joins an open line is told who is there", async () => {
    const { tab, sockets } = await browserOf();
    await tab();
    const second = await tab();
    await expect
      .poll(() => offered(second, ({ presence }) => presence[0]))
      .toMatchObject(["realtime.presence", { count: 1 }]);
    expect(sockets).toHaveLength(1);
  });

  test.each(Object.entries(stalls))(
    "another one takes over within 5 s from one that %s holds, and nothing is heard twice",
    async (_how, stall) => {
      const { tab, assign, sockets } = await browserOf();
      const [first, second, third] = [await tab(), await tab(), await tab()];
      const before = await assign("before");
      for (const page of [first, second, third])
        await expect.poll(() => heard(page)).toContain("task.assigned before");
      const presences = await offered(second, ({ presence }) => presence.length);

      const goesOn = await stall(first);
      // What is asked of the tab that stands still is answered by the one that takes over.
      const answer = second.evaluate<string>(
        `globalThis.page.comment(${JSON.stringify(before)}, "meanwhile")`,
      );
      await assign("while it stands");
      for (const page of [second, third])
        await expect
          .poll(() => heard(page), { timeout: 10_000 })
          .toContain("task.assigned while it stands");
      expect(sockets).toHaveLength(2);
      expect(["meanwhile", "client.network"]).toContain(await answer);
      await expect
        .poll(() => offered(second, ({ presence }) => presence.length))
        .toBeGreaterThan(presences);
      await expect.poll(() => offered(third, ({ presence }) => presence.at(-1)?.[1].count)).toBe(1);

      await goesOn();
      await assign("once it is back");
      for (const page of [first, second, third])
        await expect
          .poll(() => heard(page), { timeout: 10_000 })
          .toContain("task.assigned once it is back");
      const assigned = ["before", "while it stands", "once it is back"].map(
        (title) => `task.assigned ${title}`,
      );
      for (const page of [first, second, third])
        expect((await heard(page)).filter((one) => one.startsWith("task.assigned"))).toEqual(
          assigned,
        );
      // One line for all of them, as before.
      expect(sockets).toHaveLength(2);
    },
    60_000,
  );

  test("one that stands still with the lock around the refresh holds no other up", async () => {
    const { tab, assign } = await browserOf();
    const [first, second] = [await tab(), await tab()];
    const id = await assign("to be read");
    const lock = `opwright refresh ${service.url}`;
    void first
      .evaluate(`navigator.locks.request(${JSON.stringify(lock)}, () => new Promise(() => {}))`)
      .catch(() => undefined);
    await expect
      .poll(() =>
        second.evaluate("navigator.locks.query().then(({ held }) => held.map(({ name }) => name))"),
      )
      .toContain(lock);
    await second.evaluate(`localStorage.setItem("tokens", JSON.stringify({
      ...JSON.parse(localStorage.getItem("tokens")), access_token: "expired",
    }))`);
    const read = second.evaluate<string>(`globalThis.page.read(${JSON.stringify(id)})`);
    expect(await read).toBe("to be read");
  }, 30_000);
});
