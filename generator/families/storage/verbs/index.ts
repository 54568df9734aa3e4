// The verbs of storages, in the order of the catalogue. Everything that names verbs follows from
// this list.
import { download, downloadRange, downloadStream, head, upload } from "./bytes.js";
import { abortUpload, beginUpload, completeUpload, listParts, presignPart } from "./multipart.js";
import { copy, list, metadata, move, remove, updateMetadata } from "./objects.js";
import { presignDownload, presignPost, presignUpload } from "./presigned.js";
import type { StorageVerb } from "./verb.js";

const table = [
  upload,
  list,
  download,
  head,
  downloadStream,
  downloadRange,
  remove,
  metadata,
  updateMetadata,
  copy,
  move,
  presignDownload,
  presignUpload,
  presignPost,
  beginUpload,
  presignPart,
  listParts,
  completeUpload,
  abortUpload,
] as const;

/** The name of a verb. */
export type StorageVerbName = (typeof table)[number]["name"];

/** The verbs in the order of the catalogue. */
export const storageVerbs: readonly StorageVerb[] = table;

/** Verbs that a streamed download is made of; without one of them it is buffered. */
export const streamingVerbs: readonly StorageVerb[] = [head, downloadStream, downloadRange];
