// Two services on one database and one bus: signals of either reach the people of both, also after the bus was cut.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventSource } from "eventsource";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buses, type FreshBus } from "../../support/bus-engines.js";
import { databaseAt, engines, type FreshDatabase } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const postgres = engines.find(({ name }) => name === "postgres");

const available = buses.filter(({ isAvailable }) => isAvailable && postgres?.isAvailable === true);
describe.each(available)("two services and a bus over $name", (engine) => {
  let bus: FreshBus;
  let database: FreshDatabase;
  let here: TestService;
  let there: TestService;
  let people: People;
  let writer: Member;
  let project = "";
  const data = mkdtempSync(join(tmpdir(), "opwright-shared-"));
  const sources: EventSource[] = [];
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    bus = await engine.create();
    database =
      engine.name === "postgres" ? databaseAt(bus.url, () => bus.drop()) : await postgres.create();
    // One folder, so that both have the same secrets.
    const environment = { ...database.environment, DATA_DIR: data, BUS_URL: bus.url };
    here = await startTestService(postgres, { signsIn: false, environment });
    there = await startTestService(postgres, { signsIn: false, environment });
    people = peopleOf(here);
    const may = ["tasks.read", "tasks.write", "projects.read", "projects.write"];
    writer = await people.member("", ...may);
    const made = await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" });
    project = made.body.id;
  });
  afterEach(() => {
    for (const source of sources.splice(0)) source.close();
  });
  afterAll(async () => {
    await here.stop();
    await there.stop();
    await database.drop();
    if (engine.name === "redis") await bus.drop();
    rmSync(data, { recursive: true, force: true });
  });

  /** The titles that a listener of the other service hears, by event. */
  const listen = async (who: Member, query = "") => {
    const heard: string[] = [];
    const source = new EventSource(`${there.url}/realtime/sse${query}`, {
      fetch: (url, init) =>
        fetch(url, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${who.token}` },
        }),
    });
    sources.push(source);
    for (const name of ["task.changed", "task.assigned"])
      source.addEventListener(name, ({ data: text }) => {
        const envelope = JSON.parse(text as string) as {
          readonly data: { readonly title: string };
        };
        heard.push(`${name} ${envelope.data.title}`);
      });
    await new Promise<void>((resolve) => source.addEventListener("open", () => resolve()));
    return heard;
  };
  const make = async (title: string, more: object = {}): Promise<void> => {
    const made = await people.as(writer.token, "POST", "/tasks", { title, project, ...more });
    expect(made.status).toBe(201);
  };

  test("an ephemeral signal of one is heard at the other, in order", async () => {
    const heard = await listen(writer, `?topics=project:${project}`);
    for (let index = 0; index < 20; index += 1) await make(`t${index}`);
    const expected = Array.from({ length: 20 }, (_none, index) => `task.changed t${index}`);
    await expect.poll(() => heard).toEqual(expected);
  });

  test("a durable signal of one is heard at the other, in order and once", async () => {
    const ann = await people.member(writer.tenantId, "tasks.read", "projects.read");
    const heard = await listen(ann, "?device_id=d");
    for (let index = 0; index < 20; index += 1) await make(`d${index}`, { assignee: ann.id });
    const expected = Array.from({ length: 20 }, (_none, index) => `task.assigned d${index}`);
    await expect.poll(() => heard, { timeout: 5_000 }).toEqual(expected);
  });

  test("a credential that ends at one ends its connections at the other at once", async () => {
    // Asking every three seconds would be as quick now and then, not each time.
    for (let round = 0; round < 4; round += 1) {
      const ann = await people.member(writer.tenantId, "tasks.read");
      const answer = await fetch(`${there.url}/realtime/sse`, {
        headers: { authorization: `Bearer ${ann.token}` },
      });
      let hasEnded = false;
      void answer.text().finally(() => {
        hasEnded = true;
      });
      expect((await people.as(ann.token, "POST", "/auth/logout", {})).status).toBe(204);
      await expect.poll(() => hasEnded, { timeout: 1_500 }).toBe(true);
    }
  });

  test("while the bus is cut nothing durable is lost, and then all is heard again", async () => {
    const ann = await people.member(writer.tenantId, "tasks.read", "projects.read");
    const heard = await listen(ann, `?device_id=d&topics=project:${project}`);
    await bus.cut();
    await make("meanwhile", { assignee: ann.id });
    await expect
      .poll(() => heard.filter((text) => text === "task.assigned meanwhile"), { timeout: 10_000 })
      .toHaveLength(1);
    await expect
      .poll(
        async () => {
          await make("again");
          return heard.includes("task.changed again");
        },
        { timeout: 10_000, interval: 200 },
      )
      .toBe(true);
  });
});
