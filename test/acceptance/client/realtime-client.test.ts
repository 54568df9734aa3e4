// The realtime client over each transport: signals once and in order, what it missed, commands, tokens, ends.
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import {
  ApiError,
  createClient,
  projects,
  tasks,
  type Client,
} from "../../../generated/client/index.js";
import {
  connect,
  socketIo,
  sse,
  webSocket,
  type LiveOptions,
  type LiveStatus,
  type Transport,
} from "../../../generated/client/realtime.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;

const transports: Readonly<Record<string, () => Transport>> = {
  websocket: () => webSocket((url, protocols) => new WebSocket(url, protocols)),
  sse: () => sse(),
  socketio: () => socketIo(io),
};

/** What a tab keeps over a reload. */
function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

describe.each(Object.entries(transports))("the realtime client over %s", (_name, transport) => {
  let service: TestService;
  let people: People;
  let ann: Member;
  let client: Client;
  let project = "";
  const lives: { close(): void }[] = [];
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    const may = ["tasks", "projects"].flatMap((of) => [`${of}.read`, `${of}.write`]);
    ann = await people.member("", ...may);
    client = clientOf(ann.token);
    project = (await projects.create(client, { name: "P", key: "PP" })).id;
  });
  afterAll(async () => {
    for (const live of lives) live.close();
    await service.stop();
  });

  const clientOf = (access_token: string): Client =>
    createClient({
      baseUrl: service.url,
      tokens: { get: () => ({ access_token }), set() {}, caller: () => access_token },
    });

  /** A connection that notes what it hears and how it fares. */
  const listening = (options: Partial<LiveOptions> = {}, as: Client = client) => {
    const heard: string[] = [];
    const statuses: LiveStatus[] = [];
    const errors: ApiError[] = [];
    const ids: (string | null)[] = [];
    const live = connect(as, {
      transport: transport(),
      store: storage(),
      ...options,
      onStatus(status, error) {
        statuses.push(status);
        if (error !== null) errors.push(error);
      },
    });
    lives.push(live);
    live.listen((signal) => {
      if (signal.name === "task.assigned") ids.push(signal.id);
      if (signal.name === "task.assigned" || signal.name === "task.changed")
        heard.push(`${signal.name} ${signal.data.title}`);
    });
    return { live, heard, ids, statuses, errors };
  };
  const assign = (title: string) =>
    tasks.create(client, { title, project, assignee: ann.id, labels: [] });

  test("events come by their names, each once, and what was handled is not sent again", async () => {
    const store = storage();
    const first = listening({ store, topics: [`project:${project}`] });
    await first.live.opened();
    const titles: string[] = [];
    first.live.on("task.assigned", (task, id) => void titles.push(`${task.title} ${id !== null}`));
    await assign("one");
    await assign("two");
    await expect.poll(() => first.heard.length).toBe(4);
    expect(first.heard.filter((one) => one.startsWith("task.assigned"))).toEqual([
      "task.assigned one",
      "task.assigned two",
    ]);
    expect(titles).toEqual(["one true", "two true"]);
    first.live.close();
    expect(first.live.status).toBe("closed");
    await assign("missed");

    // A reload: the device and its last signal are still known.
    const second = listening({ store });
    await expect.poll(() => second.heard).toEqual(["task.assigned missed"]);
    second.live.close();

    // The service knows them as well, once they are acknowledged.
    const device = "told";
    const third = listening({ deviceId: device });
    await expect.poll(() => third.heard.length).toBe(3);
    third.live.close();
    await expect
      .poll(async () => {
        const fourth = listening({ deviceId: device });
        await fourth.live.opened();
        await assign("mark");
        await expect.poll(() => fourth.heard.length).toBeGreaterThan(0);
        fourth.live.close();
        return fourth.heard[0];
      })
      .toBe("task.assigned mark");
  });

  test("a signal whose handler fails comes again, and nothing behind it is skipped", async () => {
    const { live } = listening({ deviceId: `failing-${Date.now()}` });
    await live.opened();
    const handled: string[] = [];
    let fails = 1;
    live.on("task.assigned", async ({ title }) => {
      if (title === "hard" && fails-- > 0) throw new Error("not now");
      if (["hard", "easy"].includes(title)) handled.push(title);
    });
    await assign("hard");
    await assign("easy");
    await expect.poll(() => handled, { timeout: 8_000 }).toEqual(["hard", "easy"]);
  });

  test("commands wait for a connection, are typed, and run once", async () => {
    const task = await assign("talked about");
    const { live } = listening();
    // There is no connection yet.
    const sent = live.command("task.comment", { task: task.id, text: "early" });
    expect(await sent).toEqual({ task: task.id, who: ann.id, text: "early" });
    const faulty = await live.command("task.comment", { task: task.id, text: "" }).settled();
    if (faulty.ok) throw new Error("it went through");
    expect(["core.validation", "realtime_invalid_payload"]).toContain(faulty.error.code);
    // More than the service runs at once.
    const many = Array.from({ length: 40 }, (_, index) =>
      live.command("task.comment", { task: task.id, text: `n${index}` }),
    );
    const answers = await Promise.all(many);
    expect(answers.map(({ text }) => text)).toEqual(many.map((_, index) => `n${index}`));
    live.close();
    const late = await live.command("task.comment", { task: task.id, text: "late" }).settled();
    expect(late).toMatchObject({ ok: false, error: { code: "client.closed" } });
  });

  test("a service that starts anew is found again, with all that was sent meanwhile", async () => {
    const { live, heard, ids, statuses } = listening({ deviceId: `restart-${Date.now()}` });
    await live.opened();
    const task = await assign("before");
    await expect.poll(() => heard.at(-1)).toBe("task.assigned before");
    const restarted = service.restart(300);
    await expect.poll(() => live.status, { timeout: 8_000 }).not.toBe("open");
    const command = live.command("task.comment", { task: task.id, text: "from offline" });
    await restarted;
    await assign("after");
    expect((await command).text).toBe("from offline");
    await expect.poll(() => heard.at(-1), { timeout: 8_000 }).toBe("task.assigned after");
    expect(new Set(ids).size).toBe(ids.length);
    expect(statuses).toContain("waiting");
  }, 30_000);

  test("a token is renewed before it expires, and the connection goes on", async () => {
    const issue = (seconds: number) =>
      service.running.connection.write("test.session", async (context) => {
        const spec = { ...identitySpec, accessTtlSeconds: seconds };
        return issueSession(spec, context, { principalId: ann.id, tenant: ann.tenantId });
      });
    let tokens = await issue(3);
    const renewing = createClient({
      baseUrl: service.url,
      tokens: {
        caller: () => ann.id,
        get: () => tokens,
        set: (next) => void (tokens = next as typeof tokens),
      },
    });
    const first = tokens.access_token;
    const { live, heard, statuses } = listening({ deviceId: `renew-${Date.now()}` }, renewing);
    await live.opened();
    await expect.poll(() => tokens.access_token, { timeout: 8_000 }).not.toBe(first);
    await expect.poll(() => live.status).toBe("open");
    // The first token is dead by now, with its time for clocks that differ.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await assign("renewed");
    await expect.poll(() => heard.at(-1)).toBe("task.assigned renewed");
    expect(statuses).toEqual(["open"]);
  }, 20_000);

  test("a permanent refusal closes it, and says why", async () => {
    const topic = "project:00000000-0000-7000-8000-000000000000";
    const ungranted = listening({ topics: [topic] });
    await expect(ungranted.live.opened()).rejects.toMatchObject({
      code: "realtime_topics_unauthorized",
    });
    expect(ungranted.statuses.at(-1)).toBe("closed");
    expect(ungranted.errors.map(({ code }) => code)).toEqual(["realtime_topics_unauthorized"]);

    const ben = await people.member(ann.tenantId, "tasks.read");
    const leaving = listening({}, clientOf(ben.token));
    await leaving.live.opened();
    await people.as(ben.token, "POST", "/auth/logout", {});
    await expect.poll(() => leaving.live.status, { timeout: 10_000 }).toBe("closed");
    expect(leaving.errors.map(({ code }) => code)).toEqual(["core.authentication"]);
  }, 20_000);

  test("other topics are heard from when they are set", async () => {
    const { live, heard } = listening({ deviceId: `topics-${Date.now()}` });
    await live.opened();
    live.setTopics([`project:${project}`]);
    await expect.poll(() => live.status).toBe("open");
    await tasks.create(client, { title: "by topic", project, labels: [] });
    await expect.poll(() => heard.filter((one) => one === "task.changed by topic").length).toBe(1);
  });

  test("topics change without a new connection, and one that is not granted closes it", async () => {
    const other = (await projects.create(client, { name: "Q", key: "QQ" })).id;
    const { live, heard, statuses, errors } = listening({ topics: [`project:${project}`] });
    await live.opened();
    for (let round = 0; round < 5; round += 1)
      live.setTopics([`project:${project}`, ...(round % 2 === 0 ? [`project:${other}`] : [])]);
    await live.opened();
    await expect
      .poll(async () => {
        await tasks.create(client, { title: "elsewhere", project: other, labels: [] });
        return heard.includes("task.changed elsewhere");
      })
      .toBe(true);
    expect(statuses).toEqual(["open"]);
    live.setTopics([`project:${ann.id}`]);
    await expect.poll(() => statuses.at(-1)).toBe("closed");
    expect(errors.map(({ code }) => code)).toEqual(["realtime_topics_unauthorized"]);
  });

  test("a new device may begin now", async () => {
    await assign("long ago");
    const { live, heard } = listening({ from: "now" });
    await live.opened();
    await assign("from now on");
    await expect.poll(() => heard).toEqual(["task.assigned from now on"]);
    live.close();
  });
});
