// The URL by which clients reach the service: what the setting says, or outside production where the service listens.
import { fail } from "../contract/errors.js";
import type { Settings } from "./settings.js";

export interface PublicUrl {
  /** The URL, without a slash at its end. Throws `core.configuration` if it isn't known. */
  read(): string;
  /** Says where the service listens. In production only the setting counts. */
  listensAt(url: string): void;
}

/** The public URL of a service that listens, or soon will. */
export function publicUrlOf({
  publicUrl,
  isProduction,
}: Pick<Settings, "publicUrl" | "isProduction">): PublicUrl {
  let known = publicUrl;
  return {
    read() {
      if (known !== undefined) return known;
      throw fail("core.configuration", {}, { cause: new Error("PUBLIC_URL is not set") });
    },
    listensAt(url) {
      if (!isProduction) known ??= url;
    },
  };
}
