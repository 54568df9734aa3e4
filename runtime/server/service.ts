// A service definition: what generated code hands to the server, as one value.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { IdentitySpec } from "../families/identity/spec.js";
import type { NextHandler } from "../http/front-handler.js";
import type { SearchSpec } from "../ports/search-spec.js";
import type { OutboxSpec } from "../families/outbox/spec.js";
import type { RealtimeSpec } from "../families/realtime/spec.js";
import type { StorageSpec } from "../ports/storage-spec.js";
import type { AnyRoute } from "../operations/operation.js";

/** Any `(req, res, next)` handler, an Express app among them. Gets the requests that no route matches. */
export type AppHandler = (req: IncomingMessage, res: ServerResponse, next: NextHandler) => unknown;

export interface ServiceDefinition {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly routes: readonly AnyRoute[];
  /** The deadline of operations that declare none; 30 s where it is left out. */
  readonly deadlineSeconds?: number;
  /** How callers are identified; without it every request is anonymous. */
  readonly identity?: IdentitySpec;
  readonly searches?: readonly SearchSpec[];
  readonly realtime?: RealtimeSpec;
  readonly storages?: readonly StorageSpec[];
  /** Where integration events go. */
  readonly outbox?: OutboxSpec;
  /** The author's own app, behind the generated routes. */
  readonly app?: AppHandler;
}

/** Declares a service. */
export function defineService(definition: ServiceDefinition): ServiceDefinition {
  return definition;
}
