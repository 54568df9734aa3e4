// The documentation of a running service in a real browser: sign in, try an operation, hear and say something, look one up.
import { randomBytes } from "node:crypto";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../generated/identity.js";
import { service as reference } from "../../generated/service.js";
import { defineService, identity } from "../../runtime/index.js";
import { password, peopleOf, type Member, type People } from "../support/people.js";
import { startTestService, type TestService } from "../support/service.js";
import { readSettings } from "../../runtime/server/settings.js";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { engines } from "../support/engines.js";

const [sqlite] = engines;

async function started(environment: Readonly<Record<string, string>> = {}): Promise<TestService> {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  return startTestService(sqlite, { signsIn: false, environment });
}

test("there are none where they are off, as they are in production", async () => {
  const secrets = ["SIGNING", "ACCESS_TOKEN", "REFRESH_PEPPER", "RESET_PEPPER"];
  const inProduction = Object.fromEntries([
    ["NODE_ENV", "production"],
    ...secrets.map((name) => [`SECRETS_${name}`, randomBytes(32).toString("base64url")]),
  ]);
  const { hasDocs } = readSettings({ name: "x" }, inProduction);
  expect([readSettings({ name: "x" }, {}).hasDocs, hasDocs]).toEqual([true, false]);
  const service = await started({ DOCS: "off" });
  for (const path of ["/docs", "/docs/events", "/docs/operations", "/docs/reference.js"])
    expect([path, (await service.call("GET", path)).status]).toEqual([path, 404]);
  await service.stop();
});

test("an app of the author's own goes before them", async () => {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const service = await startTestService(sqlite, {
    signsIn: false,
    definition: {
      ...reference,
      app: (req, res, next) => {
        if (req.url !== "/docs") return next();
        res.end("mine");
      },
    },
  });
  expect((await service.call("GET", "/docs")).body).toBe("mine");
  for (const path of ["/docs/operations", "/docs/operations/", "/console/"])
    expect([path, (await service.call("GET", path)).status]).toEqual([path, 200]);
  expect((await service.call("POST", "/docs/operations")).status).toBe(405);
  await service.stop();
});

test("a service with such paths of its own has those alone", async () => {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const [route] = reference.routes.filter(({ path }) => path === "/places/{id}");
  if (route === undefined) throw new Error("there is no such route");
  const service = await startTestService(sqlite, {
    signsIn: false,
    definition: { ...reference, routes: [...reference.routes, { ...route, path: "/docs/{id}" }] },
  });
  expect((await service.call("GET", "/docs/events")).body.code).toBe("core.validation");
  expect((await service.call("GET", "/docs")).status).toBe(404);
  await service.stop();
});

test("an error is a page for whoever follows a link, and the envelope for everybody else", async () => {
  const [on, off] = [await started(), await started({ DOCS: "off" })];
  const asked = { "sec-fetch-dest": "document", accept: "text/html" };
  const page = await on.call("GET", "/<b>nowhere", { headers: asked });
  expect([page.status, page.headers.get("content-type")]).toEqual([
    404,
    "text/html; charset=utf-8",
  ]);
  expect(String(page.body)).toContain("<code>route_not_found</code>");
  expect(String(page.body)).not.toContain("<b>");
  expect(page.headers.get("content-security-policy")).toContain("style-src 'self'");
  for (const [service, headers] of [
    [on, { ...asked, "sec-fetch-dest": "empty" }],
    [on, { accept: "text/html" }],
    [off, asked],
  ] as const) {
    const answer = await service.call("GET", "/nowhere", { headers });
    expect([answer.status, answer.body.code]).toEqual([404, "route_not_found"]);
  }
  for (const service of [on, off]) await service.stop();
});

test("an error is no page where the author has an envelope, or routes at /docs", async () => {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const [route] = reference.routes.filter(({ path }) => path === "/places/{id}");
  if (route === undefined) throw new Error("there is no such route");
  for (const [more, body] of [
    [{ errorEnvelope: () => '{"mine":true}' }, { mine: true }],
    [
      { routes: [...reference.routes, { ...route, path: "/docs/{id}" }] },
      { code: "route_not_found" },
    ],
  ] as const) {
    const definition = { ...reference, ...more };
    const service = await startTestService(sqlite, { signsIn: false, definition });
    const headers = { "sec-fetch-dest": "document" };
    expect((await service.call("GET", "/nowhere", { headers })).body).toMatchObject(body);
    await service.stop();
  }
});

test("pages send tokens in the header that the service looks at", async () => {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const ingress = [{ kind: "bearer", header: "X-Auth", scheme: "Token", route: "api" }] as const;
  const service = await startTestService(sqlite, {
    signsIn: false,
    definition: defineService({ ...reference, identity: identity({ ...identitySpec, ingress }) }),
  });
  const { body } = await service.call("GET", "/docs/operations");
  expect(String(body)).toContain('"tokenHeader":"X-Auth","tokenScheme":"Token"');
  await service.stop();
});

