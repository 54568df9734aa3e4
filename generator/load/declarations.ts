// Declarations as they stand in a registry whose shape has been checked; they follow from the
// formats. Field types stay raw: types.ts reads them. Families add their declarations in their own
// format.ts.
import type { approval, hook, policyStep, service, topLevelMount } from "./core-format.js";
import type { hooksByPhase, mountMembers } from "./format-parts.js";
import type { Declared } from "./shape.js";

export type HooksByPhase = Declared<typeof hooksByPhase>;
export type MountDeclaration = Declared<{ kind: "object"; members: typeof mountMembers }>;
/** A step of a policy: a hook's name, or exactly one of the members. */
export type PolicyStep = Declared<typeof policyStep>;

/**
 * The declarations of a registry. Entries with a faulty shape are left out; their faults have been
 * reported.
 */
export interface Declarations {
  readonly service: Declared<typeof service> | undefined;
  /** Row filters by name, as file#export. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly policies: Readonly<Record<string, readonly PolicyStep[]>>;
  readonly hooks: Readonly<Record<string, Declared<typeof hook>>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly mounts: Readonly<Record<string, Declared<typeof topLevelMount>>>;
  /** Reasons by the texts of changes, with the places that they were given for. */
  readonly approved: Readonly<Record<string, Declared<typeof approval>>>;
}
