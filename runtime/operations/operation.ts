// The operation: the one concept that every family, transport and document shares (architecture.md,
// idea 1).
import type { InputBinding } from "./input.js";
import type { ExecutionContext } from "./context.js";
import { noteAuthored } from "./authored.js";
import { chain, type Hook, type HookChain } from "./hooks.js";
import type { ReplyDeclaration } from "./reply-declaration.js";
import type { Output } from "./json-text.js";

/**
 * Runs an operation. Throws a `ServiceError` from the error table; any other error becomes a masked
 * 500.
 */
export type Handler<Input, Result> = (
  input: Input,
  context: ExecutionContext,
) => Output<Result> | Promise<Output<Result>>;

/**
 * A handler that looks for what it will write before its transaction begins, on committed state: no
 * writer waits for it meanwhile. What it has found may have changed by the time the rest runs.
 * Behind `tx_before` hooks, all of it runs in the transaction: what they have written is found too.
 */
export interface LookingHandler<Input, Result> {
  look(input: Input, context: ExecutionContext): Promise<Handler<Input, Result>>;
}

/**
 * Whether the handler runs in a transaction that commits (`write`), or on committed state without
 * one (`read`).
 */
export type TransactionMode = "write" | "read";

/** An operation as generated code declares it. */
export interface OperationDeclaration<Input, Result, Read = Input> {
  readonly operationId: string;
  readonly input: InputBinding<Input, Read>;
  readonly hooks?: readonly Hook<NoInfer<Input>, NoInfer<Result>>[];
  readonly transaction: TransactionMode;
  /** Upper bound in seconds; published as `x-deadline-seconds`. */
  readonly deadlineSeconds?: number;
  /** Whether the operation honours `Idempotency-Key`. */
  readonly idempotencyKey?: boolean;
  /**
   * `serializable` transactions of a tenant run one after another; others see before each statement
   * what has been committed.
   */
  readonly isolation?: "serializable";
  /**
   * How often the transaction is tried again if it fails with `core.concurrency`; never if left
   * out.
   */
  readonly retries?: number;
  /** Errors of the registry that it may answer with; absent if nobody's code can throw one. */
  readonly errors?: readonly string[];
  /**
   * Present if every invocation goes to the audit log: the input's members that the log names, none
   * of them a secret.
   */
  readonly audit?: readonly string[];
  readonly run: Handler<Read, Result> | LookingHandler<Read, Result>;
}

/** An operation ready to be invoked. */
export interface Operation<Input, Result> extends OperationDeclaration<Input, Result> {
  readonly chain: HookChain<Input, Result>;
}

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The route of an operation: its method, path and what only HTTP knows. */
export interface HttpBinding {
  readonly method: HttpMethod;
  /** With `{name}` placeholders. */
  readonly path: string;
  /** Whether the path is the root of a mount, which answers with a trailing slash as well. */
  readonly prefixRoot?: boolean;
  /** The status of success. */
  readonly status: number;
  /** Whether credentials are ignored, because the operation authenticates by its body. */
  readonly ignoresCredentials?: boolean;
  /** Days in UTC, such as 2026-07-01: since when it is deprecated, and when it may be removed. */
  readonly deprecated?: { readonly since: string; readonly sunset?: string };
  /** The headers that the handler reads, and the parts of the answer it sets besides the body. */
  readonly reply?: ReplyDeclaration;
}

/** An operation with its route. */
export interface Route<Input, Result> extends Operation<Input, Result>, HttpBinding {}

/** A route whose types were checked at its declaration. */
// oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each route
export type AnyRoute = Route<any, any>;
// oxlint-disable-next-line typescript/no-explicit-any -- as in AnyRoute
type AnyOperation = Operation<any, any>;

/**
 * The input of an operation; of one that no value fits, anything, since a route that takes `never`
 * is no `AnyRoute`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- as in AnyRoute
type Taken<Input> = [Input] extends [never] ? any : Input;

/** Declares an operation without a route. */
export function operation<Input, Result, Read = Input>(
  declaration: OperationDeclaration<Input, Result, Read>,
): Operation<Taken<Input>, Result> {
  return { ...declaration, ...partsOf(declaration) } as AnyOperation;
}

/** Declares an operation with a route. */
export function route<Input, Result, Read = Input>(
  declaration: OperationDeclaration<Input, Result, Read> & HttpBinding,
): Route<Taken<Input>, Result> {
  return { ...declaration, ...partsOf(declaration) } as AnyRoute;
}

/** The chain of hooks, and the handler as it is run with an input. */
function partsOf<Input, Result, Read>({
  hooks = [],
  input: { reading },
  run,
}: OperationDeclaration<Input, Result, Read>) {
  const hooked = { chain: chain(hooks) };
  // Handlers of opwright have no names.
  if (typeof run === "function" && run.name !== "") noteAuthored(run);
  if (reading === undefined) return hooked;
  // Hooks of the author's may change what they see.
  const read = hooks.some(({ isAuthored }) => isAuthored) ? reading.read : reading.recall;
  const handler: Handler<Input, Result> | LookingHandler<Input, Result> =
    typeof run === "function"
      ? (input, context) => run(read(input), context)
      : {
          async look(input, context) {
            const given = read(input);
            const work = await run.look(given, context);
            return (_input, within) => work(given, within);
          },
        };
  return { ...hooked, run: handler };
}

/**
 * The routes of a service. Each is held to its own types alone, where a literal of a list would
 * unite those of all, which TypeScript refuses from about 1 300 routes on (TS2590).
 */
export function routes(...all: readonly AnyRoute[]): readonly AnyRoute[] {
  return all;
}
