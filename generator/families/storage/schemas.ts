// JSON Schemas of storage requests and answers (decisions.md "Object storage").
import { limits } from "../../../runtime/contract/limits.js";
import {
  contentTypePattern,
  filenamePattern,
  maxObjectsPage,
} from "../../../runtime/contract/object-texts.js";
import { listCount } from "../../kernel/list-count.js";
import {
  objectSchema,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";

const text: JsonSchema = { type: "string" };
/** What a segment of a key is made of: no control characters, no backslash. */
const characters = String.raw`/\\\u0000-\u001f\u007f-\u009f`;
/** A segment of a key, which is neither `.` nor `..`. */
const segment = String.raw`(?:\.?[^.${characters}][^${characters}]*|\.\.[^${characters}]+)`;
const segments = `${segment}(?:/${segment})*`;
const key: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 1_024,
  pattern: `^${segments}$`,
  description: "Segments of UTF-8 with / between them, 1 024 bytes in all.",
};
const dateTime: JsonSchema = { type: "string", format: "date-time" };
const bytes: JsonSchema = { type: "integer", minimum: 0 };

const minutes = String.raw`\d{1,7}M(?:\d{1,8}S)?`;
const time = String.raw`T(?:\d{1,6}H(?:${minutes})?(?:\d{1,8}S)?|${minutes}|\d{1,8}S)`;
/** A duration of ISO 8601 without years and months, which have no length. */
const duration = String.raw`^P(?:\d{1,5}W|\d{1,5}D(?:${time})?|${time})$`;

/** Seconds, or a duration of ISO 8601: 1 s to 7 days. */
const expiresIn: JsonSchema = {
  anyOf: [
    { type: "integer", minimum: 1, maximum: 604_800 },
    { type: "string", maxLength: 32, pattern: duration },
  ],
  description: "Seconds, or a duration such as PT15M: 1 s to 7 days.",
};

/** S3 keeps them in two kilobytes, with the rest of what is said of an object. */
const tags: JsonSchema = {
  type: "object",
  maxProperties: 10,
  propertyNames: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,32}$" },
  additionalProperties: {
    type: "string",
    maxLength: 64,
    pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`,
  },
  description: "Up to ten, 256 bytes together as JSON.",
};

const part: JsonSchema = { type: "integer", minimum: 1, maximum: 10_000 };
const session: JsonSchema = refTo("UploadSession");

/** Types that every storage shares. */
export const storageTypes: Readonly<Record<string, JsonSchema>> = {
  StoredObject: objectSchema(
    {
      key,
      filename: text,
      size: { ...bytes, description: "Bytes of the content." },
      content_type: text,
      etag: text,
      created_at: dateTime,
      description: text,
      tags: { type: "object", additionalProperties: text },
    },
    ["key", "filename", "size", "content_type", "etag", "created_at"],
  ),
  ObjectPage: objectSchema(
    {
      hits: { type: "array", items: refTo("StoredObject") },
      page: { type: "integer", minimum: 1 },
      size: { type: "integer", minimum: 1 },
      count: {
        type: ["integer", "null"],
        minimum: 0,
        description: "How many pass, as far as they are counted; null behind a cursor.",
      },
      next_cursor: { type: ["string", "null"] },
    },
    ["hits", "page", "size", "count", "next_cursor"],
  ),
  ObjectHead: objectSchema(
    {
      key,
      size: bytes,
      content_type: text,
      etag: text,
      last_modified: dateTime,
      metadata: { type: "object", additionalProperties: text },
    },
    ["key", "size", "content_type", "etag", "last_modified", "metadata"],
  ),
};

/** Types of direct transfers, which the storages share that offer them. */
export const directTypes: Readonly<Record<string, JsonSchema>> = {
  SignedRequest: objectSchema(
    {
      url: { ...text, description: "A credential: whoever has it may use it." },
      method: { type: "string", enum: ["GET", "PUT"] },
      headers: {
        type: "object",
        additionalProperties: text,
        description: "To be sent with it.",
      },
      expires_at: dateTime,
    },
    ["url", "method", "headers", "expires_at"],
  ),
  SignedForm: objectSchema(
    {
      url: text,
      method: { type: "string", enum: ["POST"] },
      fields: {
        type: "object",
        additionalProperties: text,
        description: "To be sent as fields of the form, before the file.",
      },
      expires_at: dateTime,
    },
    ["url", "method", "fields", "expires_at"],
  ),
  UploadSession: objectSchema(
    { key, upload_id: text, content_type: text, expires_at: dateTime, token: text },
    ["key", "upload_id", "expires_at", "token"],
  ),
  UploadPart: objectSchema({ part_number: part, etag: text, size: bytes }, [
    "part_number",
    "etag",
    "size",
  ]),
  UploadPartList: objectSchema({ parts: { type: "array", items: refTo("UploadPart") } }, ["parts"]),
};

export const listBody: SchemaObject = objectSchema(
  {
    page: { type: "integer", minimum: 1, maximum: limits.maxPage, default: 1 },
    size: {
      type: "integer",
      minimum: 1,
      maximum: maxObjectsPage,
      default: limits.defaultPageSize,
    },
    count: listCount,
    prefix: { type: "string", maxLength: 1_024, description: "What the keys begin with." },
    after: { type: "string", maxLength: 8_192, description: "A cursor of an earlier page." },
    content_type: {
      type: "string",
      maxLength: 255,
      pattern: "^[!#$%&'+.^_`|~0-9A-Za-z-]+/(?:\\*|[!#$%&'+.^_`|~0-9A-Za-z-]+)$",
      description: "Such as image/png, or image/*.",
    },
    tags: { ...tags, description: "All of them must be there." },
  },
  [],
);

