// The console in a real browser: what its user may do is there and works, what it may not is absent and refused.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.js";
import { openConsole } from "../support/console-page.js";
import { engines } from "../support/engines.js";
import { expectGoodLooks, focusByTab } from "../support/page-checks.js";
import { password, peopleOf, type Member, type People } from "../support/people.js";
import { connectSse } from "../support/realtime-clients.js";
import { testProject, type TestProject } from "../support/project-service.js";
import { startTestService, type TestService } from "../support/service.js";

const [sqlite] = engines;

describe.skipIf(!hasBrowser)("the console", () => {
  let service: TestService;
  let browser: Browser;
  let people: People;
  let writer: Member;
  let reader: Member;
  let operator: Member;
  let receiver: Server;
  let status = 500;
  const received: string[] = [];

  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, {
      signsIn: false,
      environment: { WEBHOOK_ADDRESSES: "any", WEBHOOK_MAX_ATTEMPTS: "1" },
    });
    people = peopleOf(service);
    writer = await people.member(
      "",
      "projects.admin",
      "tasks.admin",
      "webhooks.read",
      "files.admin",
    );
    reader = await people.member(writer.tenantId, "projects.read", "tasks.read", "files.read");
    operator = await people.member(
      writer.tenantId,
      "projects.admin",
      "webhooks.read",
      "files.read",
      "tasks.read",
      "tasks.write",
    );
    await people.grant(null, operator.id, "platform.admin");
    receiver = createServer((req, res) => {
      received.push(req.url ?? "");
      req.resume();
      res.writeHead(status).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
    receiver.close();
  });

  const make = (path: string, body: object): Promise<string> =>
    people.by(writer.token).make(path, body);
  const project = async (key: string, ...names: readonly string[]): Promise<string> => {
    const [first = "A project", ...later] = names;
    const id = await make("projects", { name: first, key });
    for (const [at, name] of later.entries())
      await people.as(writer.token, "PATCH", `/projects/${id}?rev=${at + 1}`, { name });
    return id;
  };

  test("a new document: its form, its place in the list, a change, a mistake", async () => {
    const page = await openConsole(browser, service, writer.token, "documents/projects");
    await page.click("main a.button");
    await page.fill("#member-name", "Gemini");
    await page.fill("#member-key", "no key");
    await page.click("text=Create");
    await expect.poll(() => page.textContent("[role=alert]")).toContain("/key");
    await page.fill("#member-key", "GEM");
    await page.click("text=Create");
    await page.waitForSelector("h1 >> text=Gemini");
    await page.selectOption("#member-archived", "true");
    await page.click("text=Save");
    await expect.poll(() => page.textContent("[role=status]")).toBe("Saved.");
    await page.click("main a >> text=projects");
    await expect.poll(() => page.textContent("tbody")).toContain("Gemini");
    await page.close();
  });

  test("a moment is chosen from a calendar, in the time zone of who chooses", async () => {
    const id = await make("tasks", { title: "Due", project: await project("DUE") });
    const read = async () => (await people.as(writer.token, "GET", `/tasks/${id}`)).body.due;
    const page = await openConsole(browser, service, writer.token, `documents/tasks/${id}`, {
      timezoneId: "Asia/Kolkata",
    });
    await page.fill("#member-due", "2027-03-01T09:30");
    await page.click('button:has-text("Save")');
    await expect.poll(read).toBe("2027-03-01T04:00:00.000Z");
    await expect.poll(() => page.inputValue("#member-due")).toBe("2027-03-01T09:30");
    await page.fill("#member-title", "Still due");
    await page.click('button:has-text("Save")');
    await page.waitForSelector("h1 >> text=Still due");
    expect(await read()).toBe("2027-03-01T04:00:00.000Z");
    await page.fill("#member-due", "");
    await page.click('button:has-text("Save")');
    await expect.poll(read).toBe(null);
    await page.context().close();
  });

  test("somebody else's change in between is not lost", async () => {
    const id = await project("BETWEEN", "Between");
    const page = await openConsole(browser, service, writer.token, `documents/projects/${id}`);
    await page.fill("#member-name", "Mine");
    await people.as(writer.token, "PATCH", `/projects/${id}?rev=1`, { name: "Theirs" });
    await page.click("text=Save");
    await expect
      .poll(() => page.textContent("[role=alert]"))
      .toContain("historical_consistency_violation");
    await page.close();
  });

  test("filters and sorts are those of the query language, and pages go by cursor", async () => {
    for (let at = 0; at < 30; at += 1)
      await make("projects", { name: `Paged ${String(at).padStart(2, "0")}`, key: "PAGED" });
    const page = await openConsole(browser, service, writer.token, "documents/projects");
    await page.click("summary >> text=Filters");
    await page.selectOption("#filter-member", "name");
    await page.selectOption("#filter-operator", "$like");
    await page.fill("#filter-value", "Paged %");
    await page.click("text=Add filter");
    await page.click("th >> text=name");
    const rows = () => page.$$eval("tbody tr", (all) => all.map((row) => row.textContent ?? ""));
    await expect.poll(async () => (await rows())[0]).toContain("Paged 00");
    expect(await rows()).toHaveLength(25);
    await page.click("text=Next");
    await expect.poll(async () => (await rows()).length).toBe(5);
    await page.click("text=Previous");
    await expect.poll(async () => (await rows())[0]).toContain("Paged 00");
    await page.click("th >> text=name");
    await expect.poll(async () => (await rows())[0]).toContain("Paged 29");
    await page.click("main >> text=name is like Paged %");
    await expect.poll(async () => (await rows()).join()).not.toContain("Paged 00");
    await page.fill("#find", "pAGED 2");
    await page.click("text=Find");
    await expect.poll(async () => (await rows()).length).toBe(10);
    await page.fill("#find", "100%");
    await page.click("text=Find");
    await page.waitForSelector("main .empty >> text=None fits what was asked for.");
    await page.fill("#find", "");
    await expect.poll(async () => (await rows()).length).toBe(25);
    await page.close();
  });

  test("an operator restores a deleted project with its revision before last", async () => {
    const id = await project("MERC", "Mercury", "Mercury 7", "Mercury spoiled");
    await people.as(writer.token, "POST", `/projects/${id}/delete?rev=3`);
    const page = await openConsole(browser, service, operator.token, "documents/projects");
    await page.check("#deleted");
    await page.click("tbody >> text=Mercury spoiled");
    await page.waitForSelector("text=deleted");
    await page.click("text=Restore");
    await expect.poll(() => page.textContent("[role=status]")).toContain("Restored");
    await page.click("text=Revision 2");
    await expect.poll(() => page.textContent("#revisions ~ ul table")).toContain("Mercury 7");
    await page.click("text=Revert to revision 2");
    await page.waitForSelector("h1 >> text=Mercury 7");
    const { body } = await people.as(writer.token, "GET", `/projects/${id}`);
    expect([body.name, body.is_deleted]).toEqual(["Mercury 7", false]);
    await page.close();
  });

  test("devices are listed with what they have not acknowledged", async () => {
    const id = await make("tasks", {
      title: "Told",
      project: await project("DEV"),
      assignee: operator.id,
    });
    expect(id).toBeTruthy();
    const client = await connectSse(service, operator, { device: "tablet-of-the-operator" });
    await expect.poll(() => client.heard.length).toBe(1);
    await client.ack(client.heard[0]?.id ?? "");
    client.close();
    const page = await openConsole(browser, service, operator.token, "lists/devices");
    await page.waitForSelector("tbody >> text=tablet-of-the-operator");
    await page.close();
  });

  test("an operator finds a delivery that was given up, and sends it again", async () => {
    const { port } = receiver.address() as AddressInfo;
    const hook = await people.as(operator.token, "POST", "/webhooks", {
      url: `http://127.0.0.1:${port}/hook`,
      events: ["tasks.completed"],
    });
    expect(hook.status).toBe(201);
    const tried = await people.as(operator.token, "POST", `/webhooks/${hook.body.id}/test`);
    expect(tried.status).toBe(202);
    await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1);
    const page = await openConsole(browser, service, operator.token, "lists/webhooks");
    await page.click("tbody >> text=Deliveries");
    await expect
      .poll(async () => {
        await page.reload();
        await page.waitForSelector("tbody");
        return page.textContent("tbody");
      })
      .toContain("failed");
    status = 200;
    await page.click("text=Send again");
    await expect.poll(() => page.textContent("[role=status]")).toContain("on its way again");
    await expect.poll(() => received.length, { timeout: 10_000 }).toBe(2);
    await page.close();
  });

  test("who has a session revokes another one, and sees the one of its own", async () => {
    const { access_token: other } = await people.session(operator.id, operator.tenantId);
    const page = await openConsole(browser, service, operator.token, "lists/sessions");
    await page.waitForSelector("tbody tr >> nth=1");
    await page.click("tbody tr:has-text('false') >> text=Revoke");
    await expect.poll(() => page.$$eval("tbody tr", (rows) => rows.length)).toBe(1);
    expect((await people.as(other, "GET", "/auth/me")).status).toBe(401);
    await page.close();
  });

  test("an object is uploaded, shown and deleted", async () => {
    const page = await openConsole(browser, service, writer.token, "objects/files");
    await page.click("summary >> text=Upload");
    await page.setInputFiles("#member-file", {
      name: "hello.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("hello from the console"),
    });
    await page.click("button >> text=Upload");
    await page.click("tbody >> text=hello.txt");
    await expect.poll(() => page.textContent("aside pre")).toBe("hello from the console");
    await page.click("aside >> text=Delete");
    await expect.poll(() => page.textContent("[role=status]")).toContain("is deleted");
    await page.waitForSelector("text=There is no object");
    await page.close();
  });

  test("the service's state, its log and its commands are for operators", async () => {
    const page = await openConsole(browser, service, operator.token, "service");
    await expect.poll(() => page.textContent("main")).toContain("All have been applied.");
    await page.click(".card:has(#args-redrive) >> text=Run");
    await expect.poll(() => page.textContent(".card:has(#args-redrive)")).toContain("has run");
    await page.click("nav >> text=Log");
    await expect.poll(() => page.textContent("main .log")).toContain("audit console.run ok");
    await page.close();
    const other = await openConsole(browser, service, writer.token, "log");
    expect(await other.textContent("body")).not.toContain("State");
    await other.close();
  });

  test("for a reader every write is absent, and refused", async () => {
    const id = await project("READ", "Read only", "Read twice");
    const { body: refused } = await people.as(reader.token, "GET", "/console/access");
    for (const address of [
      "documents/projects",
      `documents/projects/${id}`,
      "documents/tasks",
      "objects/files",
    ]) {
      const page = await openConsole(browser, service, reader.token, address);
      await page.waitForLoadState("networkidle");
      const words = ["New", "Create", "Save", "Delete", "Remove", "Restore", "Revert", "Upload"];
      const shown = await page.$$eval("main button, main a, main summary", (all) =>
        all.map((one) => one.textContent ?? ""),
      );
      for (const word of words)
        expect([address, word, shown.filter((text) => text.startsWith(word))]).toEqual([
          address,
          word,
          [],
        ]);
      expect(await page.$$("main form input[id^=member]")).toEqual([]);
      await page.close();
    }
    const writes = [
      ["projects.create", "POST", "/projects", { name: "x", key: "XX" }],
      ["projects.update", "PATCH", `/projects/${id}?rev=2`, { name: "x" }],
      ["projects.delete", "POST", `/projects/${id}/delete?rev=2`, undefined],
      ["projects.kill", "DELETE", `/projects/${id}?rev=2`, undefined],
      ["projects.revert", "POST", `/projects/${id}/revert?rev=2&to=1`, undefined],
      ["files.delete", "DELETE", "/files/x", undefined],
    ] as const;
    for (const [key, method, path, body] of writes) {
      expect([key, refused.refused[key]]).toEqual([key, "core.authorization"]);
      const answer = await people.as(reader.token, method, path, body);
      expect([key, answer.status]).toEqual([key, 403]);
    }
  });

  test("whoever isn't signed in sees what is open, and is told to sign in", async () => {
    const page = await browser.newPage();
    await page.goto(`${service.url}/console`);
    await page.waitForSelector("main h1");
    expect(await page.textContent("nav[aria-label=Console]")).toContain("places");
    expect(await page.textContent("nav[aria-label=Console]")).not.toContain("projects");
    expect(await page.textContent("main .empty")).toContain("Nobody is signed in");
    await page.click("text=Sign in to the console");
    await page.fill("#login", writer.login);
    await page.fill("#password", password);
    await page.keyboard.press("Enter");
    await page.waitForSelector("nav[aria-label=Console] >> text=projects");
    await page.close();
  });

  test("without a mouse: sign in, create, edit, delete, restore, sign out", async () => {
    const page = await browser.newPage();
    await page.goto(`${service.url}/console`);
    await page.waitForSelector("main h1");
    const press = async (name: string): Promise<void> => {
      await focusByTab(page, (text) => text === name);
      await page.keyboard.press("Enter");
    };
    const type = async (name: string, text: string): Promise<void> => {
      await focusByTab(page, (focused) => focused === name);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    };
    await press("Sign in");
    await type("#login", operator.login);
    await type("#password", password);
    await page.keyboard.press("Enter");
    await page.waitForSelector("nav[aria-label=Console] >> text=projects");
    await press("projects");
    await page.waitForSelector("h1 >> text=projects");
    await press("Create a project");
    await page.waitForSelector("#member-name");
    await type("#member-name", "By keyboard");
    await type("#member-key", "KEYS");
    await press("Create");
    await page.waitForSelector("h1 >> text=By keyboard");
    await type("#member-name", "By keys");
    await press("Save");
    await page.waitForSelector("h1 >> text=By keys");
    await press("Delete");
    await page.waitForSelector("main .badge >> text=deleted");
    await press("Restore");
    await expect.poll(() => page.textContent("[role=status]")).toContain("Restored");
    await press("Sign out");
    await expect.poll(() => page.textContent("#session")).toContain("Sign in");
    await page.close();
  }, 60_000);

  test.each(["light", "dark"] as const)(
    "in %s it fits, and axe finds nothing",
    async (colorScheme) => {
      const id = await project("AXE", "Looked at", "Looked at again");
      const { port } = receiver.address() as AddressInfo;
      const { webhooks } = (await people.as(operator.token, "GET", "/webhooks")).body;
      const url = `http://127.0.0.1:${port}/looked-at`;
      const hook =
        webhooks[0]?.id ??
        (await people.as(operator.token, "POST", "/webhooks", { url, events: ["tasks.completed"] }))
          .body.id;
      status = 500;
      await people.as(operator.token, "POST", `/webhooks/${hook}/test`);
      const page = await openConsole(browser, service, operator.token, "documents/projects", {
        colorScheme,
        bypassCSP: true,
      });
      for (const [address, text] of [
        ["documents/projects", "Filters"],
        [`documents/projects/${id}`, "Revision 2"],
        ["documents/projects/new", "Create"],
        ["objects/files", "Keys that begin with"],
        ["lists/webhooks", "Webhooks"],
        [`lists/webhooks/${hook}`, "the webhook answered"],
        ["lists/sessions", "is_"],
        ["lists/principals", "Find"],
        ["lists/keys", "Issue an API key"],
        ["service", "All have been applied."],
        ["log", "GET /"],
      ] as const) {
        await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
        await page.waitForSelector(`main >> text=${text}`);
        for (const summary of await page.$$("main details:not([open]) > summary"))
          await summary.evaluate("(one) => one.click()");
        await expectGoodLooks(page, colorScheme, address);
      }
      await page.context().close();
    },
    120_000,
  );
});

