// Uploads in parts, whose bytes do not pass through the service.
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { beginUploadBody, completeBody, presignPartBody, sessionBody } from "../schemas.js";
import { upload } from "./bytes.js";
import { bodyOf, direct, verb, withMultipart } from "./verb.js";

const ofSession = [...direct, "upload_session_invalid", "core.not_found"];

export const beginUpload = verb({
  name: "begin_upload",
  summary: ({ many }) => `Begin an upload into ${many} in parts`,
  rest: ["POST", "/files/uploads"],
  status: 201,
  when: withMultipart,
  group: "write",
  twinOf: [upload],
  effect: "changes",
  input: bodyOf(beginUploadBody),
  output: () => jsonOutput(refTo("UploadSession")),
  run: ({ spec }) => callOf(ofRuntime("direct.beginUpload"), spec),
  errors: () => [...direct, "upload_type_unsupported"],
  leadsTo: ["presign_part", "list_parts", "complete_upload", "abort_upload"],
});

export const presignPart = verb({
  name: "presign_part",
  summary: ({ many }) => `Sign an address for a part of an upload into ${many}`,
  rest: ["POST", "/files/uploads/parts/url"],
  when: withMultipart,
  group: "write",
  twinOf: [upload],
  effect: "repeats",
  input: bodyOf(presignPartBody),
  output: () => jsonOutput(refTo("SignedRequest")),
  run: ({ spec }) => callOf(ofRuntime("direct.presignPart"), spec),
  errors: () => [...ofSession, "upload_too_large", "presigned_upload_unsafe"],
  leadsTo: ["complete_upload"],
});

export const listParts = verb({
  name: "list_parts",
  summary: ({ many }) => `List the parts of an upload into ${many}`,
  rest: ["POST", "/files/uploads/parts"],
  when: withMultipart,
  group: "write",
  twinOf: [upload],
  effect: "reads",
  input: bodyOf(sessionBody),
  output: () => jsonOutput(refTo("UploadPartList")),
  run: ({ spec }) => callOf(ofRuntime("direct.listParts"), spec),
  errors: () => ofSession,
  leadsTo: ["presign_part", "complete_upload"],
});

export const completeUpload = verb({
  name: "complete_upload",
  summary: ({ many }) => `Complete an upload into ${many} in parts`,
  rest: ["POST", "/files/uploads/complete"],
  when: withMultipart,
  group: "write",
  twinOf: [upload],
  effect: "changes",
  input: bodyOf(completeBody),
  output: () => jsonOutput(refTo("ObjectHead")),
  run: ({ spec }) => callOf(ofRuntime("direct.completeUpload"), spec),
  errors: () => [
    ...ofSession,
    "upload_parts_invalid",
    "upload_too_large",
    "upload_type_unsupported",
    "core.conflict",
  ],
});

export const abortUpload = verb({
  name: "abort_upload",
  summary: ({ many }) => `Give up an upload into ${many} in parts`,
  rest: ["POST", "/files/uploads/abort"],
  status: 204,
  when: withMultipart,
  group: "write",
  twinOf: [upload],
  effect: "repeats",
  input: bodyOf(sessionBody),
  output: () => jsonOutput(null),
  run: ({ spec }) => callOf(ofRuntime("direct.abortUpload"), spec),
  errors: () => [...direct, "upload_session_invalid"],
});
