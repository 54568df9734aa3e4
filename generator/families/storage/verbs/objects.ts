// What is known of objects: it is listed, read and changed, and objects are copied, moved and
// deleted.
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { copyBody, listBody, metadataBody, updateMetadataBody } from "../schemas.js";
import { download, upload } from "./bytes.js";
import { always, bodyOf, keyInputOf, verb } from "./verb.js";

export const metadata = verb({
  name: "metadata",
  summary: ({ many }) => `Read what is known of an object of ${many}`,
  rest: ["POST", "/files/metadata"],
  when: always,
  group: "read",
  effect: "reads",
  input: bodyOf(metadataBody),
  output: () => jsonOutput(refTo("StoredObject")),
  run: ({ spec }) => callOf(ofRuntime("storage.metadata"), spec),
  errors: () => ["core.not_found", "upload_type_unsupported"],
});

export const remove = verb({
  name: "delete",
  summary: ({ many }) => `Delete an object of ${many}`,
  rest: ["DELETE", "/files/{+key}"],
  rpc: ["DELETE", "/files/delete/{+key}"],
  status: 204,
  when: always,
  group: "write",
  effect: "changes",
  input: keyInputOf("key"),
  output: () => jsonOutput(null),
  run: ({ model, spec }) =>
    callOf(ofRuntime(`storage.delete${model.isStreamed ? "" : "Buffered"}`), spec),
  errors: () => ["core.not_found", "core.concurrency"],
  isConditional: true,
});

export const list = verb({
  name: "list",
  summary: ({ many }) => `List the objects of ${many}`,
  rest: ["POST", "/files/list"],
  when: always,
  group: "read",
  twinOf: [metadata],
  effect: "reads",
  input: bodyOf(listBody),
  output: () => jsonOutput(refTo("ObjectPage")),
  run: ({ spec }) => callOf(ofRuntime("storage.list"), spec),
  errors: () => ["invalid_cursor"],
});

export const updateMetadata = verb({
  name: "update_metadata",
  summary: ({ many }) => `Change what is known of an object of ${many}`,
  rest: ["POST", "/files/metadata/update"],
  when: always,
  group: "write",
  effect: "repeats",
  input: bodyOf(updateMetadataBody),
  output: () => jsonOutput(refTo("StoredObject")),
  run: ({ spec }) => callOf(ofRuntime("storage.updateMetadata"), spec),
  errors: () => ["core.not_found", "core.concurrency", "upload_type_unsupported"],
});

export const copy = verb({
  name: "copy",
  summary: ({ many }) => `Copy an object of ${many}`,
  rest: ["POST", "/files/copy"],
  when: always,
  group: "write",
  twinOf: [download, upload],
  effect: "repeats",
  input: bodyOf(copyBody),
  output: () => jsonOutput(refTo("StoredObject")),
  run: ({ spec }) => callOf(ofRuntime("storage.copy"), spec),
  errors: () => ["core.not_found", "core.concurrency"],
});

export const move = verb({
  name: "move",
  summary: ({ many }) => `Move an object of ${many}`,
  rest: ["POST", "/files/move"],
  when: always,
  group: "write",
  twinOf: [download, upload, remove],
  effect: "changes",
  input: bodyOf(copyBody),
  output: () => jsonOutput(refTo("StoredObject")),
  run: ({ spec }) => callOf(ofRuntime("storage.move"), spec),
  errors: () => ["core.not_found", "core.concurrency"],
});
