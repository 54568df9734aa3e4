// What a reference of a document names, as links with titles.
import type { JSX } from "preact";
import { isId, ShortId } from "../short-id.js";
import type { ReferenceTitles } from "./reference-titles.js";

interface NamedProps {
  /** An id, or a list of ids. */
  readonly value: unknown;
  /** The document that it leads to. */
  readonly to: string;
  readonly titles: ReferenceTitles;
}

/** The ids in the value of a reference. */
export function idsIn(value: unknown): readonly string[] {
  return [value].flat().filter((id) => typeof id === "string");
}

/** Links to all that a reference names, by their titles where they have some. */
export function Named({ value, to, titles }: NamedProps): JSX.Element {
  return (
    <>
      {idsIn(value).map((id, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <a href={`#documents/${to}/${id}`}>
            {titles.get(id) ?? (isId(id) ? <ShortId id={id} /> : id)}
          </a>
        </span>
      ))}
    </>
  );
}
