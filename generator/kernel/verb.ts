// A verb: everything that a family says of one of its operations, in one value (architecture.md "A
// verb is one value").
import type { Origin } from "../diagnostics/diagnostics.js";
import type { Code } from "../model/code.js";
import type { Noun } from "../model/nouns.js";
import type { InputModel, OutputModel } from "../model/registry.js";
import type { RouteMethod, UnmountedOperation } from "./family.js";
import { operation, type OperationFacts, type OperationPlace } from "./operation.js";

/** A method and a path below the mount. */
export type VerbRoute = readonly [RouteMethod, string];

/** `Place` is what the family makes the parts of its verbs from. */
export interface Verb<Place> {
  readonly name: string;
  /** Of a task, or of tasks. */
  readonly summary: (noun: Noun) => string;
  /** Null where the operation has no route of its own. */
  readonly rest: VerbRoute | null;
  /** Where it differs from `rest`. */
  readonly rpc?: VerbRoute;
  /** 200 where it is left out. */
  readonly status?: number;
  readonly input: (place: Place) => InputModel;
  readonly output: (place: Place) => OutputModel;
  readonly run: (place: Place) => Code;
  /** Errors of its own. */
  readonly errors: (place: Place) => readonly string[];
  /** Whether headers of a request may say which version it is about. */
  readonly isConditional?: boolean;
  /** Verbs that continue with its answer. */
  readonly leadsTo?: readonly string[];
}

/** Where an operation stands, and the noun of its summary. */
export interface VerbPlace extends Omit<OperationPlace, "name"> {
  /** The verb's own name where it is left out. */
  readonly name?: string;
  readonly at: Origin;
  readonly noun: Noun;
}

/** Facts that verbs do not say; `errors` come on top of the verb's. */
export type FurtherFacts = Omit<OperationFacts, "summary" | "input" | "output" | "run" | "leadsTo">;

/** Makes the operation of a verb, with its routes. */
export function operationOfVerb<Place>(
  verb: Verb<Place>,
  { at, noun, name = verb.name, ...place }: VerbPlace,
  parts: Place,
  further: FurtherFacts,
): UnmountedOperation {
  const { rest, rpc = rest } = verb;
  return {
    operation: operation(
      { ...place, name },
      {
        isConditional: verb.isConditional ?? false,
        ...further,
        summary: verb.summary(noun),
        input: verb.input(parts),
        output: verb.output(parts),
        run: verb.run(parts),
        leadsTo: verb.leadsTo ?? [],
        errors: [...verb.errors(parts), ...further.errors],
      },
    ),
    routes:
      rest === null || rpc === null
        ? null
        : {
            rest: { method: rest[0], path: rest[1] },
            rpc: { method: rpc[0], path: rpc[1] },
          },
    status: verb.status ?? 200,
    at,
  };
}
