// The description of an object: a filename, a text, and tags, which lists can ask for
// (decisions.md "Object storage").
import { fail } from "../../contract/errors.js";
import { filenamePattern } from "../../contract/object-texts.js";
import type { ObjectDescription, ObjectTags } from "../../ports/object-head.js";

/** Engines keep these with the object's metadata. */
const maxDescription = 1_000;
const maxFilename = 255;
const named = new RegExp(filenamePattern, "u");
const maxTags = 10;
/**
 * Bytes of all tags as JSON: S3 keeps two kilobytes with an object, and its name and description
 * need most of them.
 */
const maxBytes = 256;
const tagName = /^[A-Za-z0-9._:-]{1,32}$/;
const tagValue = /^[^\p{Cc}]{0,64}$/u;

/**
 * The tags of a form's field, written as a query is: `project=apollo&stage=draft`. Throws
 * `core.validation`.
 */
export function readTags(field: string | undefined): ObjectTags {
  const pairs = [...new URLSearchParams(field ?? "")];
  if (new Set(pairs.map(([name]) => name)).size < pairs.length)
    throw invalid("must have each name once");
  return checkTags(Object.fromEntries(pairs));
}

/** Throws `core.validation` at `/tags` where tags are not as they may be. */
export function checkTags(tags: ObjectTags): ObjectTags {
  const entries = Object.entries(tags);
  if (entries.length > maxTags) throw invalid(`must NOT have more than ${maxTags} tags`);
  for (const [name, value] of entries) {
    if (!tagName.test(name)) throw invalid("must have names of up to 32 letters, digits and ._:-");
    if (!tagValue.test(value) || !value.isWellFormed())
      throw invalid("must have values of up to 64 characters without control characters");
  }
  if (Buffer.byteLength(JSON.stringify(tags)) > maxBytes)
    throw invalid(`must NOT have more than ${maxBytes} bytes together`);
  return tags;
}

/** Throws `core.validation` if a description or a filename is not as it may be. */
export function checkTexts({
  description,
  filename,
}: {
  readonly description?: string | null | undefined;
  readonly filename?: string | undefined;
}): void {
  if (Buffer.byteLength(description ?? "") > maxDescription)
    throw invalid(`must NOT have more than ${maxDescription} bytes`, "/description");
  if (Buffer.byteLength(filename ?? "") > maxFilename)
    throw invalid(`must NOT have more than ${maxFilename} bytes`, "/filename");
  if (filename !== undefined && !(named.test(filename) && filename.isWellFormed()))
    throw invalid("must be a name without slashes and control characters", "/filename");
  if (description?.isWellFormed() === false)
    throw invalid("must be well-formed Unicode", "/description");
}

function invalid(message: string, path = "/tags"): Error {
  return fail("core.validation", { errors: [{ path, keyword: "maxLength", message }] });
}

/** What is said of an object, without what its engine says: for a copy of it. */
export function describeCopy({
  contentType,
  filename,
  description,
  tags,
}: ObjectDescription): ObjectDescription {
  return { contentType, filename, description, ...(tags === undefined ? {} : { tags }) };
}
