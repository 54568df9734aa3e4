// The operation: the one concept that every family, transport and document shares (architecture.md).
import type { InputBinding } from "./input.js";
import type { ExecutionContext } from "./context.js";
import { chain, type Hook, type HookChain } from "./hooks.js";
import type { Output } from "./json-text.js";

/** Runs an operation. Throws a `ServiceError` from the error table; any other error becomes a masked 500. */
export type Handler<Input, Result> = (
  input: Input,
  context: ExecutionContext,
) => Output<Result> | Promise<Output<Result>>;

/** Which transaction the handler runs in: `write` commits, `read` cannot write, `none` has no database. */
export type TransactionMode = "write" | "read" | "none";

/** An operation as generated code declares it. */
export interface OperationDeclaration<Input, Result> {
  readonly operationId: string;
  readonly input: InputBinding<Input>;
  readonly hooks?: readonly Hook<Input, Result>[];
  readonly transaction: TransactionMode;
  /** Upper bound in seconds; published as `x-deadline-seconds`. */
  readonly deadlineSeconds?: number;
  /** Whether the operation honours `Idempotency-Key`. */
  readonly idempotencyKey?: boolean;
  readonly run: Handler<Input, Result>;
}

/** An operation ready to be invoked. */
export interface Operation<Input, Result> extends OperationDeclaration<Input, Result> {
  readonly chain: HookChain<Input, Result>;
}

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An operation with its HTTP door. `path` has `{name}` placeholders; `status` is that of success. */
export interface Route<Input, Result> extends Operation<Input, Result> {
  readonly method: HttpMethod;
  readonly path: string;
  readonly status: number;
}

/** A route whose types have been checked where it was declared. */
// oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each route
export type AnyRoute = Route<any, any>;

/** Declares an operation without an HTTP door. */
export function operation<Input, Result>(
  declaration: OperationDeclaration<Input, Result>,
): Operation<Input, Result> {
  return { ...declaration, chain: chain(declaration.hooks ?? []) };
}

/** Declares an operation with an HTTP door. */
export function route<Input, Result>(
  declaration: OperationDeclaration<Input, Result> & {
    readonly method: HttpMethod;
    readonly path: string;
    readonly status: number;
  },
): Route<Input, Result> {
  return { ...declaration, chain: chain(declaration.hooks ?? []) };
}