export const metadataBody = objectSchema({ key }, ["key"]);

export const copyBody = objectSchema({ from: key, to: key }, ["from", "to"]);

export const presignDownloadBody = objectSchema({ key, expires_in: expiresIn }, [
  "key",
  "expires_in",
]);

const contentType: JsonSchema = {
  type: "string",
  maxLength: 255,
  pattern: contentTypePattern,
};

export const updateMetadataBody = objectSchema(
  {
    key,
    content_type: contentType,
    filename: {
      type: "string",
      minLength: 1,
      maxLength: 255,
      pattern: filenamePattern,
    },
    description: {
      type: ["string", "null"],
      maxLength: 1_000,
      description: "1 000 bytes at most; null takes it away.",
    },
    tags: { ...tags, description: "They take the place of all tags." },
  },
  ["key"],
);

export const presignUploadBody = objectSchema(
  { key, expires_in: expiresIn, content_type: contentType },
  ["key", "expires_in"],
);

export const presignPostBody = objectSchema(
  {
    key,
    expires_in: expiresIn,
    content_type: contentType,
    max_bytes: {
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Bytes of the file; never more than the storage takes.",
    },
  },
  ["key", "expires_in"],
);

export const beginUploadBody = objectSchema({ key, content_type: contentType }, ["key"]);

export const presignPartBody = objectSchema({ session, part_number: part, expires_in: expiresIn }, [
  "session",
  "part_number",
  "expires_in",
]);

export const sessionBody = objectSchema({ session }, ["session"]);

export const completeBody = objectSchema(
  {
    session,
    parts: {
      type: "array",
      minItems: 1,
      maxItems: 10_000,
      items: objectSchema({ part_number: part, etag: text, size: bytes }, ["part_number", "etag"]),
    },
  },
  ["session", "parts"],
);

/** The form of an upload, as OpenAPI has it. */
export const uploadForm = objectSchema(
  {
    prefix: {
      type: "string",
      maxLength: 987,
      pattern: `^(?:${segments})?$`,
      description: "What the key begins with, 987 bytes at most.",
    },
    description: { type: "string", maxLength: 1_000, description: "1 000 bytes at most." },
    tags: {
      type: "string",
      maxLength: 1_000,
      description: "Up to ten, as a query is written: project=apollo&stage=draft.",
    },
    file: { type: "string", format: "binary", description: "One file." },
  },
  ["file"],
);

/** The input of an operation on one object. */
export const keyInput = objectSchema({ key }, ["key"]);
export { key as keySchema };
