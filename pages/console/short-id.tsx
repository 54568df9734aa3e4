// Ids in few characters: they are long, and mean nothing to people.
import type { JSX } from "preact";
import { useCopied } from "../parts/use-copied.js";

/** An id within a text. */
export const idPattern = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;

/** Whether a text is an id. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && idPattern.exec(value)?.[0] === value;
}

/** Ids begin with their time, which most have in common: it is the end that tells them apart. */
export function ShortId({ id }: { readonly id: string }): JSX.Element {
  return <code title={id}>{`…${id.slice(-8)}`}</code>;
}

/** An id that is copied whole when it is clicked, for a form that asks for it. */
export function CopiedId({ id }: { readonly id: string }): JSX.Element {
  const [isCopied, copy] = useCopied(id);
  return (
    <button class="plain" type="button" onClick={copy}>
      {isCopied ? (
        "Copied"
      ) : (
        <>
          <span class="hidden">Copy </span>
          <ShortId id={id} />
        </>
      )}
    </button>
  );
}
