// Topics end with the right to hear them: taken away over HTTP, in the database, or found out with a newer token; on each
// transport and engine, on the process where that happens and on others, with and without a bus.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { buses } from "../../support/bus-engines.js";
import { databaseAt, engines, type FreshDatabase } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  isDuplex,
  type Client,
  type Connect,
} from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const transports: readonly (readonly [string, Connect])[] = [
  ["websocket", connectWebSocket],
  ["sse", connectSse],
  ["socketio", connectSocketIo],
];

interface Setting {
  readonly name: string;
  readonly isAvailable: boolean;
  start(): Promise<{
    readonly here: TestService;
    readonly there: TestService;
    stop(): Promise<void>;
  }>;
}

const earsOf = (name: string): typeof transports =>
  name === "one process on sqlite" ? transports : transports.slice(0, 1);

const postgres = engines.find(({ name }) => name === "postgres");

const settings: readonly Setting[] = [
  ...engines.map((engine): Setting => ({
    name: `one process on ${engine.name}`,
    isAvailable: engine.isAvailable,
    async start() {
      const service = await startTestService(engine, { signsIn: false });
      return { here: service, there: service, stop: () => service.stop() };
    },
  })),
  ...[...buses.map(({ name }) => name), "none" as const].map((bus): Setting => ({
    name: `two processes, bus ${bus}`,
    isAvailable:
      postgres?.isAvailable === true &&
      (buses.find(({ name }) => name === bus)?.isAvailable ?? true),
    async start() {
      if (postgres === undefined) throw new Error("there is no PostgreSQL");
      const between = await buses.find(({ name }) => name === bus)?.create();
      const database: FreshDatabase =
        bus === "postgres" && between !== undefined
          ? databaseAt(between.url, () => between.drop())
          : await postgres.create();
      const data = mkdtempSync(join(tmpdir(), "opwright-shared-"));
      const environment = {
        ...database.environment,
        DATA_DIR: data,
        BUS_URL: between?.url ?? "none",
      };
      const here = await startTestService(postgres, { signsIn: false, environment });
      const there = await startTestService(postgres, { signsIn: false, environment });
      return {
        here,
        there,
        async stop() {
          await here.stop();
          await there.stop();
          await database.drop();
          if (bus === "redis") await between?.drop();
          rmSync(data, { recursive: true, force: true });
        },
      };
    },
  })),
];

