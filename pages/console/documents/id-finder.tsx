// Opening a document by an id alone, such as one from a log, which doesn't say of what it is.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { errorOf, isAbsence } from "../../parts/fault.js";
import type { Api } from "../api.js";
import { idPattern } from "../short-id.js";
import { documentsOf } from "./document.js";

/** A field for an id, or for a text that has one; it opens the document that has it. */
export function IdFinder({ api }: { readonly api: Api }): JSX.Element | null {
  const [said, say] = useState("");
  const names = documentsOf(api).filter((name) => api.can(`${name}.get`));
  if (names.length === 0) return null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement).get("id");
    const [id] = idPattern.exec(String(given).toLowerCase()) ?? [];
    if (id === undefined) return say("That contains no whole id: an id has 36 characters.");
    say("");
    try {
      const name = await findKind(api, names, id);
      if (name === null) say("No document that you can read in this tenant has this id.");
      else location.hash = `documents/${name}/${id}`;
    } catch (fault) {
      say(errorOf(fault).message);
    }
  };
  return (
    <form
      role="search"
      aria-label="Open a document"
      class="stack tight"
      onSubmit={(event) => void submit(event)}
    >
      <input id="open" name="id" type="search" aria-label="Open by id" placeholder="Open by id" />
      {said !== "" && (
        <p class="small message bad" role="alert">
          {said}
        </p>
      )}
    </form>
  );
}

/**
 * The kind of document that has an id, deleted ones last; null if there is none. Rejects if one of
 * them could not be asked.
 */
async function findKind(api: Api, names: readonly string[], id: string): Promise<string | null> {
  for (const verb of ["get", "get_deleted"]) {
    const asked = names
      .filter((name) => api.can(`${name}.${verb}`))
      .map((name) => api.call(`${name}.${verb}`, { id }).then(() => name));
    const found = await Promise.any(asked).catch(({ errors }: AggregateError) => {
      const fault: unknown = errors.find((one) => !isAbsence(one));
      if (fault !== undefined) throw fault;
      return null;
    });
    if (found !== null) return found;
  }
  return null;
}
