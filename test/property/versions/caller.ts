// Somebody who calls a version as its OpenAPI document says, and holds each answer against it.
import type { Operation } from "../document/open-api.js";
import type { Failure, FailureKind } from "./failures.js";
import type { Version } from "./version.js";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
  readonly body: any;
  readonly bytes: Uint8Array;
}

export interface Asked {
  /** Values of the parameters in the path and the query, by their names. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Names that the verdict may say where the answer is off, besides the operation's. */
  readonly about?: readonly string[];
  /** What an answer is that is off the contract; `answer` where nothing is said. */
  readonly kind?: FailureKind;
  /** Whether nothing but the state may refuse it. */
  readonly isSound?: boolean;
}

/** Refusals that the state of what is stored brings, however sound a request is. */
const ofState = new Set([401, 403, 404, 409, 412, 428, 429]);

export class Caller {
  readonly version: Version;
  readonly url: string;
  readonly #name: string;
  readonly #token: string;
  readonly #note: (failure: Failure) => void;
  readonly #count: (what: string) => void;

  constructor(
    name: string,
    version: Version,
    {
      url,
      token,
      note,
      count,
    }: {
      readonly url: string;
      readonly token: string;
      readonly note: (failure: Failure) => void;
      readonly count: (what: string) => void;
    },
  ) {
    this.#name = name;
    this.version = version;
    this.url = url;
    this.#token = token;
    this.#note = note;
    this.#count = count;
  }

  /** An operation by its key; undefined where the version has no such route. */
  operation(key: string): Operation | undefined {
    return this.version.openapi.operations.find((one) => one.key === key);
  }

  note(kind: FailureKind, about: readonly string[], text: string): void {
    this.#note({ kind, about, text: `${this.#name}: ${text}` });
  }

  /** Calls an operation; undefined where the version has none of that key. */
  async call(key: string, asked: Asked = {}): Promise<Answered | undefined> {
    const operation = this.operation(key);
    return operation === undefined ? undefined : this.#send(operation, asked);
  }

  async #send(operation: Operation, asked: Asked): Promise<Answered> {
    const { parameters = {}, headers = {}, body } = asked;
    let target = operation.path;
    const query = new URLSearchParams();
    for (const { name, in: place } of operation.parameters) {
      const value = parameters[name];
      if (value === undefined) continue;
      if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(value));
      if (place === "query") query.set(name, String(value));
    }
    const response = await fetch(`${this.url}${target}${query.size === 0 ? "" : `?${query}`}`, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined || body instanceof FormData
          ? {}
          : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const answered: Answered = {
      status: response.status,
      headers: response.headers,
      body: parsed(bytes),
      bytes,
    };
    this.#count(`${operation.key.split(".")[1] ?? ""} ${answered.status}`);
    this.#judge(operation, asked, answered);
    return answered;
  }

  #judge(operation: Operation, asked: Asked, { status, body, bytes }: Answered): void {
    const about = [operation.key, operation.namespace, ...(asked.about ?? [])];
    const text = Buffer.from(bytes).toString("utf8").slice(0, 600);
    const sent = asked.body instanceof FormData ? "a form" : JSON.stringify(asked.body ?? null);
    const said = `${operation.key} ${JSON.stringify(asked.parameters ?? {})} ${sent} → ${status} ${text}`;
    if (status >= 500) return this.note("broken", about, said);
    const response = operation.responses[String(status)];
    if (response === undefined) return this.note("answer", about, `no such status: ${said}`);
    const schema = response.content?.["application/json"]?.schema;
    const kind = asked.kind ?? "answer";
    if (schema !== undefined && !this.version.openapi.isValid(schema, body))
      return this.note(kind, about, `not in openapi.json: ${said}`);
    if (status >= 400 && asked.isSound === true && !ofState.has(status))
      return this.note("refused", about, said);
  }
}

function parsed(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString("utf8");
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
