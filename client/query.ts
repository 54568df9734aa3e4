// Options for TanStack Query: keys and functions instead of hooks, so that every adapter of it
// takes them.
// oxlint-disable-next-line typescript/ban-ts-comment -- a project without TanStack Query compiles as well
// @ts-ignore
import type { DataTag, InfiniteData } from "@tanstack/query-core";
import { anotherCaller, callerOf } from "./caller.js";
import {
  ApiError,
  randomKey,
  type CallerClient,
  type CallOptions,
  type Client,
  type ClientCode,
} from "./core.js";

export type { Bytes, CallerClient, Client } from "./core.js";

/**
 * Whose answers a key holds: the service by its name, and the caller that the application tells
 * (`CallerSource`).
 */
export interface Scope {
  readonly service: string;
  readonly caller: string | null;
}

/** The beginning of a key: a change can invalidate a whole namespace, or an operation. */
export type Key<Input, Of extends readonly string[] = []> = readonly [
  namespace: string,
  operation: string,
  input: Input,
  scope: Scope,
  ...of: Of,
];

/**
 * The error of a call, as members that options have: TanStack Query takes its type from there, from
 * those that an application does not have of its own.
 */
interface Fails<Code extends string> {
  readonly retry?: (failureCount: number, error: ApiError<Code | ClientCode>) => boolean;
  readonly retryDelay?: (failureCount: number, error: ApiError<Code | ClientCode>) => number;
  readonly throwOnError?: (error: ApiError<Code | ClientCode>) => boolean;
}

/** An operation that reads. Its key carries the types of the data and errors cached under it. */
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
  /** A mutation keeps its key while it waits, also over a reload: so it tells who started it. */
  readonly mutationKey: readonly [namespace: string, operation: string, scope?: Scope];
  /**
   * Tries of one mutation, which share a context, go under one `Idempotency-Key`: that of its
   * `meta.idempotencyKey`, which is kept over a reload as the mutation is, or else one of this
   * page.
   */
  readonly mutationFn: (input: Input, context?: MutationContext) => Promise<Result>;
}

export function query<Input, Result, Code extends string>(
  client: CallerClient,
  [namespace, operation]: readonly [string, string],
  input: Input,
  run: (options: CallOptions) => Promise<Result>,
): Query<Input, Result, Code> {
  const scope = scopeOf(client);
  return {
    // The tag is a type alone.
    queryKey: [namespace, operation, input, scope] as unknown as DataTag<
      Key<Input>,
      Result,
      ApiError<Code | ClientCode>
    >,
    queryFn: ({ signal }) => asCaller(client, scope, (caller) => run({ signal, caller })),
  };
}

export function pages<
  Input extends { readonly after?: string },
  Result extends { readonly next_cursor: string | null },
  Code extends string,
>(
  client: CallerClient,
  [namespace, operation]: readonly [string, string],
  input: Input,
  run: (input: Input, options: CallOptions) => Promise<Result>,
): Pages<Input, Result, Code> {
  const scope = scopeOf(client);
  return {
    // The tag is a type alone.
    queryKey: [namespace, operation, input, scope, "pages"] as unknown as DataTag<
      Key<Input, [of: "pages"]>,
      InfiniteData<Result, string | undefined>,
      ApiError<Code | ClientCode>
    >,
    queryFn: ({ signal, pageParam }) =>
      asCaller(client, scope, (caller) =>
        run(pageParam === undefined ? input : { ...input, after: pageParam }, { signal, caller }),
      ),
    initialPageParam: undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  };
}

/** What TanStack Query tells of a mutation that runs. */
interface MutationContext {
  readonly mutationKey?: readonly unknown[] | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** What all tries of one mutation share. */
type Tries = Pick<CallOptions, "idempotencyKey" | "caller">;

const triesOf = new WeakMap<object, Tries>();

export function mutation<Input, Result, Code extends string>(
  client: Client,
  name: readonly [string, string],
  run: (input: Input, options: CallOptions) => Promise<Result>,
): Mutation<Input, Result, Code> {
  // Only whoever is told can be held to one caller.
  const mutationKey =
    client.caller === undefined ? name : ([...name, scopeOf(client as CallerClient)] as const);
  return {
    mutationKey,
    mutationFn: async (input, context = {}) => {
      const scope = (context.mutationKey?.[2] ?? mutationKey[2]) as Scope | undefined;
      const tries = triesOf.get(context) ?? {
        idempotencyKey: keyIn(context) ?? randomKey(),
        ...(scope === undefined ? {} : { caller: scope.caller }),
      };
      triesOf.set(context, tries);
      return run(input, tries);
    },
  };
}

/** The key that the application keeps with a mutation. */
function keyIn({ meta }: MutationContext): string | undefined {
  const key = meta?.["idempotencyKey"];
  if (key === undefined || typeof key === "string") return key;
  throw new ApiError("client.invalid", "meta.idempotencyKey of a mutation is a text");
}

/** The service and caller of a key. Throws without a caller: one would see another's data. */
function scopeOf(client: CallerClient): Scope {
  const { service = client.baseUrl } = client;
  // Without types nobody has been told.
  if ((client as Client).caller === undefined)
    throw new ApiError("client.invalid", "a cache needs to be told who calls: see `caller`");
  return { service, caller: callerOf(client) };
}

/** Reads for the key's caller and for nobody else, whoever signs in meanwhile. */
async function asCaller<Result>(
  client: CallerClient,
  { caller }: Scope,
  run: (caller: string | null) => Promise<Result>,
): Promise<Result> {
  const result = await run(caller);
  if (callerOf(client) !== caller) throw anotherCaller();
  return result;
}
