// Direct transfers with a folder: signed requests that the service itself answers, since a folder
// has no URLs.
import type { Addresses } from "../../ports/direct-addresses.js";
import type { DirectTransfers } from "../../ports/direct-transfers.js";
import { folderUploads } from "./uploads.js";

interface FolderOptions {
  /** The folder of unfinished uploads. */
  readonly unfinished: string;
  readonly addresses: Addresses;
  /** Moves a file to the place of the object with this key. */
  moveTo(path: string, key: string): Promise<void>;
}

/** Signed requests and uploads in parts on a folder. */
export function folderTransfers({ unfinished, addresses, moveTo }: FolderOptions): DirectTransfers {
  return {
    ...folderUploads(unfinished, moveTo),

    signDownload: async ({ key }, seconds) => ({
      url: addresses.sign({ kind: "download", key }, seconds),
      method: "GET",
      headers: {},
    }),

    signUpload: async (key, limits, seconds) => ({
      url: addresses.sign({ kind: "upload", key, ...limits }, seconds),
      method: "PUT",
      headers: limits.contentType === null ? {} : { "content-type": limits.contentType },
    }),

    signForm: async (key, limits, seconds) => ({
      url: addresses.sign({ kind: "form", key, ...limits }, seconds),
      fields: {},
    }),

    signPart: async (key, uploadId, part, seconds) => ({
      url: addresses.sign({ kind: "part", key, uploadId, ...part }, seconds),
      method: "PUT",
      headers: {},
    }),
  };
}
