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

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
