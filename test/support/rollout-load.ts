// Callers during a rollout: they write and read all along, and hold each answer against the document of the version that
// gave it.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { OpenApiDocument, type Operation } from "../property/document/open-api.js";
import { versionHeader } from "./rolling-proxy.js";

/** What lies between two rounds of a caller, in milliseconds: callers leave others some of the machine. */
const pauseMillis = 20;

/** What a caller's documents have beside their title; null where the caller knows no version's own members. */
export interface Caller {
  /** The only version that it talks to; any where it is left out. */
  readonly version?: string;
  readonly members: readonly Readonly<Record<string, unknown>>[];
}

export interface Load {
  /** Answers so far, by the version that gave them. */
  readonly answers: ReadonlyMap<string, number>;
  /** What was not answered as its version's document says. */
  readonly failures: readonly string[];
  add(caller: Caller): void;
  /** Lets callers that talk to one version only come to their end. */
  end(version: string): Promise<void>;
  /** Resolves after so many more answers of a version. */
  more(version: string, count: number): Promise<void>;
  stop(): Promise<void>;
}

interface Answered {
  readonly status: number;
  readonly version: string;
  readonly text: string;
}

type Body = Readonly<Record<string, unknown>>;

/** Calls a proxy, whose upstreams answer as these documents say. The tasks with these ids are there from the beginning. */
export function startLoad(
  port: number,
  documents: Readonly<Record<string, unknown>>,
  knownId: (at: number) => string,
): Load {
  const contracts = new Map(
    Object.entries(documents).map(([version, root]) => [version, new OpenApiDocument(root)]),
  );
  const agent = new Agent({ keepAlive: true });
  const answers = new Map<string, number>();
  const failures: string[] = [];
  const waiting = new Set<() => void>();
  const running: { readonly caller: Caller; isStopped: boolean; readonly done: Promise<void> }[] =
    [];

  /** Calls an operation and returns its body; undefined where it failed, which is noted. */
  const call = async (
    { version }: Caller,
    key: string,
    at: { readonly id?: string; readonly query?: string; readonly body?: unknown },
  ): Promise<Body | undefined> => {
    const operation = operationOf([...contracts.values()][0], key);
    const path = operation.path.replace("{id}", at.id ?? "");
    const told = `${operation.method} ${path}${at.query ?? ""}`;
    try {
      const answer = await send(agent, port, operation.method, `${path}${at.query ?? ""}`, {
        ...(version === undefined ? {} : { version }),
        body: at.body,
      });
      answers.set(answer.version, (answers.get(answer.version) ?? 0) + 1);
      const fault = faultOf(contracts.get(answer.version), key, answer);
      if (fault === undefined) return JSON.parse(answer.text) as Body;
      failures.push(`${told} ${fault}: ${answer.version} ${answer.status} ${answer.text}`);
    } catch (error) {
      failures.push(`${told} ${String(error)}`);
    } finally {
      for (const look of waiting) look();
    }
    return undefined;
  };

  /** One round of a caller: a task of its own, one that was there, and what a query finds. */
  const round = async (caller: Caller, number: number, at: number): Promise<void> => {
    const members = caller.members[at % caller.members.length] ?? {};
    const title = `task ${number}.${at}`;
    const created = await call(caller, "tasks.create", { body: { title, ...members } });
    const known = await call(caller, "tasks.get", { id: knownId(number * 5_000 + (at % 5_000)) });
    for (const task of [created, known]) {
      if (task === undefined) continue;
      const [id, query] = [String(task["id"]), `?rev=${String(task["rev"])}`];
      const patched = { title: `${title}+`, ...members };
      await call(caller, "tasks.update", { id, query, body: patched });
      const read = await call(caller, "tasks.get", { id });
      for (const [name, value] of Object.entries(patched))
        if (read !== undefined && read[name] !== value)
          failures.push(`${name} of ${id} is ${String(read[name])} instead of ${String(value)}`);
    }
    const filters = { $values: { state: "doing" } };
    await call(caller, "tasks.list_cursor", { body: { filters, size: 10 } });
  };

  return {
    answers,
    failures,
    add(caller) {
      const number = running.length;
      const live = async (): Promise<void> => {
        for (let at = 0; !entry.isStopped; at += 1) {
          await round(caller, number, at);
          await sleep(pauseMillis);
        }
      };
      const entry = { caller, isStopped: false, done: Promise.resolve() };
      entry.done = live().catch((error: unknown) => {
        failures.push(String(error));
        for (const look of waiting) look();
      });
      running.push(entry);
    },
    async end(version) {
      const theirs = running.filter(({ caller }) => caller.version === version);
      for (const entry of theirs) entry.isStopped = true;
      await Promise.all(theirs.map(({ done }) => done));
    },
    more(version, count) {
      const wanted = (answers.get(version) ?? 0) + count;
      return new Promise((resolve) => {
        const look = (): void => {
          // What fails is told in the end.
          if ((answers.get(version) ?? 0) < wanted && failures.length === 0) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      });
    },
    async stop() {
      for (const entry of running) entry.isStopped = true;
      await Promise.all(running.map(({ done }) => done));
      agent.destroy();
    },
  };
}

function operationOf(document: OpenApiDocument | undefined, key: string): Operation {
  const found = document?.operations.find((operation) => operation.key === key);
  if (found === undefined) throw new Error(`there is no operation ${key}`);
  return found;
}

/** How an answer is not what its version's document says of a call that succeeds, or undefined. */
export function faultOf(
  document: OpenApiDocument | undefined,
  key: string,
  { status, text }: Pick<Answered, "status" | "text">,
): string | undefined {
  if (document === undefined) return "was answered by nobody";
  const response = operationOf(document, key).responses[String(status)];
  if (status >= 300 || response === undefined) return "failed";
  const schema = response.content?.["application/json"]?.schema;
  if (schema === undefined) return "has no schema";
  return document.isValid(schema, JSON.parse(text)) ? undefined : "is off contract";
}

function send(
  agent: Agent,
  port: number,
  method: string,
  path: string,
  { version, body }: { readonly version?: string; readonly body: unknown },
): Promise<Answered> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    ...(text === "" ? {} : { "content-type": "application/json" }),
    ...(version === undefined ? {} : { [versionHeader]: version }),
    "content-length": Buffer.byteLength(text),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: "127.0.0.1", method, path, headers }, (answer) => {
      let received = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (received += chunk));
      answer.on("error", reject);
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          version: String(answer.headers[versionHeader] ?? "nobody"),
          text: received,
        }),
      );
    });
    sent.on("error", reject);
    sent.end(text);
  });
}