describe.each(settings.filter(({ isAvailable }) => isAvailable))("$name", (setting) => {
  const ears = earsOf(setting.name);
  let started: Awaited<ReturnType<Setting["start"]>>;
  let people: People;
  let admin: Member;
  let writer: Member;
  let project = "";
  let other = "";
  const clients: Client[] = [];
  const isPushed = !setting.name.endsWith("none");
  // The ears are the same in every setting; all are tried in one.

  beforeAll(async () => {
    started = await setting.start();
    people = peopleOf(started.here);
    writer = await people.member(
      "",
      "tasks.read",
      "tasks.write",
      "projects.read",
      "projects.write",
    );
    const person = await people.person("admin");
    const { access_token: token } = await people.session(person.id, null);
    admin = { ...person, tenantId: "", token };
    project = await people.by(writer.token).make("projects", { name: "P", key: "PP" });
    other = await people.by(writer.token).make("projects", { name: "Q", key: "QQ" });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  afterAll(() => started.stop());

  const listen = async (
    connect: Connect,
    who: Pick<Member, "token">,
    topics = [`project:${project}`, `project:${other}`],
  ): Promise<Client> => {
    const client = await connect(started.there, who, { topics });
    clients.push(client);
    return client;
  };
  const events = ({ heard }: Client): readonly string[] => heard.map(({ event }) => event);
  const ended = ({ heard }: Client): readonly string[] =>
    heard.flatMap(({ event, data }) => (event === "realtime.unsubscribed" ? data.topics : []));
  const both = (): readonly string[] => [`project:${project}`, `project:${other}`];
  const change = async (title: string): Promise<void> => {
    // At the process that has the ears: without a bus, only that one hears it.
    const by = peopleOf(started.there).by(writer.token);
    await by.make("tasks", { title, project });
    // The next signal of all who may hear it shows that the first has gone by.
    await by.make("tasks", { title: `${title}, behind`, project });
  };

  test.each(ears)(
    "over %s a permission that is revoked ends its topics",
    async (_name, connect) => {
      const ann = await people.member(writer.tenantId, "projects.read");
      const [hers, hers2, his] = await Promise.all([
        listen(connect, ann),
        listen(connect, ann),
        listen(connect, writer),
      ]);
      const revoked = {
        principal_id: ann.id,
        tenant_id: ann.tenantId,
        permission: "projects.read",
      };
      const answer = await people.as(admin.token, "DELETE", "/admin/grants", revoked);
      expect(answer.status).toBe(204);
      for (const client of [hers, hers2])
        await expect
          .poll(() => ended(client).toSorted(), { timeout: isPushed ? 2_000 : 5_000 })
          .toEqual(both().toSorted());
      await change("secret");
      await expect.poll(() => his.heard.length).toBe(2);
      expect([events(hers), hers.hasEnded()]).toEqual([["realtime.unsubscribed"], false]);
      expect(ended(his)).toEqual([]);
    },
    15_000,
  );

  test("a permission that its role loses ends topics", async () => {
    const ann = await people.member(writer.tenantId, "role:reader");
    await people.grant(writer.tenantId, "role:reader", "projects.read");
    const hers = await listen(connectWebSocket, ann);
    const revoked = { role: "reader", tenant_id: ann.tenantId, permission: "projects.read" };
    const answer = await people.as(admin.token, "DELETE", "/admin/grants", revoked);
    expect(answer.status).toBe(204);
    await expect
      .poll(() => ended(hers).toSorted(), { timeout: isPushed ? 2_000 : 5_000 })
      .toEqual(both().toSorted());
  }, 15_000);

  test.each(ears)(
    "over %s what is gone ends its own topic, also if nobody tells of it",
    async (_name, connect) => {
      const gone = await people.by(writer.token).make("projects", { name: "R", key: "RR" });
      const ann = await people.member(writer.tenantId, "projects.read");
      const hers = await listen(connect, ann, [`project:${project}`, `project:${gone}`]);
      const { status } = await people.as(writer.token, "DELETE", `/projects/${gone}?rev=1`);
      expect(status).toBe(204);
      await expect.poll(() => ended(hers), { timeout: 5_000 }).toEqual([`project:${gone}`]);
      await change("still heard");
      await expect
        .poll(() => events(hers).filter((name) => name === "task.changed"))
        .toHaveLength(2);
    },
    15_000,
  );

  test("a right that is taken from the actor ends the topics that it hears for another", async () => {
    const ann = await people.member(writer.tenantId, "projects.read");
    const actor = await people.member(writer.tenantId, "projects.read");
    const { access_token: token } = await people.session(ann.id, ann.tenantId, actor.id);
    const theirs = await listen(connectWebSocket, { token });
    const hers = await listen(connectWebSocket, ann);
    const revoked = {
      principal_id: actor.id,
      tenant_id: ann.tenantId,
      permission: "projects.read",
    };
    await people.as(admin.token, "DELETE", "/admin/grants", revoked);
    await expect.poll(() => ended(theirs), { timeout: 5_000 }).toHaveLength(2);
    expect(ended(hers)).toEqual([]);
  }, 15_000);

  test.each(ears.filter(([name]) => name !== "sse"))(
    "over %s a newer token hears only what its caller may hear by then, and commands are judged anew",
    async (_name, connect) => {
      const ann = await people.member(
        writer.tenantId,
        "projects.read",
        "tasks.read",
        "tasks.write",
      );
      const hers = await listen(connect, ann);
      if (!isDuplex(hers)) throw new Error("it takes no frames");
      for (const permission of ["projects.read", "tasks.write"])
        await started.here.running.connection.write("test.revoke", ({ transaction }) =>
          transaction.of(tenantStore).revoke(ann.tenantId, ann.id, permission),
        );
      const task = await people.by(writer.token).make("tasks", { title: "t", project });
      const { access_token: token } = await people.session(ann.id, ann.tenantId);
      await hers.reauthenticate(token);
      // The answer comes behind the end of the topics.
      expect(ended(hers).toSorted()).toEqual(both().toSorted());
      expect(await hers.command("task.comment", { task, text: "x" })).toMatchObject({
        error: { code: "core.authorization" },
      });
      expect(hers.hasEnded()).toBe(false);
    },
    15_000,
  );
});
