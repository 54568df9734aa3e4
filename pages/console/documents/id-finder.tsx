// Opening a document by an id alone, such as one from a log, which doesn't say of what it is.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
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
    if (id === undefined) return say("There is no whole id in it: an id has 36 characters.");
    say("");
    const name = await kindOf(api, names, id);
    if (name === null)
      say("No document that you may read has this id, at least not in this tenant.");
    else location.hash = `documents/${name}/${id}`;
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

/** The kind of document that has an id, deleted ones last; null if there is none. */
async function kindOf(api: Api, names: readonly string[], id: string): Promise<string | null> {
  for (const verb of ["get", "get_deleted"]) {
    const asked = names
      .filter((name) => api.can(`${name}.${verb}`))
      .map((name) => api.call(`${name}.${verb}`, { id }).then(() => name));
    const found = await Promise.any(asked).catch(() => null);
    if (found !== null) return found;
  }
  return null;
}
