// `storage:`: what a storage of files says.
import {
  byteSize,
  duration,
  extensions,
  formerlyCalled,
  guard,
  hooksByPhase,
  listOf,
  mapOf,
  mount,
  optional,
  text,
  requiredGuard,
} from "../../load/format-parts.js";
import { guardWords, mountWords, saidBy, wordsFor } from "../../load/other-words.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";
import { countRule } from "../../kernel/list-count.js";
import { contentTypeAdvice } from "../../load/text-advice.js";

/** `image/png`, or `image/*`. */
const contentType = /^[a-z]+\/(?:\*|[a-z0-9][a-z0-9.+-]*)$/;

/** What a storage says of its own. */
export const storageMembers = {
  was: optional(
    formerlyCalled,
    "What the storage was called when its first files were stored; they stay where they are.",
  ),
  max_upload: optional(
    { kind: "either", of: [{ kind: "constant", value: false }, byteSize] },
    "Bytes of an upload, 64MiB where left out; false is without bound.",
  ),
  max_range: optional(byteSize, "Bytes of one range of a download, 16MiB where left out."),
  accept: optional(
    listOf(
      {
        kind: "string",
        pattern: contentType,
        what: "a content type such as image/*",
        example: "image/*",
        advice: contentTypeAdvice,
      },
      1,
    ),
    "Content types that are taken; all where left out.",
  ),
  detect: optional(
    { kind: "oneOf", values: ["bytes", "name"] },
    "What accept goes by: bytes, where left out, refuses files whose bytes are of no accepted type; name believes the name of those whose bytes no format is known of.",
  ),
  presign: optional({ kind: "boolean" }, "Whether clients get signed addresses of single objects."),
  multipart: optional({ kind: "boolean" }, "Whether clients upload in parts, to signed addresses."),
  scan: optional(
    text,
    "The job that decides on uploads, which nobody sees until then. It takes the `upload`.",
    "files.scan",
  ),
  encryption: optional(
    { kind: "oneOf", values: ["client"] },
    "client has the service encrypt what it stores.",
  ),
  also_reads: optional(
    listOf({ kind: "oneOf", values: ["none", "client"] }, 1),
    "How else files may be stored that are read: as the version before, or the next one, stores them.",
  ),
  count: optional(
    countRule,
    "How far lists count the objects; all where left out. Counting is most of what they cost.",
    { up_to: 1_000 },
  ),
  stream: optional({ kind: "boolean" }, "false reads each download into memory first."),
  description: optional(text, "What is stored.", "Files of tasks."),
} satisfies Readonly<Record<string, Member>>;

const storage = {
  kind: "object",
  ...extensions,
  otherWords: {
    ...guardWords,
    ...mountWords,
    ...wordsFor("max_upload", "maxSize size limit maxFileSize fileSizeLimit"),
    ...wordsFor("scan", "virus antivirus quarantine"),
    ...wordsFor("accept", "types mime mimeTypes contentTypes allowed"),
    ...saidBy(
      "Where files are stored is a setting of the deployment: `OBJECTS_URL`.",
      "bucket folder directory",
    ),
  },
  members: {
    ...storageMembers,
    guard: requiredGuard(guard, "The policy of all operations, or of read, write and single ones."),
    hooks: optional(
      mapOf(hooksByPhase, undefined, undefined, "upload"),
      "Hooks of single operations.",
    ),
    deadline: optional(duration, "The time budget of each operation."),
    sensitive: optional({ kind: "boolean" }, "true keeps the files off every mount."),
    mount: optional(mount, "Where the routes are; /<name> where left out."),
  },
} as const satisfies FormatShape;

export type StorageDeclaration = Declared<typeof storage> & {
  /**
   * What `{resource}` is in guards, where it is not the storage: never written, made by a
   * composite.
   */
  readonly resource?: string;
  /** What it was called if there was one: as `resource`. */
  readonly former?: string;
};

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly storage: Readonly<Record<string, StorageDeclaration>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  storage: {
    ...optional(
      mapOf(storage, undefined, undefined, "files"),
      "Storages of files by name; the name is the namespace of their operations.",
    ),
    alsoCalled: ["files", "buckets", "uploads"],
  },
};
