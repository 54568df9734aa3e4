// What went wrong with something that was asked for.
import type { JSX } from "preact";

/** The words of an error, with its code, and the places in the input that it names. */
export function Fault({ error }: { readonly error: Error }): JSX.Element {
  const { code, context } = error as Error & {
    readonly code?: string;
    readonly context?: { readonly errors?: readonly Place[] };
  };
  return (
    <div class="message bad" role="alert">
      <p>
        {error.message} {code !== undefined && <code>{code}</code>}
      </p>
      {context?.errors?.map(({ path = "", message = "" }) => (
        <p key={`${path} ${message}`} class="small">
          <code>{path}</code> {message}
        </p>
      ))}
    </div>
  );
}

interface Place {
  readonly path?: string;
  readonly message?: string;
}

/** Whether an error says that something isn't there, or not for the user (RFC 9110 §15.5). */
export function isAbsence(error: unknown): boolean {
  const { status } = error as { readonly status?: number };
  return status === 403 || status === 404 || status === 410;
}

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
