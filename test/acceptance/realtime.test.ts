// The realtime plane over the wire: mailboxes, replay, acknowledgement, topics, commands, ends (service.md "Realtime wire protocol").
import { EventSource } from "eventsource";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { engines } from "../engines.js";
import { peopleOf, type Member, type People } from "./people.js";
import { startTestService, type Answer, type TestService } from "./service.js";

interface Heard {
  readonly event: string;
  readonly id: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
  readonly data: any;
}

/** One connection, whatever carries it. */
interface Client {
  readonly heard: Heard[];
  /** Acknowledges everything up to an id. */
  ack(id: string): Promise<void>;
  close(): void;
  /** Whether the service has ended it. */
  readonly hasEnded: () => boolean;
}

interface Options {
  readonly device?: string;
  readonly topics?: readonly string[];
  readonly lastEventId?: string;
}

const names = ["task.assigned", "task.changed", "task.typing", "realtime.gap"];

const transports = {
  async sse(service: TestService, who: Member, options: Options = {}): Promise<Client> {
    const query = queryOf(options);
    const heard: Heard[] = [];
    let ended = false;
    const authorization = `Bearer ${who.token}`;
    const source = new EventSource(`${service.url}/realtime/sse${query}`, {
      fetch: (url, init) => {
        const resume =
          options.lastEventId === undefined ? {} : { "Last-Event-ID": options.lastEventId };
        return fetch(url, { ...init, headers: { ...init.headers, ...resume, authorization } });
      },
    });
    for (const name of names)
      source.addEventListener(name, ({ data }) => {
        heard.push({ event: name, ...(JSON.parse(data) as Omit<Heard, "event">) });
      });
    await new Promise<void>((resolve, reject) => {
      source.addEventListener("open", () => resolve());
      source.addEventListener("error", (error) => {
        ended = true;
        source.close();
        reject(new Error(`${error.code}: ${error.message}`));
      });
    });
    return {
      heard,
      async ack(id) {
        const device = options.device === undefined ? "" : `?device_id=${options.device}`;
        const answer = await fetch(`${service.url}/realtime/sse/ack${device}`, {
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify({ up_to: id }),
        });
        expect([answer.status, await answer.json()]).toEqual([200, { acked: true }]);
      },
      close: () => source.close(),
      hasEnded: () => ended,
    };
  },

  async websocket(service: TestService, who: Member, options: Options = {}): Promise<Client> {
    const { socket, heard, hasEnded } = await openSocket(service, who, queryOf(options, true));
    // A socket is open before it is admitted; what is answered is.
    await command(socket, { event: "nothing" });
    return {
      heard,
      async ack(id) {
        socket.send(JSON.stringify({ type: "realtime.ack", up_to: id }));
        // An ack has no answer; a command behind it has one.
        await command(socket, { event: "nothing" });
      },
      close: () => socket.close(),
      hasEnded,
    };
  },
};

function queryOf({ device, topics, lastEventId }: Options, withId = false): string {
  const query = new URLSearchParams({
    ...(device === undefined ? {} : { device_id: device }),
    ...(topics === undefined ? {} : { topics: topics.join(",") }),
    ...(withId && lastEventId !== undefined ? { last_event_id: lastEventId } : {}),
  });
  return query.size === 0 ? "" : `?${query}`;
}

