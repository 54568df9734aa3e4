// The AsyncAPI document of the realtime plane: valid by its own parser and by a linter, served, and true of every frame that
// is sent or accepted.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { Parser } from "@asyncapi/parser";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { formats } from "../../../runtime/contract/validation.js";
import { engines } from "../../support/engines.js";
import { declaredService } from "../../support/declared.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { generated, startTestService, type TestService } from "../../support/service.js";
import { mailboxStore } from "../../../runtime/ports/mailbox.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const text = readFileSync(`${generated}/asyncapi.json`, "utf8");
const document = JSON.parse(text);

test("the document is valid AsyncAPI 3.0", async () => {
  const { document: parsed, diagnostics } = await new Parser().parse(text);
  const faults = diagnostics.filter(({ severity }) => severity === 0);
  expect(faults.map(({ message, path }) => `${path.join("/")}: ${message}`)).toEqual([]);
  expect(parsed?.version()).toBe("3.0.0");
  expect(document.info["x-svc-realtime-protocol"]).toBe(1);
});

test("it passes @redocly/cli lint without an error or a warning", async () => {
  const root = new URL("../../..", import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(
    "npx",
    ["redocly", "lint", "generated/asyncapi.json", "--format=json", "--extends=recommended"],
    {
      cwd: root,
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    },
  ).catch((error: { readonly stdout: string }) => error);
  const { totals } = JSON.parse(stdout) as {
    readonly totals: { readonly errors: number; readonly warnings: number };
  };
  expect([totals.errors, totals.warnings]).toEqual([0, 0]);
});

test("channels and operations have the names of events and commands, payloads have components", () => {
  expect(Object.keys(document.operations).sort()).toEqual([
    "receive.realtime.ack",
    "receive.realtime.reauth",
    "receive.realtime.subscribe",
    "receive.realtime.unsubscribe",
    "receive.socketio.realtime.ack",
    "receive.socketio.realtime.reauth",
    "receive.socketio.realtime.subscribe",
    "receive.socketio.realtime.unsubscribe",
    "receive.socketio.task.comment",
    "receive.task.comment",
    "send.realtime.error",
    "send.realtime.gap",
    "send.realtime.joined",
    "send.realtime.left",
    "send.realtime.presence",
    "send.realtime.removed",
    "send.realtime.unsubscribed",
    "send.socketio",
    "send.sse",
    "send.task.assigned",
    "send.task.changed",
    "send.task.typing",
  ]);
  expect(document.channels["task.assigned"]).toMatchObject({
    address: "/ws",
    "x-svc-audience-kinds": ["principal"],
    "x-svc-offline-delivery": true,
  });
  expect(document.operations["receive.task.comment"]).toMatchObject({
    "x-svc-operation": "tasks.comment",
  });
  for (const message of Object.values<{ readonly payload: object }>(document.components.messages))
    expect(Object.keys(message.payload)).toEqual(["$ref"]);
});

test("every part of a frame that is an object or has alternatives is a schema with a name", () => {
  const unnamed = Object.entries<{
    readonly properties?: object;
    readonly oneOf?: readonly object[];
  }>(document.components.schemas).flatMap(([name, { properties = {}, oneOf = [] }]) =>
    /(?:Frame|Event|Ack)_*$/.test(name)
      ? [...Object.entries(properties), ...Object.entries(oneOf)].flatMap(([member, part]) =>
          Object.keys(part).some((keyword) => /^(?:properties|oneOf|anyOf)$/.test(keyword))
            ? [`${name}/${member}`]
            : [],
        )
      : [],
  );
  expect(unnamed).toEqual([]);
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(["ErrorEnvelope", "TaskCommentPayload", "TaskCommentOutput"]),
  );
});

