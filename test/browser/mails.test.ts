// The mails of a service in development, in a real browser: as they look, and with nothing that a mail brings running.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { engines } from "../support/engines.js";
import { expectGoodLooks } from "../support/page-checks.js";
import { testProject, type TestProject } from "../support/project-service.js";
import type { TestService } from "../support/service.js";

const [sqlite] = engines;

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
outbox:
  mail: registry/mail.ts#render
  events:
    orders.placed: {destination: mail, data: {to: string}}
operations:
  orders.place: {post: /orders, in: {to: string}, run: registry/orders.ts#place, guard: open}
`,
  "registry/orders.ts": `import { stageEvent } from "../generated/outbox.js";
export const place = (input, context) => stageEvent(context, "orders.placed", input);
`,
  "registry/mail.ts": `export const render = ({ data: { to } }) => ({
  to,
  subject: "For " + to,
  text: "In plain words",
  html: '<!doctype html><html><head><style>p { color: rgb(1, 2, 3) }</style></head><body><p style="margin: 7px">In colour</p><a href="/docs">A link</a><script>document.title = "ran"</script><img src="x" alt="" onerror="document.title = &quot;ran&quot;"></body></html>',
});
`,
};

describe.skipIf(!hasBrowser)("mails in the console", () => {
  let project: TestProject;
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    project = await testProject(files);
    service = await project.start(sqlite);
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await project?.remove();
  });

  test("are shown as they look, as HTML and as text, and run nothing", async () => {
    const page = await browser.newPage();
    await page.goto(`${service.url}/console#mails`);
    await page.waitForSelector("text=No mails yet");
    for (const to of ["ann@example.test", "bob@example.test"])
      expect((await service.post("/orders", { to })).status).toBe(204);
    await page.click("text=For ann@example.test");
    const frame = page.frameLocator("iframe");
    await frame.getByText("In colour").waitFor();
    const [style, title, origin] = await frame.locator("p").evaluate((paragraph) => {
      const world = globalThis as unknown as {
        getComputedStyle(of: unknown): Readonly<Record<string, string>>;
        readonly document: { readonly title: string };
        readonly origin: string;
      };
      const { color, marginTop } = world.getComputedStyle(paragraph);
      return [[color, marginTop], world.document.title, world.origin] as const;
    });
    expect(style).toEqual(["rgb(1, 2, 3)", "7px"]);
    expect([title === "ran", origin]).toEqual([false, "null"]);
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      frame.getByText("A link").click(),
    ]);
    await opened.waitForURL(`${service.url}/docs`);
    await page.click("[role=tab] >> text=Text");
    await page.waitForSelector("pre >> text=In plain words");
    await page.click("[role=tab] >> text=HTML");
    await page.waitForSelector("pre >> text=rgb(1, 2, 3)");
    await page.context().close();
  });

  test.each(["light", "dark"] as const)(
    "in %s the page fits, and axe finds nothing",
    async (scheme) => {
      const context = await browser.newContext({ colorScheme: scheme, bypassCSP: true });
      const page = await context.newPage();
      await page.goto(`${service.url}/console#mails`);
      await page.waitForSelector("main >> text=For");
      await expectGoodLooks(page, scheme);
      await context.close();
    },
  );

  test("the frame lets nobody else show it, and takes nothing but styles and pictures", async () => {
    const { headers } = await service.call("GET", "/console/mail");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).toContain("sandbox allow-scripts");
    expect(policy).not.toContain("allow-same-origin");
    expect(policy).toContain("script-src 'self';");
  });
});