describe.skipIf(!hasBrowser)("the pages", () => {
  let service: TestService;
  let people: People;
  let browser: Browser;
  let ann: Member;
  let project = "";
  beforeAll(async () => {
    service = await started();
    people = peopleOf(service);
    const may = [
      "files.read",
      "files.write",
      "tasks.read",
      "tasks.write",
      "projects.read",
      "projects.write",
    ];
    ann = await people.member("", ...may);
    browser = await openBrowser();
    const made = await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
    project = made.body.id;
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  /** A page with Ann signed in to her tenant; what goes wrong in it fails the test. */
  const open = async (path: string): Promise<{ page: Page; faults: string[] }> => {
    const page = await (await browser.newContext()).newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    await page.goto(`${service.url}${path}`);
    await page.click("#session button");
    await page.fill("#login", ann.login);
    await page.fill("#password", password);
    await page.keyboard.press("Enter");
    // Whoever has one tenant is in it at once.
    const scoped = (): Promise<boolean> =>
      page.evaluate(() => {
        const { sessionStorage: store } = globalThis as unknown as {
          readonly sessionStorage: { getItem(key: string): string | null };
        };
        const { access_token: held } = JSON.parse(store.getItem("opwright docs tokens") ?? "{}");
        return atob(String(held).split(".")[1] ?? "").includes("tid");
      });
    await expect.poll(scoped).toBe(true);
    return { page, faults };
  };

  test("/docs tries an operation as who is signed in, with nothing from elsewhere", async () => {
    const { page, faults } = await open("/docs#projects.list");
    const origins = new Set<string>();
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    await page.click("button >> text=Send");
    await expect.poll(() => page.textContent("#answer"), { timeout: 10_000 }).toContain(project);
    expect(await page.textContent("#answer .badge")).toBe("200 OK");
    expect([...origins]).toEqual([service.url]);
    expect(faults).toEqual([]);
    await page.context().close();
  }, 30_000);

  test("/docs shows nobody's token, and copies a command that has it", async () => {
    const { page } = await open("/docs#projects.list");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const command = '[aria-label="As a curl command"]';
    const copy = `.code-block:has(${command}) button`;
    expect(await page.textContent(command)).toContain("Authorization: Bearer TOKEN'");
    expect(await page.textContent("body")).not.toContain("Bearer ey");
    await page.click(copy);
    await page.waitForSelector(`${copy} >> text=Copied`);
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toMatch(/^curl -X POST .*Authorization: Bearer ey[\w.-]+'/s);
    await page.context().close();
  }, 30_000);

  test("/docs finds an operation by its words, and shows what was asked for by its address", async () => {
    const { page, faults } = await open("/docs");
    await page.fill("#search", "complete task");
    await page.click("#side a");
    await expect.poll(() => page.textContent("h1")).toBe("Mark a task as done");
    expect(new URL(page.url()).hash).toBe("#tasks.complete");
    expect(await page.textContent('[aria-label="As a curl command"]')).toContain("/complete");
    await page.click("text=Client");
    const client = await page.textContent('[aria-label="As a call of the client"]');
    expect(client).toContain("await tasks.complete(client, {");
    await page.goto(`${service.url}/docs#tasks.nowhere`);
    await expect.poll(() => page.textContent('[role="alert"]')).toContain("tasks.nowhere");
    expect(faults).toEqual([]);
    await page.context().close();
  }, 30_000);

  test("/docs sends parameters, and a body that has been changed", async () => {
    const { page } = await open("/docs#tasks.create");
    await page.fill("#body", JSON.stringify({ title: "by hand", project }));
    await page.click("button >> text=Send");
    await expect.poll(() => page.textContent("#answer")).toContain("by hand");
    expect(await page.textContent("#answer .badge")).toBe("201 Created");
    const { id } = JSON.parse((await page.textContent("#answer pre")) ?? "{}");
    await page.goto(`${service.url}/docs#tasks.get`);
    await page.fill('[name="path id"]', id);
    await page.click("button >> text=Send");
    await expect.poll(() => page.textContent("#answer")).toContain("by hand");
    await page.fill('[name="path id"]', "nothing");
    await page.click("button >> text=Send");
    await expect.poll(() => page.textContent("#answer")).toContain("core.validation");
    await page.context().close();
  }, 30_000);

  test("/docs sends the parts of a form, and writes them elsewhere as they run there", async () => {
    const { page } = await open("/docs#files.upload");
    await page.fill('[name="form prefix"]', "letters");
    await page.setInputFiles('input[type="file"]', {
      name: "it's.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("hello"),
    });
    await page.click("button >> text=Send");
    await expect.poll(() => page.textContent("#answer .badge")).toBe("201 Created");
    expect(await page.textContent("#answer")).toContain('"letters/');
    expect(await page.textContent('[aria-label="As a curl command"]')).toContain(
      `--form-string 'prefix=letters' \\\n  -F 'file=@it'\\''s.txt'`,
    );
    await page.click("text=fetch");
    const script = await page.textContent('[aria-label="As a call of fetch"]');
    const token = JSON.parse(
      String(await page.evaluate('sessionStorage.getItem("opwright docs tokens")')),
    ).access_token;
    const sent = await page.evaluate(
      `(async () => { ${script?.replace("TOKEN", token)}; return response.status })()`,
    );
    expect(sent).toBe(201);
    await page.click("text=Client");
    expect(await page.textContent('[aria-label="As a call of the client"]')).toContain(
      'file: new Blob(["hello"])',
    );
    await page.context().close();
  }, 30_000);

  test("/docs has no snippet of nonsense for a body that is no JSON yet", async () => {
    const { page } = await open("/docs#tasks.create");
    await page.fill("#body", '{"title": oops');
    await page.click("text=Client");
    const client = await page.textContent('[aria-label="As a call of the client"]');
    expect(client).toContain("await tasks.create(client);");
    expect(client).toContain('Authorization: "Bearer TOKEN"');
    await page.context().close();
  }, 30_000);

  test("/docs lists the errors of an operation by status, those of others not", async () => {
    const { page } = await open("/docs#tasks.create");
    const errors = await page.textContent('section[aria-labelledby="errors"]');
    expect(errors).toContain("idempotency_in_flight");
    expect(errors).not.toContain("webhooks_limit");
    expect(await page.textContent('[aria-label="An example of the answer"]')).toContain('"rev": 1');
    await page.context().close();
  }, 30_000);

  test("the home of /docs has a first call that answers as it stands", async () => {
    const { page } = await open("/docs");
    const command = await page.textContent('[aria-label="A first call"]');
    const { stdout } = await promisify(execFile)("sh", ["-c", command ?? "false"]);
    expect(JSON.parse(stdout)).toHaveProperty("hits");
    await page.context().close();
  }, 30_000);

  test.each([["WebSocket"], ["Server-Sent Events"], ["Socket.IO"]])(
    "/docs/events hears a signal over %s, sends a command and shows its error",
    async (transport) => {
      const { page, faults } = await open("/docs/events");
      await page.selectOption("#transport", { label: transport });
      await page.fill("#topics", `project:${project}`);
      await page.click("#connect");
      await expect.poll(() => page.textContent("#status")).toBe(`Connected over ${transport}`);
      await expect.poll(() => page.textContent("#console")).toContain("realtime.presence");
      const title = `seen over ${transport}`;
      const task = await people.as(ann.token, "POST", "/tasks", { title, project });
      await expect.poll(() => page.textContent("#console")).toContain(title);
      await page.fill("#member-task", task.body.id);
      await page.fill("#member-text", "hello");
      await page.click("text=Send >> nth=-1");
      await expect.poll(() => page.textContent("#console")).toContain("answer");
      await page.fill("#member-task", "00000000-0000-7000-8000-00000000000x");
      await page.click("text=Send >> nth=-1");
      const error = page.locator("#console li", { hasText: "error" }).first();
      await expect
        .poll(() => error.textContent())
        .toMatch(/realtime_invalid_payload|core\.validation/);
      await page.click("#connect");
      await expect.poll(() => page.textContent("#status")).toBe("Not connected");
      // A browser notes every answer that is an error; that one was asked for.
      expect(faults.filter((text) => !text.includes("422"))).toEqual([]);
      await page.context().close();
    },
    30_000,
  );

  test("/docs/operations filters, and shows the guards of an operation in words", async () => {
    const { page, faults } = await open("/docs/operations");
    await page.fill("#search", "complete task");
    await expect.poll(() => page.textContent("#count")).toMatch(/^1 of \d+ operations$/);
    expect(await page.textContent("tbody tr")).toContain("POST /tasks/{id}/complete");
    await page.click("tbody a");
    await expect.poll(() => page.textContent("#panel")).toContain("permission tasks.write");
    await page.click("#panel >> text=Try it");
    await expect.poll(() => page.textContent("h1")).toBe("Mark a task as done");
    await page.goto(`${service.url}/docs/operations`);
    await page.selectOption("#kind", "unrouted");
    await expect.poll(() => page.textContent("tbody")).toContain("without a route");
    await page.selectOption("#namespace", "notes");
    await page.selectOption("#kind", "DELETE");
    await expect.poll(() => page.textContent("#count")).toMatch(/^[1-9] of/);
    expect(faults).toEqual([]);
    await page.context().close();
  }, 30_000);
});
