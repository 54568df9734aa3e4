// Finding documents by the words of their titles, without building a filter.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { titleMember, type DocumentKind } from "./document.js";
import { containing, type Condition } from "./filters.js";

/** The condition that finds words in the title; none for no words. */
export function findingOf(kind: DocumentKind, words: string): readonly Condition[] {
  const member = titleMember(kind);
  if (words === "" || member === null) return [];
  return [{ member, operator: "$ilike", text: containing(words) }];
}

interface FinderProps {
  readonly kind: DocumentKind;
  /** What is looked for when it is shown. */
  readonly words: string;
  readonly find: (words: string) => void;
}

/** A field for words of the title; nothing where titles can't be searched. */
export function Finder({ kind, words: sought, find }: FinderProps): JSX.Element | null {
  const [words, setWords] = useState(sought);
  const member = titleMember(kind);
  if (member === null || kind.operators[member]?.includes("$ilike") !== true) return null;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    find(words);
  };
  return (
    <form class="row" role="search" onSubmit={submit}>
      <input
        id="find"
        type="search"
        aria-label={`Find by ${member}`}
        placeholder={`Find by ${member}`}
        value={words}
        onInput={({ currentTarget: { value } }) => {
          setWords(value);
          if (value === "") find("");
        }}
      />
      <button type="submit">Find</button>
    </form>
  );
}
