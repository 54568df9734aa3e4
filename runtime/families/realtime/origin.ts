// The origin gate of realtime connections: a page of another site opens none with this caller's
// cookies (RFC 6455 §10.2).
import { fail } from "../../contract/errors.js";

/**
 * Throws `realtime_origin_forbidden` unless the origin is this service's, an allowed one, or none:
 * no browser sends none.
 */
export function checkRealtimeOrigin(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): void {
  if (origin === undefined || allowed.includes(origin)) return;
  if (URL.canParse(origin) && host !== undefined && new URL(origin).host === host) return;
  throw fail("realtime_origin_forbidden");
}
