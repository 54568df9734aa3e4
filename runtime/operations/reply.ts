// Headers that a handler reads, and what it sets on its answer besides the body, as its operation
// declares both.
import { validateHeaderValue } from "node:http";
import { stringifySetCookie } from "cookie";
import type { ExecutionContext } from "./context.js";
import { nameAfter } from "./check-answers.js";
import type { Handler } from "./operation.js";
import type { Output } from "./json-text.js";
import type { CookieDeclaration, ReplyDeclaration, SaidReply } from "./reply-declaration.js";

/** The names and numbers of a declaration, as types. */
export interface ReplyNames {
  readonly reads: string;
  readonly statuses: number;
  readonly headers: string;
  readonly cookies: string;
  readonly redirects: number;
}

/** Sets headers, cookies and the status. None of it is sent if the operation fails. */
export interface Reply<Names extends ReplyNames = ReplyNames> {
  /** Answers with another status of success. */
  status(status: Names["statuses"]): void;
  /** Sets a header. Throws a `TypeError` for what no header can hold. */
  header(name: Names["headers"], value: string): void;
  /** Sets a cookie; null removes it. Any text is a value. */
  cookie(name: Names["cookies"], value: string | null): void;
  /** Sends the caller on: to a path of this service, or to an http(s) URL. */
  redirect(location: string, status: Names["redirects"]): void;
}

/** The context of a handler that reads headers, or sets more than a body. */
export type ReplyingContext<Names extends ReplyNames> = ExecutionContext & {
  /** Fields of the request that the operation declares; undefined if one was not sent. */
  readonly headers: Readonly<Record<Names["reads"], string | undefined>>;
  readonly reply: Reply<Names>;
};

export type ReplyingHandler<Input, Result, Names extends ReplyNames> = (
  input: Input,
  context: ReplyingContext<Names>,
) => Output<Result> | Promise<Output<Result>>;

/** Bytes of a header's value. */
const maxBytes = 4_096;

const nothing: ReplyDeclaration = {
  reads: [],
  statuses: [],
  headers: [],
  cookies: {},
  redirects: [],
};

/** Gives a handler the headers and the reply that its route declares. */
export function withReply<Input, Result>(
  // oxlint-disable-next-line typescript/no-explicit-any -- the names of the handler and of the declaration are printed from one
  run: ReplyingHandler<Input, Result, any>,
): Handler<Input, Result> {
  const handler: Handler<Input, Result> = (input, context) => {
    const declared = context.replies ?? nothing;
    const read = declared.reads.map((name) => [name, context.requestHeader(name)] as const);
    const { reply, said } = replyOf(declared);
    context.said = said;
    return run(input, Object.assign(context, { headers: Object.fromEntries(read), reply }));
  };
  return nameAfter(handler, run);
}

function replyOf(declared: ReplyDeclaration): { readonly reply: Reply; said(): SaidReply } {
  const headers = new Map<string, string>();
  const cookies = new Map<string, string>();
  let status: number | undefined;
  const reply: Reply = {
    status(given) {
      must(declared.statuses.includes(given), `the status ${given}`);
      status = given;
    },
    header(name, value) {
      must(declared.headers.includes(name), `the header ${name}`);
      headers.set(name, checkedValue(name, value));
    },
    cookie(name, value) {
      const cookie = Object.hasOwn(declared.cookies, name) ? declared.cookies[name] : undefined;
      if (cookie === undefined) throw refuseUndeclared(`the cookie ${name}`);
      cookies.set(name, checkedValue("set-cookie", cookieText(name, value, cookie)));
    },
    redirect(location, given) {
      must(declared.redirects.includes(given), `the redirect ${given}`);
      headers.set("location", checkedValue("location", targetOf(location)));
      status = given;
    },
  };
  const said = (): SaidReply => ({
    status,
    fields: [...headers, ...[...cookies.values()].map((text) => ["set-cookie", text])].flat(),
  });
  return { reply, said };
}

function must(isDeclared: boolean, what: string): void {
  if (!isDeclared) throw refuseUndeclared(what);
}

function refuseUndeclared(what: string): TypeError {
  return new TypeError(`the operation does not declare ${what}`);
}

/** The value, if it stays within its field. */
function checkedValue(name: string, value: string): string {
  if (typeof value !== "string") throw new TypeError(`the header ${name} must be a text`);
  if (Buffer.byteLength(value) > maxBytes)
    throw new TypeError(`the header ${name} has more than ${maxBytes} bytes`);
  validateHeaderValue(name, value);
  return value;
}

function cookieText(name: string, value: string | null, declared: CookieDeclaration): string {
  const { path, maxAgeSeconds, sameSite, httpOnly } = declared;
  const seconds = value === null ? 0 : maxAgeSeconds;
  return stringifySetCookie({
    name,
    value: value ?? "",
    path,
    sameSite,
    httpOnly,
    secure: true,
    ...(seconds === null ? {} : { maxAge: seconds }),
  });
}

/** The target of a redirect: no other scheme, and no path that browsers take for a host. */
function targetOf(location: string): string {
  const isPath = /^\/(?![/\\])/.test(location);
  if (!isPath && !/^https?:\/\//i.test(location))
    throw new TypeError("a redirect goes to a path such as /home, or to an http(s) URL");
  const url = new URL(location, "http://path.invalid");
  if (!isPath) return url.href;
  // Line breaks and tabs are no part of a URL: without them it may name a host.
  if (url.host !== "path.invalid") throw new TypeError("a path names no host");
  return url.pathname + url.search + url.hash;
}