describe("connections", () => {
  /** A part of the document by a reference. */
  const at = ({ $ref }: { readonly $ref: string }) =>
    $ref
      .slice(2)
      .split("/")
      .reduce((part, step) => part[step], document);
  const urlsOf = (channel: string): readonly string[] => {
    const { servers, address } = document.channels[channel];
    return servers.map((one: { readonly $ref: string }) => {
      const { host, pathname, protocol, variables } = at(one);
      const url = `${protocol}://${host}${pathname}${address}`;
      return url.replace("{host}", at(variables.host).default);
    });
  };

  test("servers and addresses say where each transport is", () => {
    expect(urlsOf("task.assigned")).toEqual([
      "wss://localhost:4400/realtime/ws",
      "ws://localhost:4400/realtime/ws",
    ]);
    expect(urlsOf("task.comment")).toEqual(urlsOf("task.assigned"));
    expect(urlsOf("sse")).toEqual([
      "https://localhost:4400/realtime/sse",
      "http://localhost:4400/realtime/sse",
    ]);
    expect(urlsOf("socketio")[0]).toBe("wss://localhost:4400/realtime/socket.io");
    const sent = Object.keys(document.operations).filter((name) => name.startsWith("send."));
    expect(document.operations["send.sse"].messages).toHaveLength(sent.length - 2);
  });

  test("bindings say the query of a handshake and the subprotocol", () => {
    const { ws } = at(document.channels["task.assigned"].bindings);
    expect(ws.method).toBe("GET");
    const parameters = ["protocol", "device_id", "topics", "last_event_id", "from"];
    expect(Object.keys(at(ws.query).properties)).toEqual(parameters);
    const { examples } = at(ws.headers).properties["Sec-WebSocket-Protocol"];
    expect(examples).toContain("realtime.v1");
    const { http } = at(document.operations["send.sse"].bindings);
    expect([http.method, Object.keys(at(http.query).properties)]).toEqual(["GET", parameters]);
  });

  test("servers say which credentials they take", () => {
    const names = (server: string): readonly string[] =>
      document.servers[server].security.map(({ $ref }: { readonly $ref: string }) =>
        $ref.slice("#/components/securitySchemes/".length),
      );
    expect(names("ws")).toEqual(["bearer", "api_key", "cookie", "subprotocol"]);
    expect(names("https")).toEqual(["bearer", "api_key", "cookie"]);
    expect(document.components.securitySchemes.api_key).toEqual({
      type: "httpApiKey",
      in: "header",
      name: "X-API-Key",
    });
  });
});

const declaring = (transports: string): string => `
registry: 1
service: {name: tracker, title: Tracker, version: 1.0.0}
identity: {ingress: [{bearer: Authorization}, {query: access_token}]}
policies: {open: []}
operations:
  notes.add: {post: /notes, in: {text: string}, out: {id: uuid}, run: registry/notes.ts#add, guard: open}
realtime:
  mount: {at: /live}
  transports: [${transports}]
  events: {note.seen: {data: {note: uuid}, audience: [principal], delivery: durable}}
  commands: {note.add: {operation: notes.add}}
`;

test.each([
  ["websocket", ["wss", "ws"], "/ws"],
  ["sse, websocket", ["wss", "ws", "https", "http"], "/ws"],
  ["socketio, websocket", ["wss", "ws"], "/ws"],
])("a service of %s has a valid document", async (transports, servers, address) => {
  const declared = await declaredService({
    "registry/service.yaml": declaring(transports),
    "registry/notes.ts":
      'export const add = async () => ({ id: "01890000-0000-7000-8000-000000000001" });\n',
  });
  const made = readFileSync(`${declared.folder}/asyncapi.json`, "utf8");
  declared.remove();
  const { diagnostics } = await new Parser().parse(made);
  const faults = diagnostics.filter(({ severity }) => severity === 0);
  expect(faults.map(({ message, path }) => `${path.join("/")}: ${message}`)).toEqual([]);
  const own = JSON.parse(made);
  expect(Object.keys(own.servers)).toEqual(servers);
  expect(own.channels["note.seen"].address).toBe(address);
  expect(own.servers.ws.pathname).toBe("/live");
  expect(Object.keys(own.components.schemas.WebSocketQuery.properties)).toContain("access_token");
  expect(own.components.securitySchemes.query).toEqual({
    type: "httpApiKey",
    in: "query",
    name: "access_token",
  });
  // A stream of events takes no token in its query.
  if (servers.includes("https"))
    expect(own.servers.https.security).toEqual([{ $ref: "#/components/securitySchemes/bearer" }]);
});

