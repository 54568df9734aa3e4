// An object's description as S3 metadata, which is ASCII and at most two kilobytes in all.
import { isObject } from "../../contract/json-pointer.js";
import type { ObjectDescription, ObjectTags } from "../../ports/object-head.js";

/** The description as metadata. Values are base64url of UTF-8, so that they are ASCII. */
export function metadataOf({
  filename,
  description,
  tags,
}: ObjectDescription): Readonly<Record<string, string>> {
  return {
    filename: encodeText(filename),
    ...(description === null ? {} : { description: encodeText(description) }),
    ...(tags === undefined ? {} : { tags: encodeText(JSON.stringify(tags)) }),
  };
}

/**
 * The description in S3's answer. An object that opwright did not upload is named after the last
 * segment of its key.
 */
export function descriptionOf(
  key: string,
  contentType: string | undefined,
  metadata: Readonly<Record<string, string>> | undefined,
): ObjectDescription {
  const { filename, description, tags: text } = metadata ?? {};
  const tags = text === undefined ? undefined : tagsIn(decodeText(text));
  return {
    contentType: contentType ?? "application/octet-stream",
    filename: filename === undefined ? (key.split("/").at(-1) ?? "file") : decodeText(filename),
    description: description === undefined ? null : decodeText(description),
    ...(tags === undefined ? {} : { tags }),
  };
}

/**
 * The tags that `metadataOf` wrote; undefined for an object of another program whose metadata has
 * the same name.
 */
function tagsIn(text: string): ObjectTags | undefined {
  let tags: unknown;
  try {
    tags = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isOurs = isObject(tags) && Object.values(tags).every((value) => typeof value === "string");
  return isOurs ? (tags as ObjectTags) : undefined;
}

function encodeText(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

function decodeText(text: string): string {
  return Buffer.from(text, "base64url").toString("utf8");
}
