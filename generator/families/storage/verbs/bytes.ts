// Uploads and downloads through the service.
import { bytesOutput, jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { always, keyInputOf, uploadInput, verb } from "./verb.js";

export const upload = verb({
  name: "upload",
  summary: ({ many }) => `Upload into ${many}`,
  rest: ["POST", "/files"],
  rpc: ["POST", "/files/upload"],
  status: 201,
  when: always,
  group: "write",
  effect: "changes",
  input: uploadInput,
  output: () => jsonOutput(refTo("StoredObject")),
  run: ({ spec }) => callOf(ofRuntime("storage.upload"), spec),
  errors: () => [
    "media_type_unsupported",
    "upload_malformed",
    "upload_too_large",
    "upload_type_unsupported",
    "request_timeout",
    "core.concurrency",
  ],
  isTool: false,
  // It has as long as its bytes keep coming.
  usualDeadline: "none",
});

export const download = verb({
  name: "download",
  summary: ({ many }) => `Download from ${many}`,
  rest: ["GET", "/files/{+key}"],
  rpc: ["GET", "/files/download/{+key}"],
  when: always,
  group: "read",
  effect: "reads",
  input: keyInputOf("download"),
  output: () => bytesOutput,
  run: ({ model, spec }) =>
    callOf(ofRuntime(`storage.download${model.isStreamed ? "" : "Buffered"}`), spec),
  errors: () => ["core.not_found", "range_not_satisfiable", "core.concurrency"],
  isConditional: true,
  isTool: false,
});

export const head = verb({
  name: "head",
  summary: ({ many }) => `Look at an object of ${many} without its bytes`,
  rest: ["HEAD", "/files/{+key}"],
  rpc: ["HEAD", "/files/download/{+key}"],
  when: always,
  group: "read",
  effect: "reads",
  input: keyInputOf("download"),
  output: () => bytesOutput,
  run: ({ model, spec }) =>
    callOf(ofRuntime(`storage.head${model.isStreamed ? "" : "Buffered"}`), spec),
  errors: () => ["core.not_found"],
  isConditional: true,
  isTool: false,
});

export const downloadStream = verb({
  name: "download_stream",
  summary: ({ many }) => `Download a whole object of ${many}`,
  rest: null,
  when: always,
  group: "read",
  twinOf: [download],
  effect: "reads",
  input: keyInputOf("key"),
  output: () => bytesOutput,
  run: ({ spec }) => callOf(ofRuntime("storage.downloadStream"), spec),
  errors: () => ["core.not_found"],
  isConditional: true,
  isTool: false,
});

export const downloadRange = verb({
  name: "download_range",
  summary: ({ many }) => `Download a range of an object of ${many}`,
  rest: null,
  when: always,
  group: "read",
  twinOf: [download],
  effect: "reads",
  input: keyInputOf("range"),
  output: () => bytesOutput,
  run: ({ spec }) => callOf(ofRuntime("storage.downloadRange"), spec),
  errors: () => ["core.not_found", "range_not_satisfiable", "core.concurrency"],
  isConditional: true,
  isTool: false,
});
