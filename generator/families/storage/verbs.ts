// What a storage can be asked for, by its operations' names.

/** Bytes through the service, and what is known of objects. */
const ownVerbs = [
  "upload",
  "list",
  "download",
  "head",
  "download_stream",
  "download_range",
  "delete",
  "metadata",
  "update_metadata",
  "copy",
  "move",
] as const;

/** Addresses under which clients reach the store themselves (`presign: true`). */
export const presignVerbs = ["presign_download", "presign_upload", "presign_post"] as const;

/** Uploads in parts (`multipart: true`). */
export const multipartVerbs = [
  "begin_upload",
  "presign_part",
  "list_parts",
  "complete_upload",
  "abort_upload",
] as const;

export const storageVerbs = [...ownVerbs, ...presignVerbs, ...multipartVerbs] as const;

export type StorageVerb = (typeof storageVerbs)[number];

/** Whether its bytes, if any, do not pass through the service. */
export function isDirect(verb: StorageVerb): boolean {
  return !(ownVerbs as readonly StorageVerb[]).includes(verb);
}
