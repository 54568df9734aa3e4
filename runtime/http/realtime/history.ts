// Reads the caller's mailbox, without a realtime connection: `GET <path>/history?after=&limit=`
// (decisions.md §2).
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail } from "../../contract/errors.js";
import { maxHistoryPage, planePaths } from "../../contract/realtime.js";
import {
  expectParameters,
  knownPosition,
  readDevice,
  readFrom,
} from "../../families/realtime/handshake.js";
import { noEvent, printEventId } from "../../ports/event-id.js";
import { mailboxOf, type MailboxOwner, type MailboxStore } from "../../ports/mailbox.js";
import { entriesTold, type TellEntry } from "../../families/realtime/told-entries.js";
import { boundCaller, realtimeRoute, type RealtimeEndpoint } from "./endpoint.js";
import { commonHeaders, sendJson } from "../reply.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Answers `<path>/history`; returns whether it did. Reading is no acknowledgement. */
export function historyEndpoint(
  options: RealtimeEndpoint,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  return realtimeRoute(options, options.spec.path + planePaths.history, "GET", (...request) =>
    history(options, ...request),
  );
}

async function history(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  expectParameters(query, ["after", "limit", "device_id", "from"]);
  const limit = readLimit(query.get("limit"));
  const { identity, context } = await boundCaller(options, req);
  const owner = mailboxOf(context, identity);
  const begin = {
    after: query.get("after"),
    device: readDevice(query.get("device_id")),
    fromNow: readFrom(query.get("from")),
  };
  const mailbox = context.transaction.of(mailboxStore);
  const page = await pageOf(
    mailbox,
    entriesTold(options.spec, options.resources),
    owner,
    begin,
    limit,
  );
  const headers = [...commonHeaders(context.metadata), "Cache-Control", "no-store"];
  sendJson(req, res, 200, headers, page);
}

/** Where a page begins: behind an id, or else where a connection of the device would. */
interface PageBegin {
  readonly after: string | undefined;
  readonly device: string | null;
  readonly fromNow: boolean;
}

/**
 * `{signals, gap, has_more, after}` as JSON. Throws `core.validation` for an id that isn't from
 * this mailbox.
 */
async function pageOf(
  mailbox: MailboxStore,
  tell: TellEntry,
  owner: MailboxOwner,
  { after, device, fromNow }: PageBegin,
  limit: number,
): Promise<string> {
  const { floor, head, cursor } = await mailbox.state(owner, device);
  const begun = fromNow ? head : floor;
  let position = device === null ? begun : (cursor ?? begun);
  if (after !== undefined) {
    const named = await knownPosition(mailbox, owner, floor, after);
    if (named === null) throw invalid("/after", "pattern", "must be the id of a signal of yours");
    position = named;
  }
  const entries = await mailbox.read(owner, position, limit);
  const [first, last] = [entries[0], entries.at(-1)];
  const to = first === undefined ? floor : first.position - 1;
  const gap = position < to ? { from: position + 1, to } : null;
  const signals = entries.flatMap((entry) => {
    const signal = tell(entry);
    return typeof signal === "string" ? [] : signal.json;
  });
  const members = {
    gap,
    has_more: last !== undefined && last.position < head,
    after: after ?? (await idAt(mailbox, owner, position)),
  };
  return `{"signals":[${signals.join(",")}],${JSON.stringify(members).slice(1)}`;
}

/** The id of a place, with which a reader or a connection continues behind it. */
async function idAt(mailbox: MailboxStore, owner: MailboxOwner, position: number): Promise<string> {
  const [at] = position === 0 ? [] : await mailbox.read(owner, position - 1, 1);
  const eventId = at?.position === position ? at.eventId : noEvent;
  return printEventId({ eventId, position });
}

function readLimit(given: string | undefined): number {
  if (given === undefined) return maxHistoryPage;
  const limit = /^[1-9]\d{0,2}$/.test(given) ? Number(given) : Infinity;
  if (limit <= maxHistoryPage) return limit;
  throw invalid("/limit", "maximum", `must be an integer from 1 to ${maxHistoryPage}`);
}

function invalid(path: string, keyword: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword, message }] });
}
