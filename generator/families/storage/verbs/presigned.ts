// Addresses under which clients reach the store themselves.
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { presignDownloadBody, presignPostBody, presignUploadBody } from "../schemas.js";
import { download, upload } from "./bytes.js";
import { bodyOf, direct, signedUpload, verb, withPresign } from "./verb.js";

export const presignDownload = verb({
  name: "presign_download",
  summary: ({ many }) => `Sign an address to download from ${many}`,
  rest: ["POST", "/files/presign/download"],
  when: withPresign,
  group: "read",
  twinOf: [download],
  effect: "repeats",
  input: bodyOf(presignDownloadBody),
  output: () => jsonOutput(refTo("SignedRequest")),
  run: ({ spec }) => callOf(ofRuntime("direct.presignDownload"), spec),
  errors: () => [...direct, "core.not_found"],
});

export const presignUpload = verb({
  name: "presign_upload",
  summary: ({ many }) => `Sign an address to upload into ${many}`,
  rest: ["POST", "/files/presign/upload"],
  when: withPresign,
  group: "write",
  twinOf: [upload],
  effect: "repeats",
  input: bodyOf(presignUploadBody),
  output: () => jsonOutput(refTo("SignedRequest")),
  run: ({ spec }) => callOf(ofRuntime("direct.presignUpload"), spec),
  errors: () => [...signedUpload, "upload_type_unsupported"],
});

export const presignPost = verb({
  name: "presign_post",
  summary: ({ many }) => `Sign a form to upload into ${many}`,
  rest: ["POST", "/files/presign/post"],
  when: withPresign,
  group: "write",
  twinOf: [upload],
  effect: "repeats",
  input: bodyOf(presignPostBody),
  output: () => jsonOutput(refTo("SignedForm")),
  run: ({ spec }) => callOf(ofRuntime("direct.presignPost"), spec),
  errors: () => [...direct, "upload_type_unsupported"],
});
