// A call as it is written elsewhere: for curl, and for the generated client.
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
  if (operation.needsSignIn)
    lines.push(`-H ${quote(`${config.tokenHeader}: ${config.tokenScheme} ${token}`)}`);
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (mediaTypeOf(operation) === "multipart/form-data") lines.push("-F 'file=@FILE'");
  else if (typeof body === "string") lines.push(`--data ${quote(body)}`);
  return lines.join(" \\\n  ");
}

/** A call as browsers and Node.js send it by themselves, with a token where it needs one. */
export function fetchText(operation: Operation, call: Call, token: string): string {
  const { method, url, headers, body } = requestOf(operation, call);
  const isForm = body instanceof FormData;
  const authorization = operation.needsSignIn
    ? { [config.tokenHeader]: `${config.tokenScheme} ${token}` }
    : {};
  const sent = { ...authorization, ...headers };
  const members = [
    ...(method === "GET" ? [] : [`method: ${JSON.stringify(method)}`]),
    ...(Object.keys(sent).length === 0 ? [] : [`headers: ${literal(sent)}`]),
    ...(body === null ? [] : [`body: ${isForm ? "form" : bodyText(body)}`]),
  ];
  const lines = members.map((one) => `  ${one.replaceAll("\n", "\n  ")},\n`).join("");
  return [
    ...(isForm ? ["const form = new FormData();", 'form.set("file", file);'] : []),
    `const response = await fetch(${JSON.stringify(url)}${lines === "" ? "" : `, {\n${lines}}`});`,
  ].join("\n");
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
export function clientText(operation: Operation, call: Call, known: ClientCall): string | null {
  if (known.call === undefined) return null;
  const input = inputOf(operation, call, known);
  const hasInput = Object.keys(input).length > 0;
  const namespace = known.call.split(".")[0] ?? "";
  const local = reserved.has(namespace) ? `${namespace}_` : namespace;
  const imported = local === namespace ? namespace : `${namespace} as ${local}`;
  return [
    `import { createClient, ${imported} } from "./generated/client/index.js";`,
    "",
    `const client = createClient({ baseUrl: ${JSON.stringify(location.origin)} });`,
    `const answer = await ${local}${known.call.slice(namespace.length)}(client${hasInput ? `, ${literal(input)}` : ""});`,
  ].join("\n");
}

/** What a module can't import a namespace as (ECMA-262 §12.7.2). */
const reserved = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
);

/** The input of an operation: its parameters beside the body, or beside the member that is it. */
function inputOf(
  operation: Operation,
  call: Call,
  { body_member: member }: ClientCall,
): Readonly<Record<string, unknown>> {
  const parameters = operation.parameters
    .filter(({ in: place }) => place === "path" || place === "query")
    .map(({ in: place, name, schema }) => {
      const value = call.parameters[`${place} ${name}`] ?? "";
      const isText = schema?.type === "string" || schema?.type === undefined;
      return [name, isText ? value : parsed(value)] as const;
    })
    .filter(([, value]) => value !== "");
  const type = mediaTypeOf(operation);
  if (type === null) return Object.fromEntries(parameters);
  const body = type === "multipart/form-data" ? { file: "FILE" } : parsed(call.body);
  const own = member === undefined ? (body as object) : { [member]: body };
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
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");
}
