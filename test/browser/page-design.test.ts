// Every page that a service serves, at three widths and in both colour schemes: nothing to scroll sideways, nothing that axe
// finds, nothing from elsewhere, and few bytes. And a walk without a mouse.
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { frameMail } from "../../runtime/families/outbox/mail-frame.js";
import { createPrincipal } from "../../runtime/families/identity/provision.js";
import { tenantStore } from "../../runtime/ports/tenants.js";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { engines } from "../support/engines.js";
import { expectGoodLooks, focusByTab, violationsOf } from "../support/page-checks.js";
import { password, peopleOf, type Member } from "../support/people.js";
import { startTestService, type TestService } from "../support/service.js";

const pages = [
  ["/docs", "Namespaces"],
  ["/docs#tasks.create", "Create a task"],
  ["/docs#files.upload", "File"],
  ["/docs#tasks.agg_list", "Members"],
  ["/docs/operations", "operations"],
  ["/docs/operations#tasks.update", "Guard"],
  ["/docs/events", "Signals"],
  ["/console", "Nobody is signed in"],
  ["/console#documents/places", "places"],
  ["/tasks/nothing", "core.validation"],
  ["/nowhere", "route_not_found"],
  ["/", "ready"],
  ["/demo/live", "Not connected"],
  ["/demo/upload", "Drop a file"],
] as const;
const schemes = ["light", "dark"] as const;

describe.skipIf(!hasBrowser)("pages", () => {
  let service: TestService;
  let browser: Browser;
  let ann: Member;
  beforeAll(async () => {
    const [sqlite] = engines;
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    ann = await peopleOf(service).member("", "notes.read", "notes.write");
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  for (const [path, text] of pages)
    test.each(schemes)(
      `${path} in %s fits, and axe finds nothing`,
      async (colorScheme) => {
        // axe is put in from outside, which the page's own policy forbids.
        const context = await browser.newContext({ colorScheme, bypassCSP: true });
        const page = await context.newPage();
        await page.goto(`${service.url}${path}`);
        await page.waitForSelector(`main >> text=${text}`);
        await expectGoodLooks(page, colorScheme);
        await context.close();
      },
      60_000,
    );

  test("a mail in its frame fits, and has nothing that axe finds", async () => {
    const context = await browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    const { html } = frameMail({
      heading: "Your order is on its way",
      paragraphs: ["It has left us today.", "x".repeat(400)],
      action: { label: "Look at it", url: "https://shop.example.test/" },
      footer: "You have this mail because you ordered.",
    });
    await page.setContent(html);
    await expectGoodLooks(page, "light");
    await context.close();
  });

  test("its dialog to sign in has nothing that axe finds", async () => {
    const context = await browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    await page.goto(`${service.url}/docs`);
    await page.click("#session button");
    expect(await violationsOf(page)).toEqual([]);
    await context.close();
  });

  test.each([
    "/docs#tasks.create",
    "/docs/operations",
    "/docs/events",
    "/console",
    "/",
    "/demo/live",
  ])("%s breaks no rule of its policy, and asks nobody else", async (path) => {
    const page = await browser.newPage();
    const faults: string[] = [];
    const origins = new Set<string>();
    page.on("console", (message) => faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    const answer = await page.goto(`${service.url}${path}`);
    await page.waitForSelector("main h1, main h2");
    expect(await answer?.headerValue("content-security-policy")).not.toContain("unsafe");
    expect(faults).toEqual([]);
    expect([...origins]).toEqual([service.url]);
    await page.close();
  });

  test.each([
    ["/docs", 24],
    ["/docs/operations", 16],
    ["/docs/events", 32],
    ["/console", 48],
  ])("the scripts and styles of %s have at most %i KB compressed", async (path, most) => {
    const page = await browser.newPage();
    const texts: Promise<Buffer>[] = [];
    page.on("response", (response) => {
      if (/\.(?:js|css)$/.test(response.url())) texts.push(response.body());
    });
    await page.goto(`${service.url}${path}`);
    await page.waitForSelector("main h1, main h2");
    const sizes = (await Promise.all(texts)).map((text) => gzipSync(text).length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0) / 1_000).toBeLessThan(most);
    await page.close();
  });

  test("who signs in on the demo's home is signed in on the other pages", async () => {
    const { context, write } = service.running.connection;
    const bob = await createPrincipal(context("demo"), { login: "bob@example.test", password });
    await write("demo", ({ transaction }) =>
      transaction.of(tenantStore).addMember(ann.tenantId, bob),
    );
    const page = await browser.newPage();
    await page.goto(`${service.url}/`);
    expect(await page.textContent("main")).toContain(password);
    await page.click("text=Sign in as bob");
    await expect.poll(() => page.textContent("#status")).toContain("Signed in as bob");
    await page.click("text=Reference");
    await expect.poll(() => page.textContent("#session")).toContain("Sign out");
    await page.close();
  });

  test("without a mouse: sign in, find an operation, create a note, sign out", async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${service.url}/docs`);
    await page.waitForSelector("#search");
    const focus = (isWanted: (text: string) => boolean): Promise<void> =>
      focusByTab(page, isWanted);
    const named = (name: string) => (text: string) => text === name;
    await focus(named("Sign in"));
    await page.keyboard.press("Enter");
    await focus(named("#login"));
    await page.keyboard.type(ann.login);
    await focus(named("#password"));
    await page.keyboard.type(password);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("#session")).toContain("Sign out");
    await focus(named("#search"));
    await page.keyboard.type("notes.create");
    await focus((text) => text.startsWith("Create a note"));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("h1")).toBe("Create a note");
    await focus(named("#body"));
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type('{"text": "by keyboard"}');
    await focus(named("Send"));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("#answer")).toContain("201 Created");
    await page.keyboard.press("ControlOrMeta+Home");
    await focus(named("Sign out"));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("#session")).toContain("Sign in");
    await page.close();
  }, 60_000);
});
