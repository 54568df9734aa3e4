// The pages that a service serves beside its operations: its documentation, and the console.
import { frontHandler, type FrontHandlerOptions } from "../http/front-handler.js";
import { routeTable } from "../http/route-table.js";
import { familiesOf, pageFactsOf } from "../families.js";
import type { Answers } from "./app-fallback.js";
import type { ServiceConnection } from "./connect.js";
import { consoleRoutes } from "./console-routes.js";
import type { KeptLog } from "./kept-log.js";
import type { Metrics } from "./metrics.js";
import type { ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";

export interface PageParts {
  readonly folder: string;
  readonly connection: ServiceConnection;
  readonly metrics: Metrics | null;
  readonly lines: Pick<KeptLog, "linesAfter">;
  /** How requests of the console are answered. */
  readonly front: Omit<FrontHandlerOptions, "table">;
}

/** Whether the documentation is served. If the service has routes at /docs, its own are there. */
export function hasDocs(service: ServiceDefinition, settings: Settings): boolean {
  return settings.hasDocs && !hasRoutesAt(service, "docs");
}

/** Answers the requests for pages and for what they are made of. */
export async function pagesOf(
  service: ServiceDefinition,
  settings: Settings,
  parts: PageParts,
): Promise<Answers> {
  const answerConsole = consoleOf(service, settings, parts);
  const shows = { docs: hasDocs(service, settings), console: answerConsole !== null };
  if (!shows.docs && !shows.console) return () => false;
  const { docsEndpoint } = await import("../http/docs/docs-endpoint.js");
  const { title } = service;
  const facts = pageFactsOf(service);
  const answerDocs = await docsEndpoint({ title, folder: parts.folder, shows, ...facts });
  return (req, res) => answerDocs(req, res) || (answerConsole?.(req, res) ?? false);
}

/** Answers what the console asks for; null where there is no console. */
function consoleOf(
  service: ServiceDefinition,
  { consolePermission, isProduction }: Settings,
  { connection, metrics, lines, front }: PageParts,
): Answers | null {
  if (consolePermission === null || hasRoutesAt(service, "console")) return null;
  const operator = service.authorize?.(consolePermission);
  // In production it is for somebody who may, so there must be somebody who says so.
  if (operator === undefined && isProduction) return null;
  const table = routeTable(
    consoleRoutes({
      routes: service.routes,
      service: connection,
      operator: operator === undefined ? [] : [operator],
      isOpen: !isProduction,
      commands: familiesOf(service).flatMap(({ family, part }) => family.commands(part)),
      metrics,
      lines,
    }),
  );
  const handle = frontHandler({ ...front, table });
  return (req, res) => {
    let isAnswered = true;
    handle(req, res, () => {
      isAnswered = false;
    });
    return isAnswered;
  };
}

function hasRoutesAt({ routes }: ServiceDefinition, place: string): boolean {
  return routes.some(({ path }) => path === `/${place}` || path.startsWith(`/${place}/`));
}
