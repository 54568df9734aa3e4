// Options for TanStack Query: keys and functions instead of hooks, so that every adapter of it takes them.
import { randomKey, type CallOptions } from "./core.js";

export type { Bytes, Client } from "./core.js";

/** An operation that reads. `queryKey` begins with the namespace, so that a change can invalidate all of it. */
export interface Query<Input, Result> {
  readonly queryKey: readonly [namespace: string, operation: string, input: Input];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<Result>;
}

/** A list by cursor, page after page. */
export interface Pages<Input, Result> {
  readonly queryKey: readonly [namespace: string, operation: string, input: Input, of: "pages"];
  readonly queryFn: (context: {
    readonly signal: AbortSignal;
    readonly pageParam: string | undefined;
  }) => Promise<Result>;
  readonly initialPageParam: string | undefined;
  readonly getNextPageParam: (last: Result) => string | undefined;
}

/** An operation that changes something. */
export interface Mutation<Input, Result> {
  readonly mutationKey: readonly [namespace: string, operation: string];
  /** Tries of one mutation, which share a context, go under one `Idempotency-Key`. */
  readonly mutationFn: (input: Input, context?: object) => Promise<Result>;
}

export function query<Input, Result>(
  [namespace, operation]: readonly [string, string],
  input: Input,
  run: (options: CallOptions) => Promise<Result>,
): Query<Input, Result> {
  return {
    queryKey: [namespace, operation, input],
    queryFn: ({ signal }) => run({ signal }),
  };
}

export function pages<
  Input extends { readonly after?: string },
  Result extends { readonly next_cursor: string | null },
>(
  [namespace, operation]: readonly [string, string],
  input: Input,
  run: (input: Input, options: CallOptions) => Promise<Result>,
): Pages<Input, Result> {
  return {
    queryKey: [namespace, operation, input, "pages"],
    queryFn: ({ signal, pageParam }) =>
      run(pageParam === undefined ? input : { ...input, after: pageParam }, { signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  };
}

const idempotencyKeys = new WeakMap<object, string>();

export function mutation<Input, Result>(
  mutationKey: readonly [string, string],
  run: (input: Input, options: CallOptions) => Promise<Result>,
): Mutation<Input, Result> {
  return {
    mutationKey,
    mutationFn: (input, context = {}) => {
      const idempotencyKey = idempotencyKeys.get(context) ?? randomKey();
      idempotencyKeys.set(context, idempotencyKey);
      return run(input, { idempotencyKey });
    },
  };
}
