// Rules over the whole registry: what they work with, and what families give to those that are the
// same for all.
import type { DiagnosticCode } from "../diagnostics/catalogue.js";
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import type { LoadedRegistry } from "../load/load.js";
import type { TypeReader } from "../load/types.js";
import type { RegistryModel } from "../model/registry.js";
import type { FunctionReference } from "../model/code.js";
import type { JsonSchema } from "../model/json-schema.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

/** The model with the places that findings about it refer to. */
export interface ExpandedRegistry {
  readonly model: RegistryModel;
  readonly types: TypeReader;
  /** The place of each operation's declaration. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The mount that attaches an operation, if the registry declares one. */
  readonly mounts: ReadonlyMap<string, Origin>;
}

export interface RuleContext {
  readonly loaded: LoadedRegistry;
  readonly expanded: ExpandedRegistry;
  /** The database after the last migration. */
  readonly database: DatabaseSchema;
  /** The database that the registry needs. */
  readonly wanted: DatabaseSchema;
  readonly report: Report;
}

export type RegistryRule = (context: RuleContext) => void;

/** A default value, or another value for a member, and the schema that it has to fit. */
export interface DeclaredDefault {
  /** The finding where it doesn't fit, if it isn't that of defaults. */
  readonly code?: DiagnosticCode;
  /** What it is, if it is no default. */
  readonly what?: string;
  readonly member: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly at: Origin;
}

/** One mention of a function in the registry. */
export interface Mention {
  readonly reference: FunctionReference;
  readonly at: Origin;
  /** A `value` may be anything: the compiler checks it. */
  readonly what: "handler" | "hook" | "job" | "value";
  /** The phase of a hook. */
  readonly phase?: string;
  /** The operation that names a hook itself, by its key. */
  readonly hookOf?: string;
  /** The type that a handler's annotation must name, where it names one that ends in Handler. */
  readonly handlerType?: string;
  /** The module of the generated folder that has this type, where it isn't that of an operation. */
  readonly typeModule?: string;
}
