// Where clients find the service: what a setting says, or where it listens while nobody else would know.
import { fail } from "../contract/errors.js";
import type { Settings } from "./settings.js";

export interface PublicUrl {
  /** Without a slash at its end. Throws `core.configuration` where nothing says it. */
  read(): string;
  /** In production only the setting counts. */
  listensAt(url: string): void;
}

/** The address of a service that listens somewhere, or soon does. */
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
