// The realtime plane over the wire: mailboxes, replay, acknowledgement, topics, commands, ends (service.md "Realtime wire protocol").
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { io, type Socket } from "socket.io-client";
import { WebSocket } from "ws";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import {
  ask,
  connectSocketIo,
  connectSse,
  connectWebSocket,
  openSocket,
  type Client,
  type ConnectOptions,
  type DuplexClient,
  type Heard,
} from "../../support/realtime-clients.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { mailboxStore } from "../../../runtime/ports/mailbox.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const transports = { sse: connectSse, websocket: connectWebSocket, socketio: connectSocketIo };
const duplex = { websocket: connectWebSocket, socketio: connectSocketIo };

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

    describe.each(["sse", "websocket", "socketio"] as const)("%s", (transport) => {
      const connect = async (who: Member, options: ConnectOptions = {}): Promise<Client> => {
        const client = await transports[transport](service, who, options);
        clients.push(client);
        return client;
      };

      test("somebody who was away hears the signals missed, oldest first, and then new ones", async () => {
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

      test("acknowledged signals do not come again; each device has a cursor of its own", async () => {
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
        // Somebody else's, which is refused or moves nothing.
        await client.ack(his.heard[0]?.id ?? "");
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

      test("topics are heard by those who may, live and without an id", async () => {
        const ann = await colleague();
        const topics = [`project:${project}`];
        const client = await connect(ann, { device: "d", topics });
        const task = await people.as(writer.token, "POST", "/tasks", { title: "t", project });
        await expect.poll(() => client.heard.map(({ event }) => event)).toEqual(["task.changed"]);
        expect(client.heard[0]).toEqual({
          event: "task.changed",
          id: null,
          data: task.body,
          signal_id: expect.stringMatching(/./),
        });
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
          transaction.of(tenantStore).removeMember(bob.tenantId, bob.id, Date.now()),
        );
        await expect
          .poll(() => [one.hasEnded(), two.hasEnded()], { timeout: 5_000 })
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
    ])("a connection with %s is refused alike", async (query, status, code) => {
      const sse = await people.as(writer.token, "GET", `/realtime/sse${query}`);
      expect([sse.status, sse.body.code]).toEqual([status, code]);
      const { closed } = await openSocket(service, writer, query);
      await expect.poll(() => closed()?.code).toBe(1008);
      expect(closed()?.reason.startsWith(`${code}: `)).toBe(true);
    });

    test("a version that is not spoken is refused with the range of those that are", async () => {
      const sse = await people.as(writer.token, "GET", "/realtime/sse?protocol=2");
      expect(sse.body.context).toEqual({ lowest: 1, highest: 1 });
      const { closed } = await openSocket(service, writer, "?protocol=2");
      await expect.poll(() => closed()?.reason).toMatch(/ \(lowest 1, highest 1\)$/);
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

    test("the origin of PUBLIC_URL is the service's own", async () => {
      const environment = { PUBLIC_URL: "https://public.example/api" };
      const other = await startTestService(engine, { environment });
      const asked = async (origin: string): Promise<number> => {
        const leaving = new AbortController();
        const headers = { authorization: `Bearer ${other.tester.token}`, origin };
        const { signal } = leaving;
        const { status } = await fetch(`${other.url}/realtime/sse`, { headers, signal });
        leaving.abort();
        return status;
      };
      expect(await asked("https://public.example")).toBe(200);
      expect(await asked("https://public.example.evil.example")).toBe(403);
      await other.stop();
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
        const empty = await read(ann);
        expect(empty.body).toMatchObject({ signals: [], gap: null, has_more: false });
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
        // The beginning of an empty mailbox has an id as well.
        const all = await read(ann, `?after=${empty.body.after}`);
        expect(kept(all)).toEqual(["one", "two", "three"]);
      });

      test("a page begins where a device is, and says behind which id that is", async () => {
        const ann = await colleague();
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        await expect.poll(async () => kept(await read(ann))).toEqual(["one", "two", "three"]);
        const [one, , three] = (await read(ann)).body.signals;
        const now = await read(ann, "?device_id=new&from=now");
        expect([kept(now), now.body.after]).toEqual([[], three.id]);
        expect(kept(await read(ann, "?device_id=new"))).toEqual(["one", "two", "three"]);
        const client = await transports.sse(service, ann, { device: "d" });
        clients.push(client);
        await client.ack(one.id);
        const known = await read(ann, "?device_id=d&from=now");
        expect([kept(known), known.body.after]).toEqual([["two", "three"], one.id]);
        expect((await read(ann, "?from=then")).status).toBe(422);
      });

      test("a gap left by retention is announced where a position was named", async () => {
        const ann = await colleague();
        for (const title of ["one", "two", "three"]) await assign(title, ann);
        await expect.poll(async () => kept(await read(ann))).toEqual(["one", "two", "three"]);
        const [one] = (await read(ann)).body.signals;
        await service.running.connection.write("test.trim", ({ transaction }) =>
          transaction.of(mailboxStore).trim(0, 1, 1_000),
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

    describe.each(["websocket", "socketio"] as const)("commands over %s", (transport) => {
      let client: DuplexClient;
      let task = "";
      beforeAll(async () => {
        client = await duplex[transport](service, writer);
        task = (await people.as(writer.token, "POST", "/tasks", { title: "t", project })).body.id;
      });
      afterAll(() => client.close());

      test("a command is an operation with another door", async () => {
        const answer = await client.command("task.comment", { task, text: "hello" });
        expect(answer.data).toEqual({ task, who: writer.id, text: "hello" });
        const listener = await connectWebSocket(service, writer, {
          topics: [`project:${project}`],
        });
        await client.command("task.comment", { task, text: "again" });
        await expect.poll(() => listener.heard.map(({ event }) => event)).toContain("task.typing");
        listener.close();
      });

      test.each([
        [{ task: "x", text: "t" }, {}, "realtime_invalid_payload"],
        [{ text: "t" }, {}, "realtime_invalid_payload"],
        [null, {}, "realtime_invalid_payload"],
        [{ task: "01890000-0000-7000-8000-0000000000ff", text: "t" }, {}, "core.not_found"],
        [{ task, text: "t" }, { deadline_budget: "5" }, "realtime_invalid_frame"],
        [{ task, text: "t" }, { deadline_budget: 0 }, "realtime_invalid_frame"],
        [{ task, text: "t" }, { idempotency_key: 1 }, "realtime_invalid_frame"],
        [{ task, text: "t" }, { idempotency_key: "" }, "realtime_invalid_frame"],
      ])("a command with %j, %j is acknowledged with its error", async (payload, options, code) => {
        expect(await client.command("task.comment", payload, options)).toMatchObject({
          error: { code },
        });
      });

      test.each(["nothing", "toString", "__proto__"])("there is no command %s", async (event) => {
        expect(await client.command(event, {})).toMatchObject({
          error: { code: "realtime_command_unknown" },
        });
      });

      // Read from text: in a literal of JavaScript, `__proto__` isn't a member.
      test("__proto__ is an undeclared member as any other, in payloads and in frames", async () => {
        const answers = async (name: string): Promise<unknown> => {
          const payloads = ['{"*": {"task": "x"}, "text": "t"}', '{"text": "t", "*": {}}'];
          const one = { task, text: "t" };
          const given: readonly (readonly [object, object])[] = [
            ...payloads.map((text) => [{ ...one, ...read(text, name) }, {}] as const),
            [one, read('{"*": {"idempotency_key": 1}}', name)],
          ];
          const told = given.map(async ([payload, frame]) => {
            const { data, error } = await client.command("task.comment", payload, frame);
            return { data, error };
          });
          return JSON.parse(JSON.stringify(await Promise.all(told)).replaceAll(name, "undeclared"));
        };
        const read = (text: string, name: string): object =>
          JSON.parse(text.replace("*", name)) as object;
        const usual = await answers("undeclared");
        expect(usual).toMatchObject([
          { error: { code: "realtime_invalid_payload" } },
          { error: { code: "realtime_invalid_payload" } },
          {},
        ]);
        expect(await answers("__proto__")).toEqual(usual);
      });

      test("a key runs a command once", async () => {
        const listener = await connectWebSocket(service, writer, {
          topics: [`project:${project}`],
        });
        const typing = (): number =>
          listener.heard.filter(({ event }) => event === "task.typing").length;
        const key = { idempotency_key: `key-${transport}` };
        const payload = { task, text: "once" };
        const [one, two] = [
          await client.command("task.comment", payload, key),
          await client.command("task.comment", payload, key),
        ];
        expect(one.data).toEqual(two.data);
        await expect.poll(typing).toBe(1);
        const other = await client.command("task.comment", { task, text: "other" }, key);
        expect(other).toMatchObject({ error: { code: "idempotency_key_reused" } });
      });

      test("a token is renewed in place, for the same caller alone", async () => {
        const fresh = await people.session(writer.id, writer.tenantId);
        expect((await client.reauthenticate(fresh.access_token)).data).toEqual({ ok: true });
        const stranger = await colleague();
        for (const token of [stranger.token, "x"])
          expect(await client.reauthenticate(token)).toMatchObject({
            error: { code: "core.authentication" },
          });
        expect(client.hasEnded()).toBe(false);
      });
    });

    describe("frames of a WebSocket", () => {
      let open: Awaited<ReturnType<typeof openSocket>>;
      beforeAll(async () => {
        open = await openSocket(service, writer);
      });
      afterAll(() => open.socket.close());

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

      test("binary frames and frames that are too large end the connection", async () => {
        const binary = await openSocket(service, writer);
        binary.socket.send(Buffer.from([1]));
        await expect.poll(() => binary.closed()?.code).toBe(1003);
        const large = await openSocket(service, writer);
        large.socket.send("x".repeat(64 * 1024 + 1));
        await expect.poll(() => large.closed()?.code).toBe(1009);
      });
    });

    describe("Socket.IO", () => {
      const address = (): string => `${service.url}/realtime/socket.io`;
      const connect = (auth: object, extraHeaders: Readonly<Record<string, string>> = {}) => {
        const socket = io(service.url, {
          path: "/realtime/socket.io",
          transports: ["websocket"],
          forceNew: true,
          reconnection: false,
          auth,
          extraHeaders,
        });
        clients.push({ close: () => void socket.disconnect() });
        return socket;
      };
      const refused = (socket: Socket): Promise<Error & { readonly data?: unknown }> =>
        new Promise((resolve) => socket.once("connect_error", resolve));

      test.each([
        [{ protocol: 2 }, "realtime_protocol_unsupported"],
        [{ protocol: "01" }, "realtime_protocol_unsupported"],
        [{ device_id: "" }, "core.validation"],
        [{ device_id: 1 }, "core.validation"],
        [{ topics: "project:1" }, "core.validation"],
        [{ topics: ["project:1"] }, "realtime_topics_unauthorized"],
        [{ topics: Array.from({ length: 33 }, (_, at) => `t${at}`) }, "realtime_topics_limit"],
        [{ token: "x" }, "core.authentication"],
        [{ token: 1 }, "realtime_invalid_frame"],
      ])("a connection with %j is refused as the others are", async (auth, code) => {
        const error = await refused(connect({ token: writer.token, ...auth }));
        expect([error.message.split(":")[0], error.data]).toEqual([
          code,
          expect.objectContaining({ code, kind: expect.any(String) }),
        ]);
      });

      test("nobody is refused, and another origin, over polling too", async () => {
        expect(await refused(connect({}))).toMatchObject({ data: { code: "core.authentication" } });
        const origin = "https://evil.example";
        await refused(connect({ token: writer.token }, { origin }));
        const polling = await fetch(`${address()}/?EIO=4&transport=polling`, {
          headers: { origin },
        });
        expect([polling.status, polling.headers.get("x-error-code")]).toEqual([
          403,
          "realtime_origin_forbidden",
        ]);
        // Without an origin it is the transport that is refused.
        expect((await fetch(`${address()}/?EIO=4&transport=polling`)).status).toBe(400);
      });

      test("without a device its session has the cursor", async () => {
        const ann = await colleague();
        const { access_token: token } = await people.session(ann.id, ann.tenantId);
        for (const title of ["one", "two"]) await assign(title, ann);
        const first = await connectSocketIo(service, { token });
        await expect.poll(() => titles(first)).toEqual(["one", "two"]);
        await first.ack(first.heard[0]?.id ?? "");
        first.close();
        const again = await connectSocketIo(service, { token });
        await expect.poll(() => titles(again)).toEqual(["two"]);
        const elsewhere = await connectSocketIo(service, ann);
        await expect.poll(() => titles(elsewhere)).toEqual(["one", "two"]);
        clients.push(again, elsewhere);
      });

      test("binary or oversized frames end the connection, and it comes back", async () => {
        for (const payload of [Buffer.from([1]), "x".repeat(64 * 1024)]) {
          const socket = connect({ token: writer.token });
          await new Promise<void>((resolve) => socket.once("connect", resolve));
          const reason = new Promise((resolve) => socket.once("disconnect", resolve));
          socket.emit("task.comment", payload);
          // The reasons after which Socket.IO's client reconnects.
          expect(["transport close", "transport error"]).toContain(await reason);
        }
      });

      test("a faulty frame that asks for no answer is reported as an event", async () => {
        const socket = connect({ token: writer.token });
        const told = new Promise((resolve) => socket.once("realtime.error", resolve));
        socket.emit("nothing", {});
        expect(await told).toMatchObject({ error: { code: "realtime_command_unknown" } });
        expect(await socket.emitWithAck("realtime.ack", {})).toMatchObject({
          error: { code: "realtime_invalid_frame" },
        });
        expect(await socket.emitWithAck("task.comment", {}, {}, {})).toMatchObject({
          error: { code: "realtime_invalid_frame" },
        });
      });
    });

    test("a principal has twenty connections, and no more", async () => {
      const ann = await colleague();
      const open = await Promise.all(Array.from({ length: 20 }, () => openSocket(service, ann)));
      await Promise.all(open.map(({ socket }) => ask(socket, { event: "nothing" })));
      const more = await openSocket(service, ann);
      await expect
        .poll(() => more.closed()?.reason.split(":")[0])
        .toBe("realtime_connections_limit");
      for (const { socket } of open) socket.close();
    });

    test("signals removed by retention are announced as a gap", async () => {
      const ann = await colleague();
      for (const title of ["one", "two", "three"]) await assign(title, ann);
      const seen = await transports.websocket(service, ann, { device: "d" });
      await expect.poll(() => titles(seen).length).toBe(3);
      seen.close();
      await service.running.connection.write("test.trim", ({ transaction }) =>
        transaction.of(mailboxStore).trim(0, 1, 1_000),
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
        environment: { ...database.environment },
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

    test("stopping ends connections whose caller is still being looked up in the same way", async () => {
      const database = await engine.create();
      const other = await startTestService(engine, {
        signsIn: false,
        environment: { ...database.environment },
      });
      const ann = await peopleOf(other).member("", "tasks.read");
      // The first connection loads the transport.
      await openSocket(other, ann);
      const late = await Promise.all(Array.from({ length: 5 }, () => openSocket(other, ann)));
      await other.running.stop();
      await expect
        .poll(() => new Set(late.map(({ closed }) => closed()?.code)))
        .toEqual(new Set([1001]));
      await other.stop();
      await database.drop();
    });

    test("stopping ends connections so that they come back", async () => {
      const database = await engine.create();
      const other = await startTestService(engine, {
        signsIn: false,
        environment: { ...database.environment },
      });
      const ann = await peopleOf(other).member("", "tasks.read");
      const { closed } = await openSocket(other, ann);
      const response = await fetch(`${other.url}/realtime/sse`, {
        headers: { authorization: `Bearer ${ann.token}` },
      });
      await other.running.stop();
      expect(await response.text()).toMatch(/retry: \d{4}\n\n$/);
      await expect.poll(() => closed()?.code).toBe(1001);
      await other.stop();
      await database.drop();
    });
  });
}
