// A call of an operation as the form of its page has it, and the one that it begins with.
import type { OpenApi } from "./document.js";
import { exampleOf } from "./example.js";
import type { Operation } from "./operations.js";

export interface Call {
  /** Values of parameters by place and name, `query rev`; one that is empty isn't sent. */
  readonly parameters: Readonly<Record<string, string>>;
  /** JSON or text; files of a form stand in `file`. */
  readonly body: string;
  readonly file: File | null;
}

/** The media type of an operation's body; null if it has none. */
export function mediaTypeOf({ body }: Operation): string | null {
  return Object.keys(body?.content ?? {})[0] ?? null;
}

/** A call that the service accepts as far as it can be known: an example of all that is required. */
export function firstCall(document: OpenApi, operation: Operation): Call {
  const media = operation.body?.content?.[mediaTypeOf(operation) ?? ""];
  const example = media?.example ?? exampleOf(document, media?.schema);
  // A revision may come as `rev` or as If-Match, so the document can require neither.
  const needsRevision = operation.errorCodes.includes("revision_required");
  const parameters = operation.parameters.map(({ in: place, name, required, schema, example }) => {
    const isNeeded = required === true || (needsRevision && name === "rev");
    const value = isNeeded ? (example ?? exampleOf(document, schema)) : "";
    return [`${place} ${name}`, typeof value === "string" ? value : JSON.stringify(value)];
  });
  return {
    parameters: Object.fromEntries(parameters),
    body: media === undefined ? "" : JSON.stringify(example, null, 2),
    file: null,
  };
}