describe.skipIf(!hasBrowser)("references", () => {
  let project: TestProject;
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    project = await testProject({
      "registry/books.yaml": `registry: 1
service: {name: library, title: Library, version: 1.0.0}
policies: {open: []}
documents:
  authors: {type: {name: string}, guard: open, mount: {at: /authors}}
  books: {guard: open, mount: {at: /books}, type: {title: string, author: {ref: authors}, second: {ref: "authors?"}}}
`,
    });
    service = await project.start(sqlite);
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await project?.remove();
  });

  test("are chosen by name, and lead to what they name", async () => {
    const { body: ada } = await service.post("/authors", { name: "Ada Lovelace" });
    await service.post("/authors", { name: "Grace Hopper" });
    const page = await browser.newPage();
    await page.goto(`${service.url}/console#documents/books/new`);
    await page.fill("#member-title", "Notes");
    await page.fill("#member-author", "ada");
    await expect
      .poll(() =>
        page.$$eval("#member-author-choices option", (all) => all.map((one) => one.textContent)),
      )
      .toEqual(["Ada Lovelace"]);
    await page.fill("#member-author", ada.id);
    await page.waitForSelector("small a >> text=Ada Lovelace");
    await page.click("text=Create");
    await page.waitForSelector("h1 >> text=Notes");
    await page.click("main a >> text=books");
    await page.click("tbody td:nth-child(2) a >> text=Ada Lovelace");
    await page.waitForSelector("h1 >> text=Ada Lovelace");
    await page.close();
  });
});
