// The demo's live board in two windows of a real browser, over each transport.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser } from "../../support/browser.js";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type Member } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;

describe.skipIf(!hasBrowser)("two windows", () => {
  let service: TestService;
  let browser: Browser;
  let ann: Member;
  let bob: Member;
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    browser = await openBrowser();
    const people = peopleOf(service);
    const may = ["tasks.read", "tasks.write", "projects.read", "projects.write"];
    ann = await people.member("", ...may);
    bob = await people.member(ann.tenantId, ...may);
    await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const open = async (login: string, transport: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${service.url}/demo/live`);
    await page.fill("#login", login);
    await page.fill("#password", password);
    await page.selectOption("#transport", transport);
    await page.click("#connect button");
    await expect
      .poll(() => page.textContent("#status"), { timeout: 10_000 })
      .toBe(`Connected over ${transport}`);
    expect(faults).toEqual([]);
    return page;
  };

  test.each(["websocket", "sse", "socketio"])(
    "over %s each sees what the other does",
    async (transport) => {
      const hers = await open(ann.login, transport);
      const his = await open(bob.login, transport);
      await expect.poll(() => hers.textContent("#people"), { timeout: 5_000 }).toBe("2 here");
      const title = `Shared over ${transport}`;
      await hers.fill("#title", title);
      await hers.click("#add button");
      const card = (page: Page, column: string) =>
        page.locator(`#${column} button`, { hasText: title });
      await expect.poll(() => card(his, "open").count()).toBe(1);
      await card(his, "open").click();
      await expect.poll(() => card(hers, "doing").count()).toBe(1);
      await card(hers, "doing").click();
      await expect.poll(() => card(his, "done").count()).toBe(1);
      await his.context().close();
      await expect.poll(() => hers.textContent("#people"), { timeout: 8_000 }).toBe("1 here");
      await hers.context().close();
    },
    40_000,
  );
});