test.each([
  ["sse", ["https", "http"], "/sse", []],
  [
    "socketio, sse",
    ["wss", "ws", "https", "http"],
    "/socket.io",
    [
      "receive.note.add",
      "receive.realtime.ack",
      "receive.realtime.reauth",
      "receive.realtime.subscribe",
      "receive.realtime.unsubscribe",
    ],
  ],
])("a service of %s has a valid document", async (transports, servers, address, received) => {
  const text = declaring(transports).replace(", {query: access_token}", "");
  const declared = await declaredService({
    "registry/service.yaml": received.length > 0 ? text : text.replace(/ {2}commands.*\n/, ""),
    "registry/notes.ts":
      'export const add = async () => ({ id: "01890000-0000-7000-8000-000000000001" });\n',
  });
  const made = readFileSync(`${declared.folder}/asyncapi.json`, "utf8");
  declared.remove();
  const { diagnostics } = await new Parser().parse(made);
  expect(diagnostics.filter(({ severity }) => severity === 0)).toEqual([]);
  const own = JSON.parse(made);
  expect(Object.keys(own.servers)).toEqual(servers);
  expect(own.channels["note.seen"].address).toBe(address);
  const others = Object.keys(own.operations).filter((name) => !name.startsWith("send."));
  expect(others).toEqual(received);
  // What they are on another channel of, where WebSocket is spoken as well.
  if (received.length > 0)
    expect(own.channels["note.add"]).toMatchObject({
      address,
      messages: { "note.add": {}, "note.add.answer": {} },
    });
});

test("envelopes of the service are open to members that are added later, and need those of today", () => {
  const ajv = new Ajv2020({ strict: false, formats, validateFormats: true });
  ajv.addSchema(document, "asyncapi");
  const fits = (name: string, frame: object): boolean =>
    ajv.validate(`asyncapi#/components/messages/${name}/payload`, frame);
  const gap = { id: null, data: { from: 1, to: 2 } };
  const error = { detail: "d", code: "core.internal", kind: "internal", context: {} };
  for (const [name, frame] of [
    ["realtime.gap", gap],
    ["realtime.error", { type: "error", error }],
    ["realtime.reauth.answer", { type: "ack", cid: 1, data: { ok: true } }],
    ["realtime.reauth.answer", { type: "ack", cid: 1, error }],
  ] as const) {
    expect([name, fits(name, { ...frame, added: 1 })]).toEqual([name, true]);
    for (const member of Object.keys(frame))
      expect([member, fits(name, { ...frame, [member]: undefined })]).toEqual([member, false]);
  }
});

const [sqlite] = engines;

