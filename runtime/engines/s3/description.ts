// What an upload says of itself, as metadata of S3: ASCII, two kilobytes in all.
import type { ObjectDescription, ObjectTags } from "../../ports/object-head.js";

/** Metadata of an object. */
export function metadataOf({
  filename,
  description,
  tags,
}: ObjectDescription): Readonly<Record<string, string>> {
  return {
    filename: encoded(filename),
    ...(description === null ? {} : { description: encoded(description) }),
    ...(tags === undefined ? {} : { tags: encoded(JSON.stringify(tags)) }),
  };
}

/** The description of an object; what was not uploaded by us has the name of its key. */
export function descriptionOf(
  key: string,
  contentType: string | undefined,
  metadata: Readonly<Record<string, string>> | undefined,
): ObjectDescription {
  const { filename, description, tags } = metadata ?? {};
  return {
    contentType: contentType ?? "application/octet-stream",
    filename: filename === undefined ? (key.split("/").at(-1) ?? "file") : decoded(filename),
    description: description === undefined ? null : decoded(description),
    // Written by `metadataOf`.
    ...(tags === undefined ? {} : { tags: JSON.parse(decoded(tags)) as ObjectTags }),
  };
}

function encoded(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

function decoded(text: string): string {
  return Buffer.from(text, "base64url").toString("utf8");
}
