// Options for TanStack Query: keys and functions instead of hooks, so that every adapter of it takes them.
// oxlint-disable-next-line typescript/ban-ts-comment -- a project without TanStack Query compiles as well
// @ts-ignore
import type { DataTag, InfiniteData } from "@tanstack/query-core";
import {
  randomKey,
  type ApiError,
  type CallOptions,
  type Client,
  type ClientCode,
} from "./core.js";
import { callerOf } from "./token.js";

export type { Bytes, Client } from "./core.js";

/**
 * Whose answers a key holds: the service, and the caller with his tenant. Where tokens come later than asked for, they are
 * those of the last call.
 */
export interface Scope {
  readonly service: string;
  readonly caller: string;
}

/** A key by what it begins with, so that a change can invalidate all of a namespace, or of an operation. */
export type Key<Input, Of extends readonly string[] = []> = readonly [
  namespace: string,
  operation: string,
  input: Input,
  scope: Scope,
  ...of: Of,
];

/** The error of a call, as a member that options have: TanStack Query takes its type from there. */
interface Fails<Code extends string> {
  readonly retry?: (failureCount: number, error: ApiError<Code | ClientCode>) => boolean;
}

/** An operation that reads. The key tells the types of what is kept under it. */
export interface Query<Input, Result, Code extends string> extends Fails<Code> {
  readonly queryKey: DataTag<Key<Input>, Result, ApiError<Code | ClientCode>>;
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Result>;
}

/** A list by cursor, page after page. */
export interface Pages<Input, Result, Code extends string> extends Fails<Code> {
  readonly queryKey: DataTag<
    Key<Input, [of: "pages"]>,
    InfiniteData<Result, string | undefined>,
    ApiError<Code | ClientCode>
  >;
  readonly queryFn: (context: {
    readonly signal: AbortSignal;
    readonly pageParam: string | undefined;
  }) => Promise<Result>;
  readonly initialPageParam: string | undefined;
  readonly getNextPageParam: (last: Result) => string | undefined;
}

/** An operation that changes something. */
export interface Mutation<Input, Result, Code extends string> extends Fails<Code> {
  readonly mutationKey: readonly [namespace: string, operation: string];
  /** Tries of one mutation, which share a context, go under one `Idempotency-Key`. */
  readonly mutationFn: (input: Input, context?: object) => Promise<Result>;
}

export function query<Input, Result, Code extends string>(
  client: Client,
  [namespace, operation]: readonly [string, string],
  input: Input,
  run: (options: CallOptions) => Promise<Result>,
): Query<Input, Result, Code> {
  return {
    // The tag is a type alone.
    queryKey: [namespace, operation, input, scopeOf(client)] as unknown as DataTag<
      Key<Input>,
      Result,
      ApiError<Code | ClientCode>
    >,
    queryFn: ({ signal }) => run({ signal }),
  };
}

export function pages<
  Input extends { readonly after?: string },
  Result extends { readonly next_cursor: string | null },
  Code extends string,
>(
  client: Client,
  [namespace, operation]: readonly [string, string],
  input: Input,
  run: (input: Input, options: CallOptions) => Promise<Result>,
): Pages<Input, Result, Code> {
  return {
    // The tag is a type alone.
    queryKey: [namespace, operation, input, scopeOf(client), "pages"] as unknown as DataTag<
      Key<Input, [of: "pages"]>,
      InfiniteData<Result, string | undefined>,
      ApiError<Code | ClientCode>
    >,
    queryFn: ({ signal, pageParam }) =>
      run(pageParam === undefined ? input : { ...input, after: pageParam }, { signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  };
}

const idempotencyKeys = new WeakMap<object, string>();

export function mutation<Input, Result, Code extends string>(
  mutationKey: readonly [string, string],
  run: (input: Input, options: CallOptions) => Promise<Result>,
): Mutation<Input, Result, Code> {
  return {
    mutationKey,
    mutationFn: (input, context = {}) => {
      const idempotencyKey = idempotencyKeys.get(context) ?? randomKey();
      idempotencyKeys.set(context, idempotencyKey);
      return run(input, { idempotencyKey });
    },
  };
}

/** Callers of the last tokens that stores gave later than they were asked. */
const lastCallers = new WeakMap<Client, string>();

function scopeOf(client: Client): Scope {
  return { service: client.baseUrl, caller: `${callerNow(client)}${marksOf(client)}` };
}

/** Who is signed in, as far as the store tells at once; else who was when it was asked last. */
function callerNow(client: Client): string {
  const tokens = toldBy(client);
  if (!(tokens instanceof Promise)) return callerOf(tokens?.access_token ?? "");
  const note = (told: Tokens): void =>
    void lastCallers.set(client, callerOf(told?.access_token ?? ""));
  // A store that fails is told by the call.
  tokens.then(note, () => undefined);
  return lastCallers.get(client) ?? "";
}

type Tokens = { readonly access_token: string } | null | undefined;

function toldBy({ tokens }: Client): Tokens | Promise<Tokens> {
  try {
    return tokens?.get();
  } catch {
    return null;
  }
}

/** What tells clients with other credentials apart, such as API keys and tenants in headers: a digest, since keys are kept and shown. */
function marksOf({ headers = {} }: Client): string {
  const names = Object.keys(headers).sort();
  if (names.length === 0) return "";
  let digest = 0xcbf29ce484222325n;
  for (const letter of names.map((name) => `${name}=${headers[name] ?? ""};`).join(""))
    digest = BigInt.asUintN(64, (digest ^ BigInt(letter.codePointAt(0) ?? 0)) * 0x100000001b3n);
  return `#${digest.toString(36)}`;
}
