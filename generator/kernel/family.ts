// A family is one value: a section of the registry, the operations that it becomes, and everything
// that is special about them. Phases iterate over the list of families and know none by its name
// (architecture.md "A family is one value").
import type { DatabaseSchema } from "../model/stored-tables.js";
import {
  deprecationModel,
  faultOfDays,
  type DeprecationDeclaration,
  type DeprecationModel,
} from "../model/deprecation.js";
import { limits } from "../../runtime/contract/limits.js";
import type { CatalogueEntry } from "../diagnostics/catalogue-entry.js";
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import type { Comparison } from "../compare/comparison.js";
import type { Need, RolloutSide } from "../compare/rollout.js";
import type { EmittedFile } from "../print/file.js";
import type { ModulePaths } from "../print/module-path.js";
import type { SystemTables } from "../print/system-steps.js";
import type { Declarations, MountDeclaration } from "../load/declarations.js";
import { durationSeconds } from "../load/quantities.js";
import type { Rewrite } from "../load/load.js";
import type { Member } from "../load/shape.js";
import type { SourceTree } from "../load/source-tree.js";
import type { TypeReader } from "../load/types.js";
import type { Code } from "../model/code.js";
import type { ModelParts } from "../model/model-parts.js";
import type { KeptValue } from "../model/kept-values.js";
import type { Stored } from "../model/stored-tables.js";
import type { ToldPlans, ValidatorPlan } from "../model/validator-plan.js";
import type { DocumentModel } from "../model/document-model.js";
import { nothingWatched, type MetricOf, type Watched } from "./monitoring.js";
import type { AskedPermissions } from "./permissions.js";
import type { DeclaredDefault, Mention, RegistryRule, RuleContext } from "./rule.js";
import type { FamilyModels, OperationModel, RegistryModel, RouteModel } from "../model/registry.js";

export interface Family<Model = unknown> {
  readonly name: string;
  /** Its sections of the registry. */
  readonly format: Readonly<Record<string, Member>>;
  /** The families that are expanded before it; it may read the models of these only. */
  readonly after: readonly Family[];
  /** Rewrites its declarations into those of other families, before anything is expanded. */
  readonly rewrite: Rewrite;
  readonly expand: (context: FamilyContext) => FamilyExpansion<Model>;
  /** Its parts of the model, as registry.json writes and reads them. */
  readonly models: ModelParts;
  /** Its entries of the catalogue, by code. */
  readonly diagnostics: Readonly<Record<string, CatalogueEntry>>;
  /** Rules over the whole registry that are about what it declares. */
  readonly rules: readonly RegistryRule[];
  /** Default values that it declares. */
  readonly defaults: (context: RuleContext) => readonly DeclaredDefault[];
  /** Functions that it names, besides those of members that are references in its format. */
  readonly functions: (model: RegistryModel, tree: SourceTree) => readonly Mention[];
  /**
   * Reports changes for clients beside those of its operations; null if it has nothing but
   * operations.
   */
  readonly compare:
    | ((before: RegistryModel, after: RegistryModel, comparison: Comparison) => void)
    | null;
  /** What rolling its changes out takes, of whatever it stores; null if it stores nothing. */
  readonly rollout: ((before: RolloutSide, after: RolloutSide) => readonly Need[]) | null;
  /**
   * Types that it derives from a document's type, with the field that each is about; null for all
   * fields.
   */
  readonly derived: (document: DocumentModel) => readonly (readonly [string, string | null])[];
  /** The modules that only it prints. */
  readonly emit: (
    model: RegistryModel,
    paths: ModulePaths,
    stored: Stored,
  ) => readonly EmittedFile[];
  /**
   * Validators beside those of operations, by the module that has them: a namespace, or one of its
   * own.
   */
  readonly validators: (model: RegistryModel) => Readonly<Record<string, readonly ValidatorPlan[]>>;
  /**
   * What authors' code tells others because of it, besides answers, by the module that checks it: a
   * name with a hyphen.
   */
  readonly told: (model: RegistryModel) => Readonly<Record<string, ToldPlans>>;
  /** What it keeps of values that another version may read. */
  readonly keeps: (model: RegistryModel) => readonly KeptValue[];
  /** The tables that it needs beside those of documents. */
  readonly tables: readonly OwnTables[];
  /** The names that it needs in SQL, besides those of tables that start with `opwright_`. */
  readonly claims: (model: RegistryModel, tree: SourceTree) => readonly SqlClaim[];
  /** Paths that the service answers itself because of it. */
  readonly paths: (model: RegistryModel) => readonly string[];
  /**
   * Operations that the service answers because of it, outside its table of routes; for the OpenAPI
   * document.
   */
  readonly answered: (model: RegistryModel) => readonly OperationModel[];
  /**
   * Its parts of the client, besides the functions of its operations. `modules` says which module
   * has a type.
   */
  readonly client: (model: RegistryModel, modules: ReadonlyMap<string, string>) => ClientParts;
  /** What tests of the service may look at because of it. */
  readonly observed: (model: RegistryModel) => readonly Observed[];
  /** Types that clients meet besides those of operations. */
  readonly met: (model: RegistryModel) => readonly string[];
  /** What those who run the service watch because of it. */
  readonly watched: (model: RegistryModel, metric: MetricOf) => Watched;
  /** Its parts of `defineService`, by member. */
  readonly service: (model: RegistryModel) => Readonly<Record<string, Code | readonly Code[]>>;
}

