// Traces, as a collector gets them over the wire: two processes of the reference service that load OpenTelemetry's SDK before
// they start, and one that doesn't.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createClient } from "../../../generated/client/index.js";
import { connect, webSocket } from "../../../generated/client/realtime.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { callerOver } from "../../support/over-http.js";
import { password } from "../../support/people.js";
import {
  firstToken,
  runCommand,
  startProcess,
  type ServiceProcess,
} from "../../support/process.js";
import { ask, openSocket } from "../../support/realtime-clients.js";
import {
  startCollector,
  type TakenSpan,
  type TraceCollector,
} from "../../support/trace-collector.js";

/** A trace that a caller has begun, and its `traceparent`. */
function callersTrace(flags = "01") {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let database: FreshDatabase;
    let environment: Readonly<Record<string, string>>;
    let collector: TraceCollector;
    let receiver: Server;
    let [here, there, plain]: ServiceProcess[] = [];
    let [token, bobsToken, bob] = ["", "", ""];
    const called: IncomingHttpHeaders[] = [];

    beforeAll(async () => {
      database = await engine.create();
      collector = await startCollector();
      receiver = createServer((req, res) => {
        called.push(req.headers);
        req.resume().on("end", () => res.writeHead(204).end());
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      environment = {
        ...database.environment,
        WEBHOOK_ADDRESSES: "any",
        DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-traced-")),
      };
      const start = (more: Readonly<Record<string, string>>) =>
        startProcess({ ...environment, ...more });
      here = await start(collector.environmentOf("here"));
      there = await start(collector.environmentOf("there"));
      token = await firstToken(here.url, environment);
      const made = await runCommand(environment, [
        "create-principal",
        "bob@example.test",
        "--grant",
        "tasks.read",
      ]);
      bob = made.stdout.trim();
      const tenant = await tenantOf(token);
      const root = await logIn("root@example.test");
      const member = { tenant_id: tenant, principal_id: bob };
      await callerOver(here.url, root).call("POST", "/admin/memberships", member);
      const outside = callerOver(here.url, await logIn("bob@example.test"));
      const scoped = await outside.call("POST", `/tenants/${tenant}/activate`);
      bobsToken = scoped.body.access_token;
      const hook = { url: `http://127.0.0.1:${port()}/hook`, events: ["tasks.completed"] };
      expect((await callerOver(here.url, token).call("POST", "/webhooks", hook)).status).toBe(201);
    });
    afterAll(async () => {
      for (const one of [here, there, plain]) one?.child.kill("SIGTERM");
      await Promise.all([here?.exited, there?.exited, plain?.exited]);
      collector.close();
      receiver.closeAllConnections();
      receiver.close();
      await database.drop();
      rmSync(environment["DATA_DIR"] ?? "", { recursive: true, force: true });
    });

    const port = (): number => (receiver.address() as AddressInfo).port;
    const logIn = async (login: string): Promise<string> => {
      const answer = await callerOver(here?.url ?? "").call("POST", "/auth/login", {
        login,
        password,
      });
      return answer.body.access_token;
    };
    const tenantOf = async (of: string): Promise<string> => {
      const claims = JSON.parse(Buffer.from(of.split(".")[1] ?? "", "base64url").toString());
      return claims.tid;
    };
    /** A request in a trace. */
    const call = async (
      { traceparent }: { readonly traceparent: string },
      method: string,
      path: string,
      body?: object,
      service = here,
    ) => {
      const answer = await fetch(`${service?.url}${path}`, {
        method,
        headers: {
          traceparent,
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
    };
    const makeTask = async (
      trace = callersTrace(),
      more: object = {},
    ): Promise<{ id: string; rev: number }> => {
      const project = await call(callersTrace("00"), "POST", "/projects", {
        key: "TRACED",
        name: "Traced",
      });
      const task = { title: "a title nobody else has", project: project.body.id, ...more };
      const made = await call(trace, "POST", "/tasks", task);
      expect(made.status).toBe(201);
      return made.body;
    };
    /** Waits until a span of a trace has arrived. */
    const spanOf = async (traceId: string, name: string): Promise<TakenSpan> => {
      const find = () => collector.trace(traceId).find((span) => span.name === name);
      await expect.poll(() => collector.trace(traceId).map((span) => span.name)).toContain(name);
      return find() as TakenSpan;
    };

    test("a request of a trace ends in another user's browser, on another process", async () => {
      const { socket, heard } = await openSocket(there as ServiceProcess, { token: bobsToken });
      const tokens = { get: () => ({ access_token: bobsToken }), set() {}, caller: () => bob };
      const client = createClient({ baseUrl: there?.url ?? "", tokens });
      const live = connect(client, { transport: webSocket((...to) => new WebSocket(...to)) });
      const told: (string | undefined)[] = [];
      live.listen(({ name, traceparent }) => {
        if (name === "task.assigned") told.push(traceparent);
      });
      const trace = callersTrace();
      await makeTask(trace, { assignee: bob });
      await expect.poll(() => heard.map(({ event }) => event)).toContain("task.assigned");
      await expect.poll(() => told).toHaveLength(1);
      socket.close();
      live.close();
      const request = await spanOf(trace.traceId, "POST /tasks");
      expect(told).toEqual([`00-${trace.traceId}-${request.spanId}-01`]);
      expect(request).toMatchObject({
        service: "here",
        kind: "server",
        parentSpanId: trace.spanId,
      });
      expect(heard.find(({ event }) => event === "task.assigned")).toMatchObject({
        traceparent: `00-${trace.traceId}-${request.spanId}-01`,
      });
      const sent = await spanOf(trace.traceId, "signal task.assigned");
      expect(sent).toMatchObject({
        service: "there",
        kind: "producer",
        parentSpanId: request.spanId,
      });
    });

    test("statements are parts of their transaction, and that is part of its request", async () => {
      const trace = callersTrace();
      await makeTask(trace);
      await spanOf(trace.traceId, "POST /tasks");
      const spans = collector.trace(trace.traceId);
      const request = spans.find(({ kind }) => kind === "server");
      const transaction = spans.find(({ name }) => name === "transaction");
      expect(transaction).toMatchObject({ parentSpanId: request?.spanId });
      const insert = spans.find(({ name }) => name === "INSERT tasks");
      expect(insert).toMatchObject({
        kind: "client",
        parentSpanId: transaction?.spanId,
        attributes: {
          "db.system.name": engine.name === "sqlite" ? "sqlite" : "postgresql",
          "db.operation.name": "INSERT",
          "db.collection.name": "tasks",
          "db.query.text": expect.stringMatching(/^INSERT INTO "tasks"/),
        },
      });
      // The index of the search is written by one statement of many parts on one of the engines.
      expect(spans.map(({ name }) => name)).toContain("INSERT task_search_index");
      // Who is calling is asked of the database as well, before the transaction.
      const asked = spans.filter(
        ({ kind, parentSpanId }) => kind === "client" && parentSpanId === request?.spanId,
      );
      expect(asked.length).toBeGreaterThan(0);
      expect(request?.attributes).toEqual({
        "http.request.method": "POST",
        "http.route": "/tasks",
        "http.response.status_code": 201,
        "network.protocol.version": "1.1",
        "opwright.operation": "tasks.create",
      });
    });

    test("an event goes on with the trace, through the relay and to the webhook", async () => {
      const task = await makeTask();
      const trace = callersTrace();
      const body = { rev: task.rev };
      expect((await call(trace, "POST", `/tasks/${task.id}/complete`, body)).status).toBe(200);
      const find = () =>
        called.find(({ traceparent }) => String(traceparent).includes(trace.traceId));
      await expect.poll(find).toBeDefined();
      const [, , spanId] = String(find()?.["traceparent"]).split("-");
      const post = await spanOf(trace.traceId, "POST");
      expect(post).toMatchObject({
        kind: "client",
        spanId,
        attributes: { "http.response.status_code": 204 },
      });
      const delivery = await spanOf(trace.traceId, "webhook tasks.completed");
      expect(post.parentSpanId).toBe(delivery.spanId);
      const request = await spanOf(trace.traceId, "POST /tasks/{id}/complete");
      expect(delivery).toMatchObject({ kind: "consumer", parentSpanId: request.spanId });
      expect(delivery.attributes).toEqual({ "opwright.attempt": 1 });
    });

    test("a job goes on with the trace of what has enqueued it", async () => {
      const project = await call(callersTrace("00"), "POST", "/projects", {
        key: "FINISHED",
        name: "Finished",
      });
      const trace = callersTrace();
      const begun = await call(trace, "POST", `/projects/${project.body.id}/finish`);
      expect(begun.status).toBe(202);
      const run = await spanOf(trace.traceId, "job projects.finish");
      const request = await spanOf(trace.traceId, "POST /projects/{project}/finish");
      expect(run).toMatchObject({
        kind: "consumer",
        parentSpanId: request.spanId,
        isFailed: false,
      });
      const spans = collector.trace(trace.traceId);
      expect(spans.some(({ parentSpanId }) => parentSpanId === run.spanId)).toBe(true);
    });

    test("so does a command of a connection, where its frame says so", async () => {
      const task = await makeTask();
      const { socket } = await openSocket(there as ServiceProcess, { token });
      const trace = callersTrace();
      const payload = { task: task.id, text: "a comment" };
      const answer = await ask(socket, {
        event: "task.comment",
        payload,
        traceparent: trace.traceparent,
      });
      expect(answer).toMatchObject({ data: { text: "a comment" } });
      const odd = await ask(socket, {
        event: "task.comment",
        payload,
        traceparent: { no: "trace" },
      });
      expect(odd).toMatchObject({ data: { text: "a comment" } });
      socket.close();
      expect(await spanOf(trace.traceId, "command task.comment")).toMatchObject({
        service: "there",
        kind: "server",
        parentSpanId: trace.spanId,
        attributes: { "opwright.operation": "tasks.comment" },
      });
    });

    test("files are, and an object's name is nobody's business", async () => {
      const trace = callersTrace();
      const form = new FormData();
      form.append("file", new Blob(["secret-content"]), "secret-file.txt");
      const answer = await fetch(`${here?.url}/files`, {
        method: "POST",
        headers: { traceparent: trace.traceparent, authorization: `Bearer ${token}` },
        body: form,
      });
      expect(answer.status).toBe(201);
      const write = await spanOf(trace.traceId, "write files");
      expect(write).toMatchObject({ kind: "client", attributes: { "opwright.storage": "files" } });
    });

    test("a refusal is no failure, and a failure is", async () => {
      const [refused, late] = [callersTrace(), callersTrace()];
      expect((await call(refused, "POST", "/tasks", { title: 1 })).status).toBe(422);
      const request = await spanOf(refused.traceId, "POST /tasks");
      expect(request).toMatchObject({
        isFailed: false,
        attributes: { "http.response.status_code": 422, "opwright.code": "core.validation" },
      });
      const answer = await fetch(`${here?.url}/tasks/query`, {
        method: "POST",
        headers: {
          traceparent: late.traceparent,
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "x-deadline-budget": "0.000001",
        },
        body: "{}",
      });
      expect(answer.status).toBe(504);
      expect(await spanOf(late.traceId, "POST /tasks/query")).toMatchObject({
        isFailed: true,
        attributes: { "http.response.status_code": 504, "error.type": "deadline_exceeded" },
      });
    });

    test("HEAD is told from the GET whose route answers it", async () => {
      const [trace, task] = [callersTrace(), await makeTask()];
      expect((await call(trace, "HEAD", `/tasks/${task.id}`)).status).toBe(200);
      expect(await spanOf(trace.traceId, "HEAD /tasks/{id}")).toMatchObject({
        attributes: { "http.request.method": "HEAD", "http.route": "/tasks/{id}" },
      });
    });

    test("nor is it one if the caller leaves", async () => {
      const trace = callersTrace();
      const leaving = new AbortController();
      const text = "x".repeat(200_000);
      const asked = fetch(`${here?.url}/tasks/query`, {
        method: "POST",
        signal: leaving.signal,
        duplex: "half",
        headers: {
          traceparent: trace.traceparent,
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
        },
        // A body that does not come to its end.
        body: new ReadableStream({ start: (body) => body.enqueue(Buffer.from(`{"x":"${text}`)) }),
      } as RequestInit).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 200));
      leaving.abort();
      await asked;
      const request = await spanOf(trace.traceId, "POST /tasks/query");
      expect(request.isFailed).toBe(false);
    });

    test("a trace that its caller doesn't record isn't recorded, and goes on", async () => {
      const trace = callersTrace("00");
      const task = await makeTask();
      await call(trace, "POST", `/tasks/${task.id}/complete`, { rev: task.rev });
      const find = () =>
        called.find(({ traceparent }) => String(traceparent).includes(trace.traceId));
      await expect.poll(find).toBeDefined();
      expect(find()?.["traceparent"]).toMatch(/-00$/);
      const after = callersTrace();
      await call(after, "GET", `/tasks/${task.id}`);
      await spanOf(after.traceId, "GET /tasks/{id}");
      expect(collector.trace(trace.traceId)).toEqual([]);
    });

    test("lines of the log say to which trace they belong", async () => {
      const trace = callersTrace();
      const task = await makeTask();
      await call(trace, "POST", `/tasks/${task.id}/complete`, { rev: task.rev });
      const request = await spanOf(trace.traceId, "POST /tasks/{id}/complete");
      const lines = (here?.output() ?? "")
        .split("\n")
        .filter((line) => line.includes(trace.traceId))
        .map((line) => JSON.parse(line));
      // The author's own line, by `context.log`, and the request's.
      expect(lines.map(({ msg }) => msg)).toEqual(["task completed", "request"]);
      for (const line of lines)
        expect(line).toMatchObject({ trace_id: trace.traceId, span_id: request.spanId });
    });

    test("nothing that a caller has sent is in a span", () => {
      expect(collector.spans.length).toBeGreaterThan(50);
      const text = JSON.stringify(
        collector.spans.map(({ name, attributes }) => ({ name, attributes })),
      );
      for (const secret of ["a title nobody", "secret-", "example.test", bob, token, "a comment"])
        expect(text).not.toContain(secret);
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/);
    });

    test("every span has its parent", async () => {
      const orphans = (): readonly string[] => {
        const ids = new Set(collector.spans.map(({ spanId }) => spanId));
        return collector.spans
          .filter(({ kind, parentSpanId }) => kind !== "server" && !ids.has(parentSpanId ?? ""))
          .filter(({ parentSpanId }) => parentSpanId !== undefined)
          .map(({ name }) => name);
      };
      // A parent ends behind its children, and is sent behind them.
      await expect.poll(orphans).toEqual([]);
    });

    /** A process beside the others, until the end of a test. */
    const startBeside = async (more: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
      const one = await startProcess({ ...environment, ...more });
      onTestFinished(async () => {
        one.child.kill("SIGTERM");
        await one.exited;
      });
      return one;
    };

    test("the span that another library has begun for a request is the parent of ours", async () => {
      const told = collector.environmentOf("instrumented", "instrumentation");
      const instrumented = await startBeside(told);
      const trace = callersTrace();
      const task = await makeTask();
      const path = `/tasks/${task.id}/complete`;
      const answer = await call(trace, "POST", path, { rev: task.rev }, instrumented);
      expect(answer.status).toBe(200);
      const request = await spanOf(trace.traceId, "POST /tasks/{id}/complete");
      const outer = collector
        .trace(trace.traceId)
        .find(({ spanId }) => spanId === request.parentSpanId);
      expect(outer).toMatchObject({ name: "POST", kind: "server", parentSpanId: trace.spanId });
      // Its own span of the webhook's request is within ours, and so is what the webhook is told.
      const find = () =>
        called.find(({ traceparent }) => String(traceparent).includes(trace.traceId));
      await expect.poll(find).toBeDefined();
    });

    test("requests that wait for their turn on a connection are each in their own trace", async () => {
      const told = collector.environmentOf("pipelined", "instrumentation");
      const { port: at, hostname } = new URL((await startBeside(told)).url);
      const traces = Array.from({ length: 4 }, () => callersTrace());
      const socket = createConnection(Number(at), hostname);
      for (const { traceparent } of traces)
        socket.write(
          `POST /tasks/query HTTP/1.1\r\nHost: ${hostname}:${at}\r\nTraceparent: ${traceparent}\r\n` +
            `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
        );
      for (const { traceId, spanId } of traces) {
        const request = await spanOf(traceId, "POST /tasks/query");
        const outer = collector.trace(traceId).find((one) => one.spanId === request.parentSpanId);
        expect(outer?.parentSpanId).toBe(spanId);
      }
      socket.destroy();
    });

    test("an SDK that throws is told of once, and no answer knows of it", async () => {
      const faulty = await startBeside(collector.environmentOf("faulty", "throwing"));
      const project = await call(
        callersTrace(),
        "POST",
        "/projects",
        { key: "ODD", name: "Odd" },
        faulty,
      );
      expect(project.status).toBe(201);
      const task = { title: "t", project: project.body.id, assignee: bob };
      const { heard, socket } = await openSocket(faulty, { token: bobsToken });
      const made = await call(callersTrace(), "POST", "/tasks", task, faulty);
      expect(made.status).toBe(201);
      const path = `/tasks/${made.body.id}/complete`;
      const before = called.length;
      expect((await call(callersTrace(), "POST", path, { rev: 1 }, faulty)).status).toBe(200);
      await expect.poll(() => called.length).toBe(before + 1);
      const ofTask = () => heard.filter(({ data }) => data.id === made.body.id);
      await expect.poll(() => ofTask().length).toBe(1);
      expect((await call(callersTrace(), "GET", "/tasks/no-id", undefined, faulty)).status).toBe(
        422,
      );
      socket.close();
      const lines = faulty
        .output()
        .split("\n")
        .filter((line) => /"level":[45]0/.test(line));
      expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
        "the SDK of OpenTelemetry has failed: spans are missing from now on",
      ]);
    });

    test("one that makes no spans is told of, and what a caller has sent goes on", async () => {
      const mute = await startBeside(collector.environmentOf("mute", "mute"));
      const trace = callersTrace();
      const task = await makeTask();
      const path = `/tasks/${task.id}/complete`;
      expect((await call(trace, "POST", path, { rev: task.rev }, mute)).status).toBe(200);
      await expect
        .poll(() => called.map(({ traceparent }) => traceparent))
        .toContain(trace.traceparent);
      expect(mute.output()).toContain("the SDK that is registered makes no spans");
    });

    test("the last spans are sent when the service stops", async () => {
      const late = await startProcess({
        ...environment,
        ...collector.environmentOf("late"),
        OTEL_BSP_SCHEDULE_DELAY: "60000",
        SETTLE_SECONDS: "0",
      });
      const trace = callersTrace();
      expect((await call(trace, "POST", "/tasks/query", {}, late)).status).toBe(200);
      late.child.kill("SIGTERM");
      expect(await late.exited).toBe(0);
      expect(await spanOf(trace.traceId, "POST /tasks/query")).toMatchObject({ service: "late" });
    });

    test("a service without an SDK passes on what its caller has sent", async () => {
      plain = await startProcess(environment);
      here?.child.kill("SIGTERM");
      there?.child.kill("SIGTERM");
      await Promise.all([here?.exited, there?.exited]);
      here = plain;
      const task = await makeTask();
      const trace = callersTrace();
      await call(trace, "POST", `/tasks/${task.id}/complete`, { rev: task.rev });
      await expect.poll(() => called.at(-1)?.["traceparent"]).toBe(trace.traceparent);
      expect(plain.output()).toContain(`"trace_id":"${trace.traceId}"`);
    });
  });
