// Names all who hear a topic, page by page: `GET <path>/presence?topic=&after=&limit=`
// (decisions.md §2 "Presence").
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail } from "../../contract/errors.js";
import { maxPresencePage, planePaths } from "../../contract/realtime.js";
import { expectParameters, checkTopics, isTopicName } from "../../families/realtime/handshake.js";
import { mailboxOf } from "../../ports/mailbox.js";
import { boundCaller, realtimeRoute, type RealtimeEndpoint } from "./endpoint.js";
import { commonHeaders, sendJson } from "../reply.js";

const parameters: readonly string[] = ["topic", "after", "limit"];

/** Answers `<path>/presence` for those who may hear the topic; returns whether it did. */
export function presenceEndpoint(
  options: RealtimeEndpoint,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  if (!options.spec.presence) return () => false;
  return realtimeRoute(
    options,
    options.spec.path + planePaths.presence,
    "GET",
    async (req, res, query) => {
      expectParameters(query, parameters);
      const topic = query.get("topic") ?? "";
      if (!isTopicName(topic)) throw invalid("/topic", "pattern", "must be a name");
      const limit = readLimit(query.get("limit"));
      const { identity, context } = await boundCaller(options, req);
      await checkTopics(options.spec, [topic], context);
      const { tenant } = mailboxOf(context, identity);
      const page = options.plane.present(tenant, topic, query.get("after") ?? "", limit);
      const { principals, count, hasMore } = page;
      const headers = [...commonHeaders(context.metadata), "Cache-Control", "no-store"];
      const text = JSON.stringify({ topic, principals, count, has_more: hasMore });
      sendJson(req, res, 200, headers, text);
    },
  );
}

function readLimit(given: string | undefined): number {
  if (given === undefined) return maxPresencePage;
  const limit = /^[1-9]\d{0,3}$/.test(given) ? Number(given) : Infinity;
  if (limit <= maxPresencePage) return limit;
  throw invalid("/limit", "maximum", `must be an integer from 1 to ${maxPresencePage}`);
}

function invalid(path: string, keyword: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword, message }] });
}