describe("frames", () => {
  let service: TestService;
  let people: People;
  let writer: Member;
  let project = "";
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    const may = ["tasks.read", "tasks.write", "projects.read", "projects.write"];
    writer = await people.member("", ...may);
    const made = await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" });
    project = made.body.id;
  });
  afterAll(() => service.stop());

  const ajv = new Ajv2020({ strict: false, formats, validateFormats: true });
  ajv.addSchema(document, "asyncapi");
  /** What is wrong with a frame as the message of a name. */
  const faultsOf = (name: string, frame: unknown): string =>
    ajv.validate(`asyncapi#/components/messages/${name}/payload`, frame) ? "" : ajv.errorsText();

  /** A connection of which every frame is held against the document; answers by the message that they are. */
  const open = async (query: string, token = writer.token) => {
    const address = `${service.url.replace("http", "ws")}/realtime/ws${query}`;
    const socket = new WebSocket(address, ["realtime.v1", `bearer.${token}`]);
    const names: string[] = [];
    const answers = new Map<unknown, (frame: { readonly [member: string]: unknown }) => void>();
    const faults: string[] = [];
    socket.on("message", (data: Buffer) => {
      const { event, ...frame } = JSON.parse(data.toString());
      if (event !== undefined) {
        names.push(event);
        faults.push(faultsOf(event, frame));
      } else if (frame.type === "error") {
        names.push("realtime.error");
        faults.push(faultsOf("realtime.error", frame));
      } else answers.get(frame.cid)?.(frame);
    });
    await new Promise((resolve) => socket.once("open", resolve));
    const ask = (frame: { readonly cid: unknown; readonly [member: string]: unknown }) =>
      new Promise<{ readonly [member: string]: unknown }>((resolve) => {
        answers.set(frame.cid, resolve);
        socket.send(JSON.stringify(frame));
      });
    return { socket, names, faults, ask };
  };

  test("it is served", async () => {
    expect((await service.call("GET", "/asyncapi.json")).body).toEqual(document);
  });

  test("every frame that is sent is as it says", async () => {
    const ann = await people.member(writer.tenantId, "projects.read");
    const one = await open(`?device_id=d&topics=project:${project}`);
    // Two who come together are told at once, as who is there.
    await expect.poll(() => one.names).toContain("realtime.presence");
    const two = await open(`?topics=project:${project}`, ann.token);
    await expect.poll(() => one.names).toContain("realtime.joined");
    const body = { title: "t", project, assignee: writer.id };
    for (let index = 0; index < 3; index += 1)
      await people.as(writer.token, "POST", "/tasks", body);
    const task = (await people.as(writer.token, "POST", "/tasks", body)).body.id;
    const comment = { type: "cmd", event: "task.comment", payload: { task, text: "t" } };
    expect(faultsOf("task.comment.answer", await one.ask({ ...comment, cid: 1 }))).toBe("");
    const refused = await one.ask({ ...comment, cid: "2", payload: {} });
    expect([refused["error"] !== undefined, faultsOf("task.comment.answer", refused)]).toEqual([
      true,
      "",
    ]);
    const { access_token: token } = await people.session(writer.id, writer.tenantId);
    const renewed = await one.ask({ type: "realtime.reauth", cid: 3, auth: { token } });
    expect([renewed["data"], faultsOf("realtime.reauth.answer", renewed)]).toEqual([
      { ok: true },
      "",
    ]);
    one.socket.send("no frame");
    two.socket.close();
    await expect.poll(() => one.names, { timeout: 6_000 }).toContain("realtime.left");
    const three = await open(`?topics=project:${project}`, ann.token);
    const topics = [`project:${project}`];
    const subscribed = await one.ask({ type: "realtime.subscribe", cid: 4, topics });
    expect([subscribed["data"], faultsOf("realtime.subscribe.answer", subscribed)]).toEqual([
      { topics },
      "",
    ]);
    await people.grant(null, writer.id, "admin");
    await people.grant(writer.tenantId, writer.id, "tasks.admin");
    const killed = await people.as(writer.token, "DELETE", `/tasks/${task}?rev=1`);
    expect(killed.status).toBe(204);
    await expect.poll(() => one.names).toContain("realtime.removed");
    await service.running.connection.write("test.revoke", ({ transaction }) =>
      transaction.of(tenantStore).revoke(writer.tenantId, ann.id, "projects.read"),
    );
    await expect.poll(() => three.names, { timeout: 6_000 }).toContain("realtime.unsubscribed");
    await service.running.connection.write("test.trim", ({ transaction }) =>
      transaction.of(mailboxStore).trim(0, 1, 1_000),
    );
    const first = one.names.indexOf("task.assigned");
    expect(first).toBeGreaterThanOrEqual(0);
    const later = await open("?device_id=e");
    await expect.poll(() => later.names).toContain("task.assigned");
    const all = [...one.names, ...three.names, ...later.names];
    expect([...new Set(all)].sort()).toEqual(
      Object.keys(document.operations)
        .filter((name) => name.startsWith("send."))
        .map((name) => name.slice("send.".length))
        // The transports beside WebSocket, which carry the same.
        .filter((name) => !["socketio", "sse"].includes(name))
        .sort(),
    );
    expect(
      [...one.faults, ...three.faults, ...later.faults].filter((fault) => fault !== ""),
    ).toEqual([]);
    for (const { socket } of [one, three, later]) socket.close();
  });

  const fine = { task: "01890000-0000-7000-8000-000000000001", text: "t" };
  test.each([
    [
      "task.comment",
      { type: "cmd", event: "task.comment", cid: 1, payload: { task: "", text: "" } },
    ],
    ["task.comment", { type: "cmd", event: "task.comment", cid: 2, payload: null }],
    ["task.comment", { type: "cmd", event: "task.comment", cid: 3, payload: { more: 1 } }],
    [
      "task.comment",
      { type: "cmd", event: "task.comment", cid: 4, payload: fine, deadline_budget: 0 },
    ],
    [
      "task.comment",
      { type: "cmd", event: "task.comment", cid: 5, payload: fine, idempotency_key: "" },
    ],
    ["realtime.reauth", { type: "realtime.reauth", cid: 6, auth: {} }],
    ["realtime.reauth", { type: "realtime.reauth", cid: 7 }],
  ])("a %s that the document refuses is refused: %j", async (name, frame) => {
    expect(faultsOf(name, frame)).not.toBe("");
    const { socket, ask } = await open("");
    expect(await ask(frame)).toHaveProperty("error");
    socket.close();
  });

  test("a realtime.ack that the document refuses is refused, and a good one is not", async () => {
    const { socket, names, ask } = await open("");
    for (const frame of [{ type: "realtime.ack" }, { type: "realtime.ack", up_to: "" }]) {
      expect(faultsOf("realtime.ack", frame)).not.toBe("");
      socket.send(JSON.stringify(frame));
    }
    const errors = (): readonly string[] => names.filter((name) => name === "realtime.error");
    await expect.poll(errors).toHaveLength(2);
    const good = { type: "realtime.ack", up_to: "x" };
    expect(faultsOf("realtime.ack", good)).toBe("");
    socket.send(JSON.stringify(good));
    const comment = { type: "cmd", event: "task.comment", cid: 1, payload: fine };
    expect(faultsOf("task.comment", comment)).toBe("");
    // It is answered behind the acknowledgement, which was none that is wrong.
    expect(await ask(comment)).toMatchObject({ error: { code: "core.not_found" } });
    expect(errors()).toHaveLength(2);
    socket.close();
  });

  /** A connection of Socket.IO that asks, and holds what it asks and hears against the document. */
  const emitting = async () => {
    const socket = io(service.url, {
      path: "/realtime/socket.io",
      transports: ["websocket"],
      auth: { token: writer.token },
      forceNew: true,
    });
    await new Promise((resolve) => socket.once("connect", () => resolve(undefined)));
    const ask = async (name: string, ...given: readonly unknown[]) => {
      const [payload, headers] = given;
      const { headers: declared } = document.components.messages[`socketio.${name}`];
      const isFit =
        faultsOf(`socketio.${name}`, payload) === "" &&
        (headers === undefined || ajv.validate({ $ref: `asyncapi${declared.$ref}` }, headers));
      const answer = await new Promise<{ readonly [member: string]: unknown }>((resolve) => {
        socket.emit(name, ...given, resolve);
      });
      expect([name, faultsOf(`socketio.${name}.answer`, answer)]).toEqual([name, ""]);
      return { answer, isFit };
    };
    return { socket, ask };
  };

  test("Socket.IO takes what the document says, and answers so", async () => {
    const { socket, ask } = await emitting();
    const body = { title: "t", project };
    const task = (await people.as(writer.token, "POST", "/tasks", body)).body.id;
    const comment = { task, text: "t" };
    const { access_token: token } = await people.session(writer.id, writer.tenantId);
    for (const [name, ...given] of [
      ["task.comment", comment],
      ["task.comment", comment, { idempotency_key: "k", deadline_budget: 5 }],
      ["realtime.ack", { up_to: "-" }],
      ["realtime.reauth", { token }],
    ] as const) {
      const { answer, isFit } = await ask(name, ...given);
      expect([name, isFit, Object.keys(answer)]).toEqual([
        name,
        true,
        [{ "task.comment": "data", "realtime.ack": "acked", "realtime.reauth": "ok" }[name]],
      ]);
    }
    socket.disconnect();
  });

  test.each([
    ["task.comment", { task: "", text: "" }],
    ["task.comment", null],
    ["task.comment", fine, { idempotency_key: "" }],
    ["task.comment", fine, { deadline_budget: "1" }],
    ["realtime.ack", { up_to: "" }],
    ["realtime.reauth", {}],
  ])("a %s over Socket.IO that the document refuses is refused: %j %j", async (name, ...given) => {
    const { socket, ask } = await emitting();
    const { answer, isFit } = await ask(name, ...given);
    expect([isFit, Object.keys(answer)]).toEqual([false, ["error"]]);
    socket.disconnect();
  });
});
