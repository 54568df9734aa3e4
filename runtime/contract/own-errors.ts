// Errors of the author's own, beside those of the table (contract/errors.ts).
import { fail, row, ServiceError, type ErrorKind } from "./errors.js";

/** An error as generated code declares it. */
export interface OwnErrorDeclaration {
  readonly kind: ErrorKind;
  readonly detail: string;
  readonly retryable: boolean;
  /**
   * Cuts the context to what is declared, and throws if it doesn't match; absent for an error
   * without context.
   */
  readonly context?: (given: unknown) => object;
}

/** An error that the registry declares. */
export class OwnError extends ServiceError {}

/** The arguments of an error besides its code: its context, if it has one. */
type Told<Context> = Context extends undefined ? readonly [] : readonly [context: Context];

/** Makes errors of a registry by their codes: `throw fail("out_of_stock", { left: 3 })`. */
export function ownErrors<Contexts>(
  declared: Readonly<Record<keyof Contexts & string, OwnErrorDeclaration>>,
): <Code extends keyof Contexts & string>(
  code: Code,
  ...told: Told<Contexts[Code]>
) => ServiceError {
  return (code, ...[context]) => {
    const { kind, detail, retryable, context: told } = declared[code];
    return new OwnError(code, row(kind, detail, { retryable }), { ...told?.(context) });
  };
}

/**
 * An operation, and which errors of the registry it may answer with; undefined if nobody's code
 * can throw one.
 */
export interface Declaring {
  readonly operationId: string;
  readonly errors?: readonly string[];
}

/**
 * The error as the operation may answer it: an error that the operation doesn't declare is masked,
 * and the log names it.
 */
export function declaredError(operation: Declaring | undefined, error: unknown): unknown {
  if (operation?.errors === undefined || !(error instanceof OwnError)) return error;
  if (operation.errors.includes(error.code)) return error;
  const { operationId } = operation;
  const message = `${operationId} does not declare the error ${error.code}: list it in the \`errors\` of the operation, or of a hook under \`hooks:\``;
  return fail("core.internal", {}, { cause: new Error(message, { cause: error }) });
}
