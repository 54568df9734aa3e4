// A call as it is written elsewhere: for curl, with fetch, and for the generated client.
import { config } from "../shell/config.js";
import type { ClientCall } from "../openapi/catalog.js";
import type { Operation } from "../openapi/operations.js";
import { mediaTypeOf, type Call } from "../openapi/first-call.js";
import { requestOf } from "./call.js";

/** A call as a command for a shell, with a token where it needs one. */
export function curlText(operation: Operation, call: Call, token: string): string {
  const { method, url, headers, body } = requestOf(operation, call);
  const lines = [
    `curl ${method === "GET" ? "" : method === "HEAD" ? "-I " : `-X ${method} `}${quote(url)}`,
  ];
  const sent = { ...tokenHeader(operation, token), ...headers };
  for (const [name, value] of Object.entries(sent)) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body instanceof FormData)
    lines.push(
      ...textParts(body).map(([name, value]) => `--form-string ${quote(`${name}=${value}`)}`),
      `-F ${quote(`file=@${call.file?.name ?? "FILE"}`)}`,
    );
  else if (typeof body === "string") lines.push(`--data ${quote(body)}`);
  return lines.join(" \\\n  ");
}

/** A call as browsers and Node.js send it by themselves, with a token where it needs one. */
export function fetchText(operation: Operation, call: Call, token: string): string {
  const { method, url, headers, body } = requestOf(operation, call);
  const sent = { ...tokenHeader(operation, token), ...headers };
  const members = [
    ...(method === "GET" ? [] : [`method: ${JSON.stringify(method)}`]),
    ...(Object.keys(sent).length === 0 ? [] : [`headers: ${literal(sent)}`]),
    ...(body === null ? [] : [`body: ${body instanceof FormData ? "form" : bodyText(body)}`]),
  ];
  const lines = members.map((one) => `  ${one.replaceAll("\n", "\n  ")},\n`).join("");
  return [
    ...(body instanceof FormData
      ? [
          "const form = new FormData();",
          ...textParts(body).map(
            (part) => `form.set(${part.map((one) => JSON.stringify(one)).join(", ")});`,
          ),
          `form.set("file", ${someFile});`,
        ]
      : []),
    `const response = await fetch(${JSON.stringify(url)}${lines === "" ? "" : `, {\n${lines}}`});`,
  ].join("\n");
}

/** What stands for a file that the reader has. */
const someFile = 'new Blob(["hello"]), "hello.txt"';

/** The parts of a form beside its file. */
function textParts(form: FormData): readonly (readonly [string, string])[] {
  return [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
}

/** A body as an expression: JSON is made of a value. */
function bodyText(body: string): string {
  const value = parsed(body);
  return typeof value === "string" ? JSON.stringify(body) : `JSON.stringify(${literal(value)})`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A call of the client's function, as TypeScript; null if the client has none. */
export function clientText(
  operation: Operation,
  call: Call,
  known: ClientCall,
  token: string,
): string | null {
  if (known.call === undefined) return null;
  const input = inputOf(operation, call, known);
  const hasInput = Object.keys(input).length > 0;
  const namespace = known.call.split(".")[0] ?? "";
  const local = reserved.has(namespace) ? `${namespace}_` : namespace;
  const imported = local === namespace ? namespace : `${namespace} as ${local}`;
  const headers = tokenHeader(operation, token);
  const signedIn = operation.needsSignIn ? { headers } : {};
  return [
    `import { createClient, ${imported} } from "./generated/client/index.js";`,
    "",
    `const client = createClient(${literal({ baseUrl: location.origin, ...signedIn })});`,
    `const answer = await ${local}${known.call.slice(namespace.length)}(client${hasInput ? `, ${literal(input)}` : ""});`,
  ].join("\n");
}

/** The header that says who calls; none where nobody has to. */
function tokenHeader({ needsSignIn }: Operation, token: string): Readonly<Record<string, string>> {
  return needsSignIn ? { [config.tokenHeader]: `${config.tokenScheme} ${token}` } : {};
}

/** What a module can't import a namespace as (ECMA-262 §12.7.2). */
const reserved = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
);

/** Stands for a file until the input is text. */
const fileMark = "\u0000file";

/** The input of an operation: its parameters beside the body, or beside the member that is it. */
function inputOf(
  operation: Operation,
  call: Call,
  { body_member: member }: ClientCall,
): Readonly<Record<string, unknown>> {
  const parameters = operation.parameters
    .filter(({ in: place }) => place === "path" || place === "query" || place === "form")
    .map(({ in: place, name, schema }) => {
      const value = call.parameters[`${place} ${name}`] ?? "";
      const isText = schema?.type === "string" || schema?.type === undefined;
      return [name, isText ? value : parsed(value)] as const;
    })
    .filter(([, value]) => value !== "");
  const type = mediaTypeOf(operation);
  if (type === null) return Object.fromEntries(parameters);
  if (type === "multipart/form-data") return { ...Object.fromEntries(parameters), file: fileMark };
  const body = parsed(call.body);
  // What is no JSON yet has no members.
  const members = typeof body === "object" ? body : {};
  const own = member === undefined ? members : { [member]: body };
  return { ...Object.fromEntries(parameters), ...own };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** JSON as TypeScript is written: names without quotation marks where that is possible. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:")
    .replaceAll(JSON.stringify(fileMark), 'new Blob(["hello"])');
}
