// A service of mocks: requests in, answers of typed handlers out, for tests and for work ahead of
// the service.
import { ApiError } from "./core.js";

export type { Bytes, Items } from "./core.js";

/** How operations travel, by their keys. */
export type MockRoutes = Readonly<Record<string, MockRoute>>;

/** Answers requests as a service would. */
export type MockService = (request: Request) => Promise<Response>;

/** What a text stands for; a list is one of texts, with commas between them. */
type TextType = "string" | "number" | "boolean" | "list";

/** How an operation travels. */
export interface MockRoute {
  readonly method: string;
  readonly path: string;
  /** Members of the input that travel in path and query, by their types. */
  readonly parameters?: Readonly<Record<string, TextType>>;
  /** Those that travel in a form. */
  readonly fields?: Readonly<Record<string, TextType>>;
  readonly body?: "input" | "rest" | "form" | "fields" | { readonly member: string };
  readonly status: number;
}

/**
 * Answers an operation: with its result, or by throwing `new ApiError(code, detail, { status })`.
 */
export type MockHandler<Input, Result> = (
  input: Input,
  request: Request,
) => Result | Promise<Result>;

type AnyHandler = (input: never, request: Request) => unknown;

/** A service of these handlers; operations without one answer 501. */
export function mockService(
  routes: MockRoutes,
  handlers: Readonly<Record<string, AnyHandler | undefined>>,
): MockService {
  const table = Object.entries(routes).map(([key, route]) => ({
    key,
    route,
    pattern: patternOf(route.path),
    // A path that is spelled out goes before one with parameters.
    weight: route.path.replace(/\{[^}]+\}/g, "").length,
  }));
  table.sort((left, right) => right.weight - left.weight);
  return async (request) => {
    const { pathname } = new URL(request.url);
    const isGet = (method: string): boolean => method === request.method;
    const found = table.find(({ route, pattern }) => isGet(route.method) && pattern.test(pathname));
    const handle = found === undefined ? undefined : handlers[found.key];
    try {
      if (found === undefined)
        throw new ApiError("core.not_found", `no operation has ${request.method} ${pathname}`, {
          status: 404,
        });
      if (handle === undefined)
        throw new ApiError("mock.missing", `${found.key} has no mock`, { status: 501 });
      const input = await inputOf(found.route, found.pattern, request);
      const result = await handle(input as never, request);
      if (result instanceof Response) return result;
      if (result === undefined) return new Response(null, { status: 204 });
      return Response.json(result, { status: found.route.status });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message: detail, kind, context, status } = error;
      return Response.json(
        { detail, code, kind, context },
        { status: status === 0 ? 400 : status, headers: { "x-error-code": code } },
      );
    }
  };
}

/**
 * `fetch` of a client that has nobody but a service of mocks to talk to; `baseUrl` is that of the
 * client.
 */
export function fetchOf(service: MockService, baseUrl = ""): typeof fetch {
  const base = parseAddress(baseUrl).pathname.replace(/\/+$/, "");
  return async (input, init) => {
    const given = input instanceof Request ? new Request(input, init) : null;
    const url = parseAddress(given?.url ?? String(input));
    if (url.pathname.startsWith(`${base}/`)) url.pathname = url.pathname.slice(base.length);
    if (given === null) return service(new Request(url, init));
    const { method, headers, signal } = given;
    const body = ["GET", "HEAD"].includes(method) ? null : await given.arrayBuffer();
    return service(new Request(url, { method, headers, body, signal }));
  };
}

/** An address without an origin is of none in particular. */
function parseAddress(address: string): URL {
  return new URL(address, "http://mock.test");
}

function patternOf(path: string): RegExp {
  const source = path
    .split(/(\{[^}]+\})/)
    .map((part) => {
      const [, plus, name] = /^\{(\+?)([^}]+)\}$/.exec(part) ?? [];
      if (name === undefined) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      return plus === "+" ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`;
    })
    .join("");
  return new RegExp(`^${source}$`);
}

function valueOf(given: string, type: TextType): unknown {
  if (type === "number") return Number(given);
  if (type === "boolean") return given === "true";
  return type === "list" ? given.split(",") : given;
}

/** The members of a form. Files stay what they are. */
function membersOf(
  form: Iterable<readonly [string, string | Blob]>,
  fields: MockRoute["fields"] = {},
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...form].map(([name, given]) => [
      name,
      typeof given === "string" ? valueOf(given, fields[name] ?? "string") : given,
    ]),
  );
}

async function inputOf(
  { parameters = {}, fields, body }: MockRoute,
  pattern: RegExp,
  request: Request,
): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url);
  const inPath = pattern.exec(pathname)?.groups ?? {};
  const input: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(parameters)) {
    const given =
      inPath[name] === undefined ? searchParams.get(name) : decodeURIComponent(inPath[name]);
    if (given === null) continue;
    input[name] = valueOf(given, type);
  }
  if (body === undefined) return input;
  if (body === "fields")
    return { ...input, ...membersOf(new URLSearchParams(await request.text()), fields) };
  if (body === "form") return { ...input, ...membersOf(await request.formData(), fields) };
  const isJson = request.headers.get("content-type") === "application/json";
  const sent: unknown = await (isJson ? request.json() : request.blob());
  if (typeof body === "object") return { ...input, [body.member]: sent };
  return { ...input, ...(sent as object) };
}
