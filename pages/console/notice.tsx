// What the last thing that was done has led to.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { Fault } from "../parts/fault.js";

export type Said = { readonly text: string } | { readonly error: Error };
export type Say = (said: Said) => void;

let next: Said | null = null;

/** Says it in the room that is shown next, of something that ends the room where it was done. */
export function sayNext(said: Said): void {
  next = said;
}

function takeNext(): Said | null {
  const said = next;
  next = null;
  return said;
}

/** A place for notices, and the function that puts one there. */
export function useNotice(): readonly [JSX.Element, Say] {
  const [said, say] = useState<Said | null>(takeNext);
  const notice = (
    <div role="status">
      {said !== null &&
        ("error" in said ? <Fault error={said.error} /> : <p class="message good">{said.text}</p>)}
    </div>
  );
  return [notice, say];
}
