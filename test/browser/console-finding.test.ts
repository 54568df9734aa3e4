// Finding things in the console: by an id alone, by what an address keeps, and who has changed what.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { openConsole } from "../support/console-page.js";
import { engines } from "../support/engines.js";
import { peopleOf, type Member, type People } from "../support/people.js";
import { startTestService, type TestService } from "../support/service.js";

describe.skipIf(!hasBrowser)("finding things in the console", () => {
  let service: TestService;
  let browser: Browser;
  let people: People;
  let writer: Member;
  beforeAll(async () => {
    const [sqlite] = engines;
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    writer = await people.member("", "projects.admin", "tasks.read");
    await people.grant(null, writer.id, "platform.admin");
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const project = (key: string, name: string): Promise<string> =>
    people.by(writer.token).make("projects", { name, key });
  const open = (address: string) => openConsole(browser, service, writer.token, address);

  test("an id alone opens its document, also a deleted one; another says that nobody has it", async () => {
    const id = await project("IDS", "Known by its id");
    const page = await open("documents/tasks");
    await page.fill("#open", ` ${id.toUpperCase()} `);
    await page.press("#open", "Enter");
    await page.waitForSelector("h1 >> text=Known by its id");
    await people.as(writer.token, "POST", `/projects/${id}/delete?rev=1`);
    await page.goto(`${service.url}/console#documents/tasks`);
    await page.fill("#open", id);
    await page.press("#open", "Enter");
    await page.waitForSelector("main >> text=They are kept");
    await page.fill("#open", "0190aaaa-0000-7000-8000-000000000000");
    await page.press("#open", "Enter");
    await expect.poll(() => page.textContent("nav [role=alert]")).toContain("No document");
    await page.fill("#open", "Mercury");
    await page.press("#open", "Enter");
    await expect.poll(() => page.textContent("nav [role=alert]")).toContain("36 characters");
    await page.context().close();
  });

  test("a service that can't be asked is not taken for one that has no such document", async () => {
    const page = await open("documents/tasks");
    await page.route(/\/(?:tasks|projects)\/0190/, (route) => route.abort());
    await page.fill("#open", "0190aaaa-0000-7000-8000-000000000000");
    await page.press("#open", "Enter");
    await page.waitForSelector("nav [role=alert]", { timeout: 15_000 });
    expect(await page.textContent("nav [role=alert]")).not.toContain("No document");
    await page.context().close();
  });

  test("a list keeps what it shows in its address, and begins anew from the menu", async () => {
    await project("LISTA", "Listed first");
    const gone = await project("LISTB", "Listed and deleted");
    await people.as(writer.token, "POST", `/projects/${gone}/delete?rev=1`);
    const page = await open("documents/projects");
    const titles = () => page.locator("tbody td.title").allTextContents();
    await page.fill("#find", "listed");
    await page.press("#find", "Enter");
    await expect.poll(titles).toEqual(["Listed first"]);
    await page.check("#deleted");
    await expect.poll(titles).toEqual(["Listed and deleted"]);
    await page.click("tbody td.title a");
    await page.waitForSelector("h1 >> text=Listed and deleted");
    await page.goBack();
    await expect.poll(titles).toEqual(["Listed and deleted"]);
    expect(await page.inputValue("#find")).toBe("listed");
    const again = await open(new URL(page.url()).hash.slice(1));
    await expect.poll(() => again.locator("tbody td.title").allTextContents()).toHaveLength(1);
    await again.context().close();
    await page.click('nav[aria-label="Console"] >> text=projects');
    await expect.poll(() => page.inputValue("#find")).toBe("");
    expect(await page.isChecked("#deleted")).toBe(false);
    expect(page.url()).not.toContain("?");
    await page.context().close();
  });

  test("filters hold all together, or any of them, beside the words that are looked for", async () => {
    await project("MIXA", "Mixed one");
    await project("MIXB", "Mixed two");
    await project("MIXC", "Mixed three");
    const page = await open("documents/projects");
    const titles = () => page.locator("tbody td.title").allTextContents();
    await page.click("summary >> text=Filters");
    for (const key of ["MIXA", "MIXB"]) {
      await page.selectOption("#filter-member", "key");
      await page.fill("#filter-value", key);
      await page.click("text=Add filter");
    }
    await page.waitForSelector("main .empty");
    await page.selectOption("#filter-match", "any");
    await expect.poll(async () => (await titles()).toSorted()).toEqual(["Mixed one", "Mixed two"]);
    await page.fill("#find", "two");
    await page.press("#find", "Enter");
    await expect.poll(titles).toEqual(["Mixed two"]);
    await page.context().close();
  });

  test.each(['{"conditions":5}', '{"sort":{"member":"nothing"}}', "{", '{"words":7}'])(
    "an address with %s shows the list as at first",
    async (text) => {
      const page = await open(`documents/projects?list=${encodeURIComponent(text)}`);
      await page.waitForSelector("#find");
      expect(await page.inputValue("#find")).toBe("");
      expect(await page.locator("[role=alert]").count()).toBe(0);
      await page.context().close();
    },
  );

  test("a revision says who made it, and what has not changed can't be saved", async () => {
    const id = await project("WHO", "Made by me");
    const other = await people.member(writer.tenantId, "projects.admin");
    await people.as(other.token, "PATCH", `/projects/${id}?rev=1`, { name: "Changed by them" });
    const page = await open(`documents/projects/${id}`);
    const revisions = page.locator("#revisions ~ ul > li");
    await expect.poll(() => revisions.nth(1).textContent()).toContain("by you");
    expect(await revisions.nth(0).textContent()).toContain(other.id.slice(-8));
    const save = page.locator('button:has-text("Save")');
    expect(await save.isDisabled()).toBe(true);
    await page.fill("#member-name", "Changed again");
    expect(await save.isDisabled()).toBe(false);
    await page.fill("#member-name", "Changed by them");
    expect(await save.isDisabled()).toBe(true);
    await page.context().close();
  });

  test("what is removed for good is named before and after", async () => {
    const id = await project("GONE", "Gone for good");
    const page = await open(`documents/projects/${id}`);
    const asked: string[] = [];
    page.on("dialog", (dialog) => asked.push(dialog.message()));
    await page.click("text=Remove for good");
    await expect.poll(() => page.textContent("[role=status]")).toContain("“Gone for good”");
    expect(asked).toEqual(["Remove “Gone for good” for good? It can't be brought back."]);
    await page.context().close();
  });

  test("whoever is in no tenant is told to choose one", async () => {
    await people.as(writer.token, "POST", "/admin/memberships", {
      tenant_id: await people.tenant(),
      principal_id: writer.id,
    });
    const { access_token: outside } = await people.session(writer.id, null);
    const page = await openConsole(browser, service, outside, "");
    await page.waitForSelector("main >> text=You are in no tenant.");
    await page.context().close();
  });

  test("the scheme that was chosen stays, until it is the system's again", async () => {
    const page = await open("documents/projects");
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await page.click('button[aria-label="Use the dark scheme"]');
    expect(await ground()).not.toBe(light);
    await page.reload();
    await page.waitForSelector('button[aria-label="Use the light scheme"]');
    expect(await ground()).not.toBe(light);
    await page.click('button[aria-label="Use the light scheme"]');
    expect(await ground()).toBe(light);
    expect(await page.evaluate("localStorage.length")).toBe(0);
    await page.context().close();
  });

  test("the state of the service counts what was refused and what failed before", async () => {
    const page = await open("service");
    const card = (title: string) => page.locator(".card", { has: page.locator(`text="${title}"`) });
    await card("Refused").waitFor();
    expect(await card("Database reads").textContent()).toMatch(/of \d+ running/);
    expect(await page.textContent(".message")).toMatch(/Since the process started .*: 0 server/);
    const refused = async (): Promise<number> => {
      await people.as("", "GET", "/projects/nothing");
      return Number(await card("Refused").locator("strong").textContent());
    };
    await expect.poll(refused, { timeout: 20_000, interval: 300 }).toBeGreaterThan(0);
    await expect
      .poll(async () => Number(await card("Latency").locator("strong").textContent()), {
        timeout: 20_000,
      })
      .toBeGreaterThan(0);
    await page.context().close();
  }, 60_000);
});
