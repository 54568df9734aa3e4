// Tells the caller's devices, and how far each is: `GET <path>/devices` (decisions.md §2).
import type { IncomingMessage, ServerResponse } from "node:http";
import { planePaths } from "../../contract/realtime.js";
import { expectParameters } from "../../families/realtime/handshake.js";
import { mailboxOf, mailboxStore } from "../../ports/mailbox.js";
import { commonHeaders, sendJson } from "../reply.js";
import { boundCaller, realtimeRoute, type RealtimeEndpoint } from "./endpoint.js";

/** Answers `<path>/devices`; returns whether it did. */
export function devicesEndpoint(
  options: RealtimeEndpoint,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  return realtimeRoute(
    options,
    options.spec.path + planePaths.devices,
    "GET",
    async (req, res, query) => {
      expectParameters(query, []);
      const { identity, context } = await boundCaller(options, req);
      const owner = mailboxOf(context, identity);
      const mailbox = context.transaction.of(mailboxStore);
      // In this order, so that nobody has acknowledged what comes after the head.
      const known = await mailbox.devices(owner);
      const { head, floor } = await mailbox.state(owner, null);
      const devices = known.map((one) => ({
        device_id: one.device,
        // What retention has removed is no longer to be acknowledged.
        unacknowledged: head - Math.max(one.position, floor),
        acknowledged_at: new Date(one.acknowledgedAt).toISOString(),
      }));
      const headers = [...commonHeaders(context.metadata), "Cache-Control", "no-store"];
      sendJson(req, res, 200, headers, JSON.stringify({ devices }));
    },
  );
}