/** Tables of a family, which a service has from the first migration on that needs them. */
export interface OwnTables {
  readonly areNeeded: (model: RegistryModel) => boolean;
  readonly steps: SystemTables;
}

/** A name that something needs in SQL, where tables and indexes share one name space. */
export interface SqlClaim {
  readonly name: string;
  /** What needs it, in words: `the search places`. */
  readonly what: string;
  readonly at: Origin;
  readonly isTable: boolean;
}

/** What a family adds to the client. */
export interface ClientParts {
  /** Files of `client/` that are copied, without `.ts`: `realtime/inbox`. */
  readonly copied: readonly string[];
  /** Those of them that the client's index exports. */
  readonly exported: readonly string[];
  readonly printed: readonly EmittedFile[];
  /** Entries of its package: `realtime` is imported as `<package>/realtime`. */
  readonly entries: readonly string[];
  /** Packages that an application may have to install for it, with their versions. */
  readonly peers: Readonly<Record<string, string>>;
  /** An example for the README of the package, given the package's name; null for none. */
  readonly example: ((name: string) => string) | null;
}

/**
 * What tests of a service may look at because of a family: the member of `said`, its type, and
 * where the type comes from.
 */
export interface Observed {
  /** One of those that `runtime/testing/service.ts` knows as `Says`. */
  readonly member: "events" | "signals";
  readonly type: string;
  readonly names: readonly string[];
  readonly from: string;
}

/** What a family works with. */
export interface ExpansionContext {
  readonly declarations: Declarations;
  readonly tree: SourceTree;
  readonly types: TypeReader;
  readonly report: Report;
  /** The permissions that policies ask for, of whatever is guarded. */
  readonly asked: AskedPermissions;
  /** The database after the last migration, without what is purged from it. */
  readonly stored: DatabaseSchema;
}

/** What a family is expanded with. */
export interface FamilyContext extends ExpansionContext {
  /** The model of a family that was expanded before. */
  readonly of: <Model>(family: Family<Model>) => Model;
}

/** What the sections of one family become. */
export interface FamilyExpansion<Model> {
  /** What later families may read. */
  readonly model: Model;
  readonly namespaces: readonly NamespaceExpansion[];
  /** Operations with routes of their own, in namespaces that others may have as well. */
  readonly routed: readonly RoutedOperation[];
  /** Its part of the frozen registry, computed once all operations are known. */
  readonly frozen: (operations: ReadonlyMap<string, OperationModel>) => Partial<FamilyModels>;
  /** Codes that an operation of any family may answer with as well because this one is declared. */
  readonly furtherErrors: (operation: OperationModel) => readonly string[];
}

