// A service definition: what generated code hands to the server, as one value.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { NextHandler } from "../http/front-handler.js";
import type { FamilyParts } from "../families.js";
import type { PrintError } from "../operations/error-envelope.js";
import type { PhaseHook } from "../operations/hooks.js";
import type { KeptForms } from "../operations/kept-values.js";
import type { AnyRoute } from "../operations/operation.js";
import type { CountedObjectives } from "./objectives.js";

/**
 * Any `(req, res, next)` handler, such as an Express app. It gets the requests that no route
 * matches.
 */
export type AppHandler = (req: IncomingMessage, res: ServerResponse, next: NextHandler) => unknown;

/** The paths at which the service says whether it is alive, and whether it accepts requests. */
export interface ProbePaths {
  readonly livez: string;
  readonly readyz: string;
}

/** A service: its operations, and a member for each family that it uses. */
export interface ServiceDefinition extends FamilyParts {
  readonly name: string;
  /**
   * What it was called first, if otherwise: what processes share, and what they have given out,
   * keeps that name.
   */
  readonly was?: string;
  readonly title: string;
  readonly version: string;
  readonly routes: readonly AnyRoute[];
  /** The deadline of operations that declare none; 30 s if left out. */
  readonly deadlineSeconds?: number;
  /** Where probes are; `/livez` and `/readyz` if left out. */
  readonly probes?: ProbePaths;
  /** What is counted for the objectives of the service; nothing if left out. */
  readonly slo?: CountedObjectives;
  /** The bodies of errors; opwright's envelope if left out. */
  readonly errorEnvelope?: PrintError;
  /** How values are kept that another version may read; as they are if left out. */
  readonly kept?: KeptForms;
  /**
   * Makes the hook that asks for a permission, for what the service does besides its operations;
   * absent if it has nobody to ask.
   */
  readonly authorize?: (action: string) => PhaseHook<"before", unknown, never>;
  /** The author's own app, which comes after the generated routes. */
  readonly app?: AppHandler;
}

/** The first name of a service: what processes share has it. */
export function firstNameOf({ name, was }: Pick<ServiceDefinition, "name" | "was">): string {
  return was ?? name;
}

/** Declares a service. */
export function defineService(definition: ServiceDefinition): ServiceDefinition {
  return definition;
}