async function openSocket(service: TestService, who: Pick<Member, "token">, query = "") {
  const heard: Heard[] = [];
  let closed: { readonly code: number; readonly reason: string } | undefined;
  const address = `${service.url.replace("http", "ws")}/realtime/ws${query}`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${who.token}` } });
  socket.on("message", (text: Buffer) => {
    const frame = JSON.parse(text.toString()) as Heard;
    if ("event" in frame) heard.push(frame);
  });
  socket.on("close", (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("open", resolve));
  return { socket, heard, hasEnded: () => closed !== undefined, closed: () => closed };
}

let cids = 0;

/** Sends a command; resolves with its acknowledgement. */
function command(
  socket: WebSocket,
  frame: { readonly event: string; readonly payload?: unknown; readonly [more: string]: unknown },
): Promise<Record<string, unknown>> {
  const cid = `c${(cids += 1)}`;
  return new Promise((resolve) => {
    const listen = (text: Buffer): void => {
      const answer = JSON.parse(text.toString()) as Record<string, unknown>;
      if (answer["cid"] !== cid) return;
      socket.off("message", listen);
      resolve(answer);
    };
    socket.on("message", listen);
    socket.send(JSON.stringify({ type: "cmd", cid, ...frame }));
  });
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let writer: Member;
    let project = "";
    const clients: { close(): void }[] = [];
    beforeAll(async () => {
      service = await startTestService(engine, { signsIn: false });
      people = peopleOf(service);
      writer = await people.member(
        "",
        "tasks.read",
        "tasks.write",
        "projects.read",
        "projects.write",
      );
      const made = await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" });
      project = made.body.id;
    });
    afterEach(() => {
      for (const client of clients.splice(0)) client.close();
    });
    afterAll(() => service.stop());

    /** A member of the writer's tenant. */
    const colleague = (): Promise<Member> =>
      people.member(writer.tenantId, "tasks.read", "tasks.write", "projects.read");
    const assign = async (title: string, to: Member): Promise<Answer["body"]> => {
      const body = { title, project, assignee: to.id };
      const made = await people.as(writer.token, "POST", "/tasks", body);
      expect(made.status).toBe(201);
      return made.body;
    };
    const titles = ({ heard }: Client): readonly string[] =>
      heard.filter(({ event }) => event === "task.assigned").map(({ data }) => data.title);

    describe.each(["sse", "websocket"] as const)("%s", (transport) => {
      const connect = async (who: Member, options: Options = {}): Promise<Client> => {
        const client = await transports[transport](service, who, options);
        clients.push(client);
        return client;
      };

      test("who was away hears what was meant for them, oldest first, and then what comes", async () => {
        const ann = await colleague();
        const other = await colleague();
        const first = await assign("one", ann);
        await assign("not hers", other);
        await assign("two", ann);
        const client = await connect(ann, { device: "d1" });
        await expect.poll(() => titles(client)).toEqual(["one", "two"]);
        await assign("three", ann);
        await expect.poll(() => titles(client)).toEqual(["one", "two", "three"]);
        const [heard] = client.heard;
        expect(heard).toEqual({ event: "task.assigned", id: expect.any(String), data: first });
        expect(new Set(client.heard.map(({ id }) => id)).size).toBe(3);
      });

      test("what was acknowledged does not come again; each device has a cursor of its own", async () => {
        const ann = await colleague();
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        const client = await connect(ann, { device: "phone" });
        await expect.poll(() => titles(client).length).toBe(3);
        await client.ack(client.heard[1]?.id ?? "");
        client.close();
        const again = await connect(ann, { device: "phone" });
        await expect.poll(() => titles(again)).toEqual(["three"]);
        const laptop = await connect(ann, { device: "laptop" });
        await expect.poll(() => titles(laptop)).toEqual(["one", "two", "three"]);
        expect(again.heard[0]?.id).toBe(client.heard[2]?.id);
      });

      test("an acknowledgement moves no cursor backward, and another's id moves none", async () => {
        const ann = await colleague();
        const bob = await colleague();
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        await assign("his", bob);
        const client = await connect(ann, { device: "d" });
        const his = await connect(bob, { device: "d" });
        await expect.poll(() => [titles(client).length, titles(his).length]).toEqual([3, 1]);
        await client.ack(client.heard[1]?.id ?? "");
        await client.ack(client.heard[0]?.id ?? "");
        if (transport === "websocket") await client.ack(his.heard[0]?.id ?? "");
        client.close();
        const again = await connect(ann, { device: "d" });
        await expect.poll(() => titles(again)).toEqual(["three"]);
      });

      test("a client that names the last id it has goes on exactly behind it, even behind its cursor", async () => {
        const ann = await colleague();
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        const client = await connect(ann, { device: "d" });
        await expect.poll(() => titles(client).length).toBe(3);
        const [one, , three] = client.heard;
        await client.ack(three?.id ?? "");
        client.close();
        const back = await connect(ann, { device: "d", lastEventId: one?.id ?? "" });
        await expect.poll(() => titles(back)).toEqual(["two", "three"]);
        const unknown = await connect(ann, { device: "new", lastEventId: "unknown" });
        await expect.poll(() => titles(unknown)).toEqual(["one", "two", "three"]);
      });

      test("a hundred and fifty signals come in order, once, while more are staged", async () => {
        const ann = await colleague();
        const expected = Array.from({ length: 150 }, (_, index) => `t${index}`);
        const staging = (async () => {
          for (const title of expected) await assign(title, ann);
        })();
        const client = await connect(ann, { device: "d" });
        await staging;
        await expect.poll(() => titles(client), { timeout: 10_000 }).toEqual(expected);
      }, 30_000);

      test("what a rolled-back operation staged is never heard", async () => {
        const ann = await colleague();
        const task = await assign("one", ann);
        const client = await connect(ann, { device: "d" });
        await expect.poll(() => titles(client)).toEqual(["one"]);
        const stale = await people.as(writer.token, "PATCH", `/tasks/${task.id}?rev=99`, {
          assignee: ann.id,
          title: "never",
        });
        expect(stale.status).toBeGreaterThanOrEqual(400);
        await assign("two", ann);
        await expect.poll(() => titles(client)).toEqual(["one", "two"]);
      });

      test("topics are heard by those who may, live and without an id", async () => {
        const ann = await colleague();
        const topics = [`project:${project}`];
        const client = await connect(ann, { device: "d", topics });
        const task = await people.as(writer.token, "POST", "/tasks", { title: "t", project });
        await expect.poll(() => client.heard.map(({ event }) => event)).toEqual(["task.changed"]);
        expect(client.heard[0]).toEqual({ event: "task.changed", id: null, data: task.body });
        const elsewhere = await connect(ann, { device: "e" });
        await people.as(writer.token, "PATCH", `/tasks/${task.body.id}?rev=1`, { state: "doing" });
        await expect.poll(() => client.heard.length).toBe(2);
        expect(elsewhere.heard).toEqual([]);
      });

      test("a session that ends, and a membership, end the connection", async () => {
        const ann = await colleague();
        const bob = await colleague();
        const [one, two] = [await connect(ann), await connect(bob)];
        expect((await people.as(ann.token, "POST", "/auth/logout", {})).status).toBe(204);
        await service.running.connection.write("test.leave", ({ transaction }) =>
          transaction.tenants.removeMember(bob.tenantId, bob.id, Date.now()),
        );
        await expect
          .poll(() => [one.hasEnded(), two.hasEnded()], { timeout: 6_000 })
          .toEqual([true, true]);
      }, 10_000);
    });

    test.each([
      ["?protocol=2", 422, "realtime_protocol_unsupported"],
      ["?protocol=01", 422, "realtime_protocol_unsupported"],
      ["?protocol=", 422, "realtime_protocol_unsupported"],
      ["?device_id=", 422, "core.validation"],
      ["?unknown=1", 422, "core.validation"],
      ["?topics=project:01890000-0000-7000-8000-0000000000ff", 403, "realtime_topics_unauthorized"],
      ["?device_id=a&device_id=b", 400, "parameter_malformed"],
    ])("a connection with %s is refused alike on both transports", async (query, status, code) => {
      const sse = await people.as(writer.token, "GET", `/realtime/sse${query}`);
      expect([sse.status, sse.body.code]).toEqual([status, code]);
      const { closed } = await openSocket(service, writer, query);
      await expect.poll(() => closed()?.code).toBe(1008);
      expect(closed()?.reason.startsWith(`${code}: `)).toBe(true);
    });

    test("nobody is refused, and another origin", async () => {
      expect((await service.call("GET", "/realtime/sse")).status).toBe(401);
      const nobody = await openSocket(service, { token: "x" });
      await expect.poll(() => nobody.closed()?.code).toBe(1008);
      const headers = { authorization: `Bearer ${writer.token}`, origin: "https://evil.example" };
      for (const [method, path] of [
        ["GET", "/realtime/sse"],
        ["POST", "/realtime/sse/ack"],
      ] as const) {
        const answer = await service.call(method, path, { headers });
        expect([answer.status, answer.body.code]).toEqual([403, "realtime_origin_forbidden"]);
      }
      const address = `${service.url.replace("http", "ws")}/realtime/ws`;
      const socket = new WebSocket(address, { headers });
      const code = await new Promise((resolve) => socket.once("close", resolve));
      expect(code).toBe(1008);
    });

    test.each([
      [{}, "/up_to"],
      [{ up_to: "" }, "/up_to"],
      [{ up_to: 1 }, "/up_to"],
      [{ up_to: "x", more: 1 }, "/up_to"],
    ])("an acknowledgement of %j is refused", async (body, path) => {
      const answer = await people.as(writer.token, "POST", "/realtime/sse/ack", body);
      expect([answer.status, answer.body.context.errors[0].path]).toEqual([422, path]);
    });

    describe("history", () => {
      const read = async (who: Member, query = ""): Promise<Answer> =>
        people.as(who.token, "GET", `/realtime/history${query}`);
      const kept = ({ body }: Answer): readonly string[] =>
        (body.signals as readonly Heard[]).map(({ data }) => data.title);

      test("a mailbox is read in pages, as it is delivered, and acknowledges nothing", async () => {
        const ann = await colleague();
        expect((await read(ann)).body).toEqual({ signals: [], gap: null, has_more: false });
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        await expect.poll(async () => kept(await read(ann))).toEqual(["one", "two", "three"]);
        const first = await read(ann, "?limit=2");
        expect([kept(first), first.body.has_more]).toEqual([["one", "two"], true]);
        const behind = await read(ann, `?limit=2&after=${first.body.signals[1].id}`);
        expect([kept(behind), behind.body.has_more]).toEqual([["three"], false]);
        const client = await transports.sse(service, ann, { device: "d" });
        clients.push(client);
        await expect.poll(() => titles(client)).toEqual(["one", "two", "three"]);
        expect(client.heard[0]).toEqual(first.body.signals[0]);
        expect(first.headers.get("cache-control")).toBe("no-store");
      });

      test("what retention removed is told of where a place was named", async () => {
        const ann = await colleague();
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        await expect.poll(async () => kept(await read(ann))).toEqual(["one", "two", "three"]);
        const [one] = (await read(ann)).body.signals;
        await service.running.connection.write("test.trim", ({ transaction }) =>
          transaction.mailbox.trim(0, 1),
        );
        const after = await read(ann, `?after=${one.id}`);
        expect([kept(after), after.body.gap]).toEqual([["three"], { from: 2, to: 2 }]);
        expect((await read(ann)).body.gap).toBeNull();
      });

      test("it is the caller's alone", async () => {
        const [ann, bob] = [await colleague(), await colleague()];
        await assign("hers", ann);
        await expect.poll(async () => kept(await read(ann))).toEqual(["hers"]);
        const [hers] = (await read(ann)).body.signals;
        expect(kept(await read(bob))).toEqual([]);
        const foreign = await read(bob, `?after=${hers.id}`);
        expect([foreign.status, foreign.body.context.errors[0].path]).toEqual([422, "/after"]);
        expect((await service.call("GET", "/realtime/history")).status).toBe(401);
        expect((await people.as(ann.token, "POST", "/realtime/history", {})).status).toBe(405);
      });

      test.each(["?limit=0", "?limit=101", "?limit=1e1", "?after=x", "?before=x"])(
        "%s is refused",
        async (query) => {
          const answer = await read(writer, query);
          expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
        },
      );
    });

    test("an unknown id is acknowledged with false", async () => {
      const answer = await people.as(writer.token, "POST", "/realtime/sse/ack", {
        up_to: "unknown",
      });
      expect([answer.status, answer.body]).toEqual([200, { acked: false }]);
    });

    describe("commands", () => {
      let open: Awaited<ReturnType<typeof openSocket>>;
      let task = "";
      beforeAll(async () => {
        open = await openSocket(service, writer);
        task = (await people.as(writer.token, "POST", "/tasks", { title: "t", project })).body.id;
      });
      afterAll(() => open.socket.close());

      test("a command is an operation with another door", async () => {
        const answer = await command(open.socket, {
          event: "task.comment",
          payload: { task, text: "hello" },
        });
        expect(answer).toMatchObject({
          type: "ack",
          data: { task, who: writer.id, text: "hello" },
        });
        const listener = await openSocket(service, writer, `?topics=project:${project}`);
        await command(open.socket, { event: "task.comment", payload: { task, text: "again" } });
        await expect.poll(() => listener.heard.map(({ event }) => event)).toEqual(["task.typing"]);
        listener.socket.close();
      });

      test.each([
        [{ payload: { task: "x", text: "t" } }, "core.validation"],
        [{ payload: { text: "t" } }, "core.validation"],
        [{ payload: null }, "core.validation"],
        [
          { payload: { task: "01890000-0000-7000-8000-0000000000ff", text: "t" } },
          "core.not_found",
        ],
        [{ event: "nothing" }, "realtime_invalid_frame"],
        [{ event: "__proto__" }, "realtime_invalid_frame"],
        [{ deadline_budget: "5" }, "realtime_invalid_frame"],
        [{ deadline_budget: 0 }, "realtime_invalid_frame"],
        [{ idempotency_key: 1 }, "realtime_invalid_frame"],
        [{ idempotency_key: "" }, "realtime_invalid_frame"],
      ])("a command with %j is acknowledged with its error", async (frame, code) => {
        const answer = await command(open.socket, {
          event: "task.comment",
          payload: { task, text: "t" },
          ...frame,
        });
        expect(answer).toMatchObject({ type: "ack", error: { code } });
      });

      test("a key runs a command once", async () => {
        const payload = { task, text: "once" };
        const frame = { event: "task.comment", payload, idempotency_key: "k1" };
        const [one, two] = [await command(open.socket, frame), await command(open.socket, frame)];
        expect(one["data"]).toEqual(two["data"]);
        const other = await command(open.socket, { ...frame, payload: { task, text: "other" } });
        expect(other).toMatchObject({ error: { code: "idempotency_key_reused" } });
      });

      test.each([
        ["no json"],
        ["[]"],
        ["null"],
        ['{"type":1}'],
        ['{"type":"more"}'],
        ['{"type":"realtime.ack"}'],
      ])("the frame %s is answered with an error, and the connection lives on", async (text) => {
        const answer = new Promise<Record<string, unknown>>((resolve) => {
          open.socket.once("message", (data: Buffer) => resolve(JSON.parse(data.toString())));
        });
        open.socket.send(text);
        expect(await answer).toMatchObject({
          type: "error",
          error: { code: "realtime_invalid_frame" },
        });
      });

      test("a token is renewed in place, for the same caller alone", async () => {
        const fresh = await people.session(writer.id, writer.tenantId);
        const renewed = await command(open.socket, {
          event: "-",
          type: "realtime.reauth",
          auth: { token: fresh.access_token },
        });
        expect(renewed).toMatchObject({ type: "ack", data: { ok: true } });
        const stranger = await colleague();
        for (const token of [stranger.token, "x"]) {
          const refused = await command(open.socket, {
            event: "-",
            type: "realtime.reauth",
            auth: { token },
          });
          expect(refused).toMatchObject({ error: { code: "core.authentication" } });
        }
        expect(open.hasEnded()).toBe(false);
      });

      test("binary frames and frames that are too large end the connection", async () => {
        const binary = await openSocket(service, writer);
        binary.socket.send(Buffer.from([1]));
        await expect.poll(() => binary.closed()?.code).toBe(1003);
        const large = await openSocket(service, writer);
        large.socket.send("x".repeat(64 * 1024 + 1));
        await expect.poll(() => large.closed()?.code).toBe(1009);
      });
    });

    test("a principal has twenty connections, and no more", async () => {
      const ann = await colleague();
      const open = await Promise.all(Array.from({ length: 20 }, () => openSocket(service, ann)));
      const one = await command(open[0]?.socket as WebSocket, { event: "nothing" });
      expect(one["type"]).toBe("ack");
      const more = await openSocket(service, ann);
      await expect
        .poll(() => more.closed()?.reason.split(":")[0])
        .toBe("realtime_connections_limit");
      for (const { socket } of open) socket.close();
    });

    test("what retention has removed is told of as a gap", async () => {
      const ann = await colleague();
      for (const title of ["one", "two", "three"]) await assign(title, ann);
      const seen = await transports.websocket(service, ann, { device: "d" });
      await expect.poll(() => titles(seen).length).toBe(3);
      seen.close();
      await service.running.connection.write("test.trim", ({ transaction }) =>
        transaction.mailbox.trim(0, 1),
      );
      const client = await transports.websocket(service, ann, { device: "d" });
      clients.push(client);
      await expect.poll(() => client.heard.length).toBe(2);
      expect(client.heard).toEqual([
        { event: "realtime.gap", id: null, data: { from: 1, to: 2 } },
        expect.objectContaining({ event: "task.assigned" }),
      ]);
    });

    test("a connection that is not admitted yet when the service stops ends with it", async () => {
      const database = await engine.create();
      const other = await startTestService(engine, {
        signsIn: false,
        environment: { DATABASE_URL: database.url },
      });
      const ann = await peopleOf(other).member("", "tasks.read");
      for (let index = 0; index < 5; index += 1) {
        const address = `${other.url.replace("http", "ws")}/realtime/ws`;
        const socket = new WebSocket(address, {
          headers: { authorization: `Bearer ${ann.token}` },
        });
        socket.on("error", () => undefined);
        if (index === 4) await new Promise((resolve) => socket.once("open", resolve));
      }
      await other.stop();
      await database.drop();
    }, 9_000);

    test("stopping ends connections so that they come back", async () => {
      const database = await engine.create();
      const other = await startTestService(engine, {
        signsIn: false,
        environment: { DATABASE_URL: database.url },
      });
      const ann = await peopleOf(other).member("", "tasks.read");
      const { closed } = await openSocket(other, ann);
      const response = await fetch(`${other.url}/realtime/sse`, {
        headers: { authorization: `Bearer ${ann.token}` },
      });
      await other.running.stop();
      expect(await response.text()).toMatch(/retry: \d{4}\n\n$/);
      await expect.poll(() => closed()?.code).toBe(1012);
      await other.stop();
      await database.drop();
    });
  });
}
