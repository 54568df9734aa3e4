// Sends requests that were made from a document, and holds every answer against it.
import { Agent, request as open } from "node:http";
import { errors } from "../../../runtime/contract/errors.js";
import type { OpenApiDocument, Operation } from "./open-api.js";
import { withExisting, type Form, type Request, type Verdict } from "./requests.js";

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export interface DriverOptions {
  readonly url: string;
  readonly document: OpenApiDocument;
  /** A credential, asked for anew where the last one has ended; "" for none. */
  readonly credential: () => Promise<string>;
  /** Ids that no request may name, since the driver is them. */
  readonly reserved?: ReadonlySet<string>;
}

/** Codes of sound requests that meet a state, or carry a text that only the service can have made. */
const ofState = new Set<string>([
  "invalid_cursor",
  // Of what is there: a storage says which types it takes.
  "upload_type_unsupported",
  "upload_session_invalid",
  "upload_parts_invalid",
  "range_not_satisfiable",
  "revision_ambiguous",
  "idempotency_key_reused",
  "current_password_wrong",
  "tenant_mismatch",
  // Who may hear a topic is the author's own code to say.
  "realtime_topics_unauthorized",
]);
/** Rules that documents can only say in words, by the code of their fault, its keyword where it has one, and its place. */
const inWords: readonly (readonly [code: string, place: RegExp])[] = [
  // Parameters cannot depend on each other.
  ["core.validation", /^oneOf $/],
  ["core.validation", /^(?:common|login) \/(?:new_)?password$/],
  ["core.validation", /^maximum \/expires_in$/],
  // A form has them as a query is written, and all together have a bound.
  ["core.validation", /^maxLength \/tags$/],
  ["core.validation", /^address \/url$/],
  // The id of a signal that the caller has.
  ["core.validation", /^pattern \/after$/],
  ["query_operator_type_mismatch", /\/\$fields\/|\/\$having\//],
  [
    "query_invalid",
    /\/\$having|\/timezone$|\/\$regex|\/\$(?:i?like)|\/\$(?:descendant|ancestor)_of/,
  ],
  ["query_invalid", /^ \/sorts/],
  ["field_not_queryable", /\/\$having|^ \/sorts/],
  ["query_too_complex", /./],
  ["field_not_queryable", /^ \/options\/highlight\/fields/],
];
const kindsOfState = new Set<string>([
  "not_found",
  "conflict",
  "concurrency",
  "precondition",
  "domain",
]);

/** What became of the requests of an operation. */
export interface Tally {
  accepted: number;
  refused: number;
  cases: number;
}

export class Driver {
  readonly tallies = new Map<string, Tally>();
  readonly #options: DriverOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #existing = new Map<string, string[]>();
  #credential: string | undefined;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#agent.destroy();
  }

  /**
   * Sends a request and returns the status of its answer. Fails where the answer is not what the document says of it;
   * `mayFail` is for authors' code that answers what it should not.
   */
  async drive(operation: Operation, request: Request, mayFail = false): Promise<number> {
    const sent = this.#sent(operation, request);
    let answer = await this.#send(sent);
    // An earlier case may have ended the session.
    if (answer.status === 401 && codeOf(answer) === "core.authentication") {
      this.#credential = undefined;
      answer = await this.#send(sent);
    }
    const tally = this.tallies.get(operation.key) ?? { accepted: 0, refused: 0, cases: 0 };
    this.tallies.set(operation.key, tally);
    tally.cases += 1;
    if (answer.status < 400) tally.accepted += 1;
    else if (request.verdict === "invalid") tally.refused += 1;
    const isMasked = mayFail && answer.status === 500 && codeOf(answer) === "core.internal";
    if (isMasked) return answer.status;
    const fault = faultOf(this.#options.document, operation, request.verdict, answer);
    if (fault !== undefined)
      throw new Error(
        `${operation.key} ${fault}\n${sent.method} ${sent.target} (${request.verdict})\n${JSON.stringify(sent.headers)}\n${JSON.stringify(sent.body)}\n→ ${answer.status} ${answer.text.slice(0, 1_000)}`,
      );
    if (answer.status < 400) this.#remember(operation, answer.text);
    return answer.status;
  }

  /** What the request becomes, with ids of what exists. */
  #sent(operation: Operation, request: Request): Sent {
    const at = (names: readonly string[]) => (index: number) => {
      const known = names.map((name) => this.#existing.get(name)).find((ids) => ids !== undefined);
      return known === undefined ? undefined : known[index % known.length];
    };
    const named = (name: string, value: string) =>
      withExisting(value, at(name === "id" ? idsOf(operation) : namesOf(operation, name)));
    let target = operation.path;
    for (const [name, value] of Object.entries(request.path))
      target = target.replace(`{${name}}`, encodeURIComponent(named(name, value)));
    const query = Object.entries(request.query).map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(named(name, value))}`,
    );
    const { body } = request;
    return {
      method: operation.method,
      target: query.length === 0 ? target : `${target}?${query.join("&")}`,
      headers: request.headers,
      body:
        typeof body === "string"
          ? body.replaceAll(
              /"(\w+)":"([^"]*)"/g,
              (_all, name: string, value: string) => `"${name}":"${named(name, value)}"`,
            )
          : body,
    };
  }

  async #send({ method, target, headers, body }: Sent): Promise<Answered> {
    this.#credential ??= await this.#options.credential();
    const [type, bytes] = encoded(body);
    const { hostname, port } = new URL(this.#options.url);
    return new Promise((resolve, reject) => {
      const req = open(
        {
          agent: this.#agent,
          hostname,
          port,
          method,
          path: target,
          headers: {
            ...headers,
            ...(this.#credential === "" ? {} : { authorization: this.#credential }),
            ...(bytes === undefined
              ? {}
              : { "content-type": type, "content-length": bytes.length }),
          },
        },
        (res) => {
          const chunks: Buffer[] = [];
          res.on("data", (chunk: Buffer) => chunks.push(chunk));
          res.on("error", reject);
          res.on("end", () =>
            resolve({
              status: res.statusCode ?? 0,
              headers: res.headers,
              text: Buffer.concat(chunks).toString("utf8"),
            }),
          );
        },
      );
      req.on("error", reject);
      req.end(bytes);
    });
  }

  /** Keeps the ids of an answer, for later requests: `id` by its namespace, others by their names. */
  #remember({ namespace }: Operation, text: string): void {
    if (!text.startsWith("{")) return;
    for (const [, name = "", value = ""] of text.matchAll(/"(\w+)":"([^"\\]{1,200})"/g)) {
      const isOwn = this.#options.reserved?.has(value) === true;
      if (isOwn || !/^(?:id|key|\w+_id)$/.test(name)) continue;
      if (name === "key") this.#keep(`${namespace} key`, value);
      else if (name === "id") this.#keep(namespace, value);
      else for (const one of [name, `${namespace} ${name}`]) this.#keep(one, value);
    }
  }

  /** What was named last comes first, as far as there are stand-ins. */
  #keep(name: string, value: string): void {
    const others = (this.#existing.get(name) ?? []).filter((one) => one !== value);
    this.#existing.set(name, [value, ...others].slice(0, 16));
  }
}

/** Where what a member names is kept; a copy is made `from` a key. */
function namesOf({ namespace }: Operation, name: string): readonly string[] {
  return [`${namespace} ${name === "from" ? "key" : name}`, name, `${name}s`];
}

/** Where the ids are kept that `{id}` means: by the namespace, or as `tenant_id` of `/admin/tenants/{id}`. */
function idsOf({ namespace, path }: Operation): readonly string[] {
  const [, kind = ""] = /([a-z]+)s\/\{id\}/.exec(path) ?? [];
  return [namespace, `${namespace} ${kind}_id`];
}

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Form | undefined;
}

function encoded(body: string | Form | undefined): readonly [string, Buffer | undefined] {
  if (body === undefined) return ["", undefined];
  if (typeof body === "string") return ["application/json", Buffer.from(body)];
  const boundary = "--document-case";
  const quoted = (name: string): string => name.replaceAll(/["\r\n]/g, "_");
  const parts = [
    ...body.fields.map(
      ([name, value]) => `Content-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}`,
    ),
    ...body.files.map(
      (text) =>
        `Content-Disposition: form-data; name="file"; filename="x.pdf"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7\n${text}`,
    ),
  ];
  const text = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return [`multipart/form-data; boundary=${boundary}`, Buffer.from(`${text}--${boundary}--\r\n`)];
}

function codeOf({ headers }: Answered): string | undefined {
  const code = headers["x-error-code"];
  return typeof code === "string" ? code : undefined;
}

/** How an answer is not what the document says, or undefined. */
function faultOf(
  document: OpenApiDocument,
  operation: Operation,
  verdict: Verdict,
  answer: Answered,
): string | undefined {
  const { status, text } = answer;
  const response = operation.responses[String(status)];
  if (response === undefined) return "answers a status that is not in the document";
  if (status >= 500) return "fails";
  const schema = response.content?.["application/json"]?.schema;
  if (
    operation.method !== "HEAD" &&
    schema !== undefined &&
    !document.isValid(schema, parsed(text))
  )
    return "answers what is not in the document";
  if (response.content === undefined && text !== "")
    return "answers a body that is not in the document";
  const code = codeOf(answer);
  if (status >= 400 && !operation.codes.includes(code ?? ""))
    return `answers ${code}, which is not in the document`;
  if (verdict === "invalid" && status < 400) return "takes what the document calls invalid";
  const isRefused = verdict === "valid" && status >= 400;
  if (isRefused && !isOfState(operation, code) && !isInWords(code, parsed(text)))
    return "refuses what the document calls valid";
  return undefined;
}

function isOfState({ namespace }: Operation, code = ""): boolean {
  const kind = Object.hasOwn(errors, code) ? errors[code as keyof typeof errors].kind : "";
  // Credentials that nobody was given.
  return (
    ofState.has(code) ||
    kindsOfState.has(kind) ||
    (namespace === "authn" && kind === "authentication")
  );
}

/** Whether each fault of an answer is one of a rule in words. HEAD does not say what it is. */
function isInWords(code: string | undefined, body: unknown): boolean {
  if (body === undefined) return false;
  const { context } = body as { readonly context: FaultContext };
  const faults = context.errors ?? [{ keyword: "", path: context.path ?? "" }];
  return faults.every(({ keyword, path }) =>
    inWords.some(([known, place]) => known === code && place.test(`${keyword} ${path}`)),
  );
}

interface FaultContext {
  readonly path?: string;
  readonly errors?: readonly { readonly path: string; readonly keyword: string }[];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
