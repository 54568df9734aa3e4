// The URL by which clients reach the service: what the setting says, or outside production where
// the service listens.
import { fail } from "../contract/errors.js";
import type { Settings } from "./settings.js";

export interface PublicUrl {
  /** The URL, without a slash at its end. Throws `core.configuration` if it isn't known. */
  read(): string;
  /** Says where the service listens. In production only the setting counts. */
  listensAt(url: string): void;
  /**
   * The other names of that address which a developer may open its pages by, such as
   * `http://localhost:4400`, once it listens; null if a setting says what the service is called,
   * and in production.
   */
  readonly siblings: readonly string[] | null;
}

/**
 * Names of one machine for itself. Whatever answers one of them at our port is this service, or the
 * developer's own.
 */
const loopback = ["localhost", "127.0.0.1", "[::1]"];
/** What listens at all addresses of a machine, which is none to call it by. */
const wildcards = ["0.0.0.0", "[::]"];

/** The public URL of a service that listens, or soon will. */
export function publicUrlOf({
  publicUrl,
  isProduction,
}: Pick<Settings, "publicUrl" | "isProduction">): PublicUrl {
  let known = publicUrl;
  const siblings: string[] = [];
  return {
    siblings: publicUrl !== undefined || isProduction ? null : siblings,
    read() {
      if (known !== undefined) return known;
      throw fail("core.configuration", {}, { cause: new Error("PUBLIC_URL is not set") });
    },
    listensAt(url) {
      if (isProduction || known !== undefined) return;
      const { protocol, hostname, port } = new URL(url);
      const host = wildcards.includes(hostname) ? "127.0.0.1" : hostname;
      known = `${protocol}//${host}:${port}`;
      if (loopback.includes(host))
        siblings.push(...loopback.map((name) => `${protocol}//${name}:${port}`));
    },
  };
}
