// The method of an operation, in its colour.
import type { JSX } from "preact";

/** `POST`, and the like. */
export function Method({ name }: { readonly name: string }): JSX.Element {
  return <span class={`method ${name}`}>{name}</span>;
}
