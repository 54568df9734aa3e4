// A service definition: what generated code hands to the server, as one value.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NextHandler } from "../http/front-handler.js";
import type { FamilyParts } from "./families.js";
import type { PrintError } from "../operations/error-envelope.js";
import type { AnyRoute } from "../operations/operation.js";

/** Any `(req, res, next)` handler, an Express app among them. Gets the requests that no route matches. */
export type AppHandler = (req: IncomingMessage, res: ServerResponse, next: NextHandler) => unknown;

/** Where the service says whether it lives, and whether it takes requests. */
export interface ProbePaths {
  readonly livez: string;
  readonly readyz: string;
}

/** A service: its operations, and by member what it says to families. */
export interface ServiceDefinition extends FamilyParts {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly routes: readonly AnyRoute[];
  /** The deadline of operations that declare none; 30 s where it is left out. */
  readonly deadlineSeconds?: number;
  /** Where probes are; `/livez` and `/readyz` where it is left out. */
  readonly probes?: ProbePaths;
  /** The bodies of errors; opwright's envelope where it is left out. */
  readonly errorEnvelope?: PrintError;
  /** The author's own app, behind the generated routes. */
  readonly app?: AppHandler;
}

/** Declares a service. */
export function defineService(definition: ServiceDefinition): ServiceDefinition {
  return definition;
}
