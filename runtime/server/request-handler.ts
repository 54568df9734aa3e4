// The handler of requests: operations first, then the author's app, then the pages.
import type { IncomingMessage, ServerResponse } from "node:http";
import { corsHandler } from "../http/cors.js";
import { frontHandler, type FrontHandlerOptions } from "../http/front-handler.js";
import { routeTable, type RouteTable } from "../http/route-table.js";
import type { ServiceEndpoint } from "../http/service-endpoint.js";
import { pathOf } from "../http/target.js";
import { appFallback, type Answers } from "./app-fallback.js";
import { defaultTenant } from "../contract/default-tenant.js";
import type { ConnectOptions, ServiceConnection } from "./connect.js";
import type { ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";

/** How requests for operations are answered, whichever these are. */
export function frontOf(
  { trustsProxy, maxBodyBytes }: Settings,
  resources: ServiceConnection,
  bind: FrontHandlerOptions["bind"],
): Omit<FrontHandlerOptions, "table"> {
  return { resources, trustsProxy, bind, maxBodyBytes, defaultTenant };
}

/** The handler of everything but probes: of operations, and of what comes before and after them. */
export async function handlerOf(
  service: ServiceDefinition,
  { settings, log }: ConnectOptions,
  connection: ServiceConnection,
  front: Omit<FrontHandlerOptions, "table">,
  endpoints: readonly ServiceEndpoint[],
  pages: Answers,
): Promise<(req: IncomingMessage, res: ServerResponse) => void> {
  const table = routeTable(service.routes);
  const router = frontHandler({ ...front, table });
  const said = new Set(service.routes.flatMap(({ reply }) => reply?.headers ?? []));
  const isKnown = ({ url = "" }: IncomingMessage): boolean => {
    const path = pathOf(url);
    return endpoints.some((one) => one.isOwn(path)) || isRouted(table, url);
  };
  const cors = await corsHandler([settings.corsOrigins, connection.siblings], isKnown, [...said]);
  const fallback = appFallback(service, log, pages);
  return (req, res) =>
    cors(req, res, () => {
      const path = pathOf(req.url ?? "");
      if (endpoints.some((one) => one.isOwn(path) && one.answer(req, res))) return;
      router(req, res, (error) => fallback(req, res, error));
    });
}

function isRouted(table: RouteTable, url: string): boolean {
  try {
    return table.knows(url);
  } catch {
    // The URL is malformed: the router will refuse it and say why.
    return true;
  }
}
