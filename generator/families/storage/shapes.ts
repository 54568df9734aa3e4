// What each operation of a storage looks like: its routes, its body, its answer, its errors.
import { refTo, type JsonSchema, type SchemaObject } from "../../model/json-schema.js";
import type { Effect } from "../../model/registry.js";
import type { RouteMethod } from "../../kernel/family.js";
import type { StorageVerb } from "./verbs.js";
import {
  beginUploadBody,
  completeBody,
  copyBody,
  listBody,
  metadataBody,
  presignDownloadBody,
  presignPartBody,
  presignPostBody,
  presignUploadBody,
  sessionBody,
  updateMetadataBody,
} from "./schemas.js";

export interface StorageVerbShape {
  /** Routes by style, null where the operation has none of its own. */
  readonly rest: readonly [RouteMethod, string] | null;
  /** The steps that go on with what it answers. */
  readonly leadsTo?: readonly StorageVerb[];
  /** Where it differs from rest. */
  readonly rpc?: readonly [RouteMethod, string];
  readonly status?: number;
  readonly body?: SchemaObject;
  /** What it answers: a type, or bytes. */
  readonly output: JsonSchema | "bytes" | null;
  readonly isReading: boolean;
  readonly effect: Effect;
  readonly errors: readonly string[];
}

const direct = ["encryption_forbids_direct_transfer"];
const ofSession = [...direct, "upload_session_invalid", "core.not_found"];
const post = (path: string): readonly [RouteMethod, string] => ["POST", path];

export const shapes: Readonly<Record<StorageVerb, StorageVerbShape>> = {
  upload: {
    rest: post("/files"),
    rpc: post("/files/upload"),
    status: 201,
    output: refTo("StoredObject"),
    isReading: false,
    effect: "changes",
    errors: [
      "media_type_unsupported",
      "upload_malformed",
      "upload_too_large",
      "upload_type_unsupported",
      "request_timeout",
      "core.concurrency",
    ],
  },
  list: {
    rest: post("/files/list"),
    body: listBody,
    output: refTo("ObjectPage"),
    isReading: true,
    effect: "reads",
    errors: ["invalid_cursor"],
  },
  download: {
    rest: ["GET", "/files/{+key}"],
    rpc: ["GET", "/files/download/{+key}"],
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found", "range_not_satisfiable", "core.concurrency"],
  },
  head: {
    rest: ["HEAD", "/files/{+key}"],
    rpc: ["HEAD", "/files/download/{+key}"],
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found"],
  },
  download_stream: {
    rest: null,
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found"],
  },
  download_range: {
    rest: null,
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found", "range_not_satisfiable", "core.concurrency"],
  },
  delete: {
    rest: ["DELETE", "/files/{+key}"],
    rpc: ["DELETE", "/files/delete/{+key}"],
    status: 204,
    output: null,
    isReading: false,
    effect: "changes",
    errors: ["core.not_found", "core.concurrency"],
  },
  metadata: {
    rest: post("/files/metadata"),
    body: metadataBody,
    output: refTo("StoredObject"),
    isReading: true,
    effect: "reads",
    errors: ["core.not_found", "upload_type_unsupported"],
  },
  update_metadata: {
    rest: post("/files/metadata/update"),
    body: updateMetadataBody,
    output: refTo("StoredObject"),
    isReading: false,
    effect: "repeats",
    errors: ["core.not_found", "core.concurrency", "upload_type_unsupported"],
  },
  copy: {
    rest: post("/files/copy"),
    body: copyBody,
    output: refTo("StoredObject"),
    isReading: false,
    effect: "repeats",
    errors: ["core.not_found", "core.concurrency"],
  },
  move: {
    rest: post("/files/move"),
    body: copyBody,
    output: refTo("StoredObject"),
    isReading: false,
    effect: "changes",
    errors: ["core.not_found", "core.concurrency"],
  },
  presign_download: {
    rest: post("/files/presign/download"),
    body: presignDownloadBody,
    output: refTo("SignedRequest"),
    isReading: true,
    effect: "repeats",
    errors: [...direct, "core.not_found"],
  },
  presign_upload: {
    rest: post("/files/presign/upload"),
    body: presignUploadBody,
    output: refTo("SignedRequest"),
    isReading: false,
    effect: "repeats",
    errors: [...direct, "upload_type_unsupported"],
  },
  presign_post: {
    rest: post("/files/presign/post"),
    body: presignPostBody,
    output: refTo("SignedForm"),
    isReading: false,
    effect: "repeats",
    errors: [...direct, "upload_type_unsupported"],
  },
  begin_upload: {
    rest: post("/files/uploads"),
    status: 201,
    body: beginUploadBody,
    output: refTo("UploadSession"),
    leadsTo: ["presign_part", "list_parts", "complete_upload", "abort_upload"],
    isReading: false,
    effect: "changes",
    errors: [...direct, "upload_type_unsupported"],
  },
  presign_part: {
    rest: post("/files/uploads/parts/url"),
    body: presignPartBody,
    output: refTo("SignedRequest"),
    leadsTo: ["complete_upload"],
    isReading: false,
    effect: "repeats",
    errors: [...ofSession, "upload_too_large"],
  },
  list_parts: {
    rest: post("/files/uploads/parts"),
    body: sessionBody,
    output: refTo("UploadPartList"),
    leadsTo: ["presign_part", "complete_upload"],
    isReading: false,
    effect: "reads",
    errors: ofSession,
  },
  complete_upload: {
    rest: post("/files/uploads/complete"),
    body: completeBody,
    output: refTo("ObjectHead"),
    isReading: false,
    effect: "changes",
    errors: [
      ...ofSession,
      "upload_parts_invalid",
      "upload_too_large",
      "upload_type_unsupported",
      "core.conflict",
    ],
  },
  abort_upload: {
    rest: post("/files/uploads/abort"),
    status: 204,
    body: sessionBody,
    output: null,
    isReading: false,
    effect: "repeats",
    errors: [...direct, "upload_session_invalid"],
  },
};

/** What each does, `*` being what the storage is called. */
export const summaries: Readonly<Record<StorageVerb, string>> = {
  upload: "Upload into *",
  list: "List the objects of *",
  download: "Download from *",
  head: "Look at an object of * without its bytes",
  download_stream: "Download a whole object of *",
  download_range: "Download a range of an object of *",
  delete: "Delete an object of *",
  metadata: "Read what is known of an object of *",
  update_metadata: "Change what is known of an object of *",
  copy: "Copy an object of *",
  move: "Move an object of *",
  presign_download: "Sign an address to download from *",
  presign_upload: "Sign an address to upload into *",
  presign_post: "Sign a form to upload into *",
  begin_upload: "Begin an upload into * in parts",
  presign_part: "Sign an address for a part of an upload into *",
  list_parts: "List the parts of an upload into *",
  complete_upload: "Complete an upload into * in parts",
  abort_upload: "Give up an upload into * in parts",
};
