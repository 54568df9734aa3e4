// Declarations as they stand in a registry whose shape has been checked. Field types stay raw: types.ts reads them. Families
// whose declarations follow from their formats add them in their own format.ts.
import type { ContactModel, LicenseModel } from "../model/registry.js";
import type { HookPhaseName, RouteStyle } from "../model/vocabulary.js";
import type { hooksByPhase, mountMembers } from "./format-parts.js";
import type { Declared } from "./shape.js";

export type HooksByPhase = Declared<typeof hooksByPhase>;

export interface ServiceDeclaration {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly contact?: ContactModel;
  readonly license?: LicenseModel;
  readonly style?: RouteStyle;
  readonly transaction?: string;
  readonly deadline?: string;
  readonly probes?: { readonly livez?: string; readonly readyz?: string };
  readonly errors?: { readonly envelope: string; readonly out: unknown };
  readonly app?: string;
}

export interface HookDeclaration {
  readonly run: string;
  readonly phase: HookPhaseName;
  readonly requires?: readonly string[];
  readonly provides?: readonly string[];
  readonly errors?: readonly string[];
}

export type MountDeclaration = Declared<{ kind: "object"; members: typeof mountMembers }>;

export interface TopLevelMountDeclaration extends MountDeclaration {
  readonly namespace?: string;
  readonly prefix?: string;
}

/** A step of a policy: a hook's name, or exactly one of the members. */
export type PolicyStep =
  | string
  | { readonly authorize?: string; readonly scope?: string; readonly rate_limit?: string };

/** The declarations of a registry. Entries with a faulty shape are left out; their faults have been reported. */
export interface Declarations {
  readonly service: ServiceDeclaration | undefined;
  /** Row filters by name, as file#export. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly policies: Readonly<Record<string, readonly PolicyStep[]>>;
  readonly hooks: Readonly<Record<string, HookDeclaration>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly mounts: Readonly<Record<string, TopLevelMountDeclaration>>;
  /** Reasons by the texts of changes, with the places that they were given for. */
  readonly approved: Readonly<
    Record<string, string | { readonly reason: string; readonly in: readonly string[] }>
  >;
}
