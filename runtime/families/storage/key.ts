// Keys of objects as clients know them, and as engines have them (decisions.md "Object storage").
import { fail } from "../../contract/errors.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";

/** Bytes of a key at most, in UTF-8. */
export const maxKeyBytes = 1024;

/**
 * What keeps a text from being a key, or null: up to 1 024 bytes of UTF-8, in segments of which
 * none is empty, `.` or `..`; no control characters, no backslash.
 */
export function keyFault(key: string): string | null {
  if (!key.isWellFormed()) return "must be well-formed Unicode";
  if (Buffer.byteLength(key) > maxKeyBytes) return `must have at most ${maxKeyBytes} bytes`;
  if (/[\p{Cc}\\]/u.test(key)) return "must have no control characters and no backslash";
  if (key.split("/").some((segment) => segment === "" || segment === "." || segment === ".."))
    return "must be segments, none of them empty, . or ..";
  return null;
}

/** Checks a key that a client names. Throws `core.validation` at `path`. */
export function checkKey(key: string, path: string): string {
  const message = keyFault(key);
  if (message === null) return key;
  throw fail("core.validation", { errors: [{ path, keyword: "pattern", message }] });
}

/** The engine's key of a client's key. Throws `core.validation` at `/key`. */
export function physicalKey(spec: StorageSpec, tenant: string, key: string): string {
  return prefixOf(spec, tenant) + checkKey(key, "/key");
}

/** Stands for a tenant in keys of uploads that aren't objects yet. */
const nobodys = "~uploads";

/** Where uploads begin that are not in their place yet. */
export function stagedPrefix(spec: StorageSpec): string {
  return `${placeOf(spec)}/${nobodys}/`;
}

/** The prefix of a tenant's objects in a storage: no key of another tenant or storage has it. */
export function prefixOf(spec: StorageSpec, tenant: string): string {
  // Resolvers may name any tenant.
  if (tenant === nobodys || tenant.startsWith(`${nobodys}/`)) throw fail("tenant_mismatch");
  return `${placeOf(spec)}/${tenant}/`;
}