/** Operations under one name, which no other namespace has, and where they are mounted. */
export interface NamespaceExpansion {
  readonly name: string;
  /** What the name belongs to, in words: `a document`. */
  readonly what: string;
  /** Whether the name is opwright's own, which authors can't change. */
  readonly isBuiltIn: boolean;
  /** What its operations are about, for documents. */
  readonly description: string;
  readonly at: Origin;
  readonly operations: readonly UnmountedOperation[];
  readonly mount: {
    /** Where the registry declares it. */
    readonly path: readonly string[];
    readonly declared: false | MountDeclaration | undefined;
    readonly usual: string;
  };
  /** Whether it must not be mounted anywhere. */
  readonly isSensitive: boolean;
}

/** An operation before it is mounted, with its route in each style relative to the mount. */
export interface UnmountedOperation {
  readonly operation: OperationModel;
  /** Default routes by style; null if the operation cannot be attached. */
  readonly routes: Readonly<
    Record<"rest" | "rpc", { readonly method: RouteMethod; readonly path: string }>
  > | null;
  readonly status: number;
  readonly at: Origin;
}

export interface RoutedOperation {
  readonly operation: OperationModel;
  readonly route: RouteModel;
  readonly at: Origin;
}

export type RouteMethod = RouteModel["method"];

/** Makes parts of the client from those that a family has. */
export function clientParts(parts: Partial<ClientParts>): ClientParts {
  return {
    copied: [],
    exported: [],
    printed: [],
    entries: [],
    peers: {},
    example: null,
    ...parts,
  };
}

/** The defaults for members that a family leaves out. */
const silent = {
  after: [],
  rewrite: (tree) => tree,
  models: {},
  diagnostics: {},
  rules: [],
  defaults: () => [],
  functions: () => [],
  derived: () => [],
  emit: () => [],
  validators: () => ({}),
  told: () => ({}),
  keeps: () => [],
  tables: [],
  claims: () => [],
  paths: () => [],
  answered: () => [],
  client: () => clientParts({}),
  observed: () => [],
  met: () => [],
  watched: () => nothingWatched,
  service: () => ({}),
} satisfies Partial<Family>;

/** Makes a family from its members and the defaults. */
export function family<Model>(
  definition: Pick<Family<Model>, "name" | "format" | "expand" | "compare" | "rollout"> &
    Partial<Family<Model>>,
): Family<Model> {
  return { ...silent, ...definition };
}

/** Makes an expansion from its members and the defaults. */
export function expansion<Model>(
  model: Model,
  parts: Partial<Omit<FamilyExpansion<Model>, "model">> = {},
): FamilyExpansion<Model> {
  return {
    model,
    namespaces: [],
    routed: [],
    frozen: () => ({}),
    furtherErrors: () => [],
    ...parts,
  };
}

/** The deadline of an operation in seconds: its own, or the service's. */
export function deadlineOf({ declarations }: ExpansionContext, declared?: string): number {
  const text = declared ?? declarations.service?.deadline;
  return text === undefined ? limits.defaultDeadlineSeconds : durationSeconds(text);
}

/** The deprecation of a declaration at a path of the registry. Reports impossible days. */
export function deprecationOf(
  { report, tree }: ExpansionContext,
  declared: DeprecationDeclaration | undefined,
  path: readonly [string, ...string[]],
): DeprecationModel | null {
  if (declared === undefined) return null;
  const message = faultOfDays(declared);
  if (message !== undefined) report({ code: "OPW013", message, at: tree.at(...path) });
  return deprecationModel(declared);
}

/** The `x-*` keys of a declaration. */
export function extensionsOf(declaration: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(declaration).filter(([key]) => key.startsWith("x-")));
}
