import { expect, test } from "vitest";
import { descriptionOf, metadataOf } from "./description.js";

test("a description comes back as it was", () => {
  const description = {
    contentType: "text/plain",
    filename: "größe.txt",
    description: "日本語",
    tags: { kind: "note" },
  };
  expect(descriptionOf("a/b", "text/plain", metadataOf(description))).toEqual(description);
});

test.each([
  "red,blue",
  Buffer.from('{"a":1}').toString("base64url"),
  Buffer.from("[]").toString("base64url"),
])("another program's metadata is no tags: %s", (tags) => {
  expect(descriptionOf("a/b.txt", undefined, { tags })).toEqual({
    contentType: "application/octet-stream",
    filename: "b.txt",
    description: null,
  });
});
