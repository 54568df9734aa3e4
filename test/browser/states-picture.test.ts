// The states of documents, drawn in the documentation of a running service.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { engines } from "../support/engines.js";
import { overflowOf, violationsOf } from "../support/page-checks.js";
import { testProject, type TestProject } from "../support/project-service.js";
import type { TestService } from "../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {}
policies:
  member: [principal]
  agent: [principal, {authorize: tickets.handle}]
documents:
  tickets:
    type: {title: string, status: [open, assigned, waiting, resolved, closed]}
    defaults: {status: open}
    guard: member
    states:
      field: status
      from:
        open: [{to: [assigned], by: agent}, closed]
        assigned: {to: [open, waiting, resolved], by: agent}
        waiting: {to: [assigned], by: agent}
        resolved: [closed]
        closed: [{to: [open], by: agent}]
  notes: {type: {text: string}, guard: member}
`,
};

describe.skipIf(!hasBrowser)("the picture of states", () => {
  let project: TestProject;
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    project = await testProject(files);
    const [sqlite] = engines;
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await project.start(sqlite, { environment: { DOCS: "on" } });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await project?.remove();
  });

  test.each([
    [1280, "light"],
    [400, "dark"],
  ] as const)("has each state and move, in %i px and the %s scheme", async (width, colorScheme) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(`${service.url}/docs`);
    await page.waitForSelector("figure.states svg");
    expect(await page.locator("figure.states").count()).toBe(1);
    const states = await page.locator("figure.states .state text").allTextContents();
    expect(states.toSorted()).toEqual(["assigned", "closed", "open", "resolved", "waiting"]);
    expect(await page.locator("figure.states .state.initial text").allTextContents()).toEqual([
      "open",
    ]);
    expect(await page.locator("figure.states path.move").count()).toBe(8);
    expect(await page.locator("figure.states text.by").count()).toBe(6);
    await page.locator("figure.states summary").click();
    const words = await page.locator("figure.states li").allTextContents();
    expect(words).toContain("From closed to open, by agent");
    expect(words).toHaveLength(9);
    expect([await overflowOf(page), await violationsOf(page)]).toEqual([0, []]);
    await page.close();
  });
});
