// What a family brings to a running service beside its operations. `families.ts` has the
// list; nothing else knows one by name (architecture.md "A family is one value").
import type { TokenAlgorithm } from "../ports/tokens.js";
import type { Lifetime } from "../ports/lifetime.js";
import type { Database } from "../ports/database.js";
import type { Addresses } from "../ports/direct-addresses.js";
import type { ObjectsLocation, ObjectStore } from "../ports/objects.js";
import type { ResourceKey } from "../ports/resource-key.js";
import type { StoreKey } from "../ports/store-key.js";
import type { BegunTrace } from "../ports/tracer.js";
import type { ExecutionContext } from "./context.js";
import type { Erased, ErasedCounts } from "./erased.js";
import type { ExportedLine, ExportedPerson } from "./exported.js";
import type { Recorded } from "./recorded.js";
import type { Resources } from "./resources.js";
import type { Departed, StagedEvent } from "./invocation-facts.js";
import type { Environment } from "./environment.js";
import type { AnyDataSet } from "./data-set.js";
import type { DeclaredMetrics } from "./metric.js";
import type { OutsideJob, PeriodicJob } from "../work/periodic.js";

/** A service at work, as its families see it. */
export interface ServiceAtWork extends Resources {
  /** A context for the service's own work in the given tenant, without a caller. */
  context(
    operationId: string,
    tenant?: string,
    lifetime?: Lifetime,
    trace?: BegunTrace,
  ): ExecutionContext;
  /** Runs work as an operation of the service itself, in one write transaction. */
  write<T>(
    operationId: string,
    work: (context: ExecutionContext) => Promise<T>,
    tenant?: string,
  ): Promise<T>;
  /** Has `woken` called whenever something has been put into a store that waits for work. */
  whenWoken(key: StoreKey<unknown>, woken: () => void): void;
}

/** Opens engines for families; each is imported only when it is asked for. */
export interface EngineDoors {
  /**
   * Opens the engine of objects. `addresses` are for one that has none, null for no direct
   * transfers; `answersAddresses` says whether it answers its own.
   */
  objects(
    location: ObjectsLocation,
    addresses: Addresses | null,
  ): Promise<{ readonly store: ObjectStore; readonly answersAddresses: boolean }>;
}

/** A service that is being opened: what families before have opened is there already. */
export interface Opening extends Resources {
  /** The first name of the service: what processes share has it. */
  readonly name: string;
  readonly doors: EngineDoors;
}

/** The opened part of a family, and how it is closed. */
export interface OpenedResource {
  readonly key: ResourceKey<unknown>;
  readonly value: unknown;
  readonly close: () => Promise<void>;
}

export function openedAs<Resource>(
  key: ResourceKey<Resource>,
  value: Resource,
  close: () => Promise<void> = async () => undefined,
): OpenedResource {
  return { key, value, close };
}

/**
 * Checks something that may be unavailable: if it is, the probe rejects or doesn't answer in time.
 */
export type Probe = () => Promise<void>;

/** Probes of systems that requests need, and of those they can do without for a while. */
export interface Probes {
  readonly needed: Readonly<Record<string, Probe>>;
  readonly helpful: Readonly<Record<string, Probe>>;
}

/** How `migrate` does its work. */
export interface MigrateOptions {
  /**
   * Whether to wait until processes of older versions have ended; otherwise the service goes on
   * afterwards.
   */
  readonly waits: boolean;
  readonly signal: AbortSignal;
}

/** The source of a family's settings. Faults are collected and reported together. */
export interface SettingsSource {
  readonly environment: Environment;
  /** Entries of a list of secrets, the newest first. */
  readonly secrets: { read(name: string, algorithm?: TokenAlgorithm): readonly Buffer[] };
  readonly isProduction: boolean;
  /** Where embedded engines keep their files. */
  readonly dataFolder: string;
}

/** The background work of a family. */
export interface Started {
  /** Begins nothing more and waits for running work, up to so many milliseconds. */
  stop(patienceMillis: number): Promise<void>;
}

/** A command of `node server.js`. */
export interface ServiceCommand {
  readonly name: string;
  /** Its arguments, for people. */
  readonly usage?: string;
  /** Whether migrations may be applied before; if not, pending ones end the command. */
  readonly migrates?: (args: readonly string[]) => boolean;
  /** What it does, where it ends soon enough for the console to offer it. */
  readonly summary?: string;
  /**
   * The work that the arguments ask for, which returns a line to print. Null if the arguments are
   * wrong.
   */
  read(args: readonly string[]): ((service: ServiceAtWork) => Promise<string>) | null;
}

/** Something that the console asks the process; the answer is for operators alone. */
export interface ServiceQuestion {
  /** Its path below `/console`. */
  readonly name: string;
  readonly ask: () => object;
}

/** One family. `Part` is the family's part of the service definition, under `member`. */
export interface Family<Member extends string, Part, Settings> {
  readonly member: Member;
  /** Its variables, which are checked whether or not the service uses the family. */
  readonly settings: (part: Part | undefined, source: SettingsSource) => Settings;
  /** Resources by key; opened in the order of families, closed in the reverse one. */
  readonly open: (
    part: Part,
    service: Opening,
    settings: Settings,
  ) => Promise<readonly OpenedResource[]>;
  /** Tables that readiness asks for the role's rights to. */
  readonly tables: (part: Part) => readonly string[];
  readonly probes: (part: Part, service: ServiceAtWork) => Partial<Probes>;
  /** What `migrate` does after the migrations. */
  readonly migrated: (part: Part, database: Database, options: MigrateOptions) => Promise<void>;
  readonly jobs: (part: Part, service: ServiceAtWork) => readonly (PeriodicJob | OutsideJob)[];
  readonly commands: (part: Part) => readonly ServiceCommand[];
  /** Folders with files that belong to the database, by names for a backup. */
  readonly folders: (settings: Settings) => Readonly<Record<string, string>>;
  /** What the console asks, where there is an answer. */
  readonly questions: (part: Part, service: ServiceAtWork) => readonly ServiceQuestion[];
  readonly metrics: (part: Part, service: ServiceAtWork) => DeclaredMetrics;
  /** What else an integration event does, in the transaction that stages it. */
  readonly staged: (part: Part, context: ExecutionContext, event: StagedEvent) => Promise<void>;
  /**
   * What ends besides credentials and permissions, in the transaction in which somebody leaves a
   * tenant or is deactivated.
   */
  readonly departed: (part: Part, context: ExecutionContext, who: Departed) => Promise<void>;
  /** Keeps the changes of a transaction, at its end; null for families that keep none. */
  readonly recorded:
    | ((part: Part, context: ExecutionContext, changes: readonly Recorded[]) => Promise<void>)
    | null;
  /**
   * Removes what is kept of somebody, in transactions of its own; returns how many of each kind.
   * What a first try has removed is passed over.
   */
  readonly erased: (part: Part, context: ExecutionContext, who: Erased) => Promise<ErasedCounts>;
  /** What it keeps of somebody, read as it is asked for. */
  readonly exported: (
    part: Part,
    context: ExecutionContext,
    who: ExportedPerson,
  ) => AsyncIterable<ExportedLine>;
  /** What it keeps, as `export` and `import` have it; what others name comes before these. */
  readonly data: (part: Part, service: ServiceAtWork) => readonly AnyDataSet[];
  readonly start: (part: Part, service: ServiceAtWork, settings: Settings) => Started | null;
}

/** Any family; each is only ever called with its own part and settings. */
// oxlint-disable-next-line typescript/no-explicit-any -- part and settings are tied together inside each family
export type AnyFamily = Family<string, any, any>;

/** What families export that keep nothing of people. */
async function* nothingKept(): AsyncGenerator<never> {}

/** The defaults for members that a family leaves out. */
const silent = {
  settings: () => undefined,
  open: async () => [],
  tables: () => [],
  probes: () => ({}),
  migrated: async () => undefined,
  jobs: () => [],
  commands: () => [],
  folders: () => ({}),
  questions: () => [],
  metrics: () => ({}),
  staged: async () => undefined,
  departed: async () => undefined,
  recorded: null,
  erased: async () => ({}),
  exported: nothingKept,
  data: () => [],
  start: () => null,
};

/**
 * Makes the family of a member of the service definition: first its part's type, then what it says.
 */
export function familyOf<Part>() {
  return <const Member extends string, Settings = undefined>(
    definition: Pick<Family<Member, Part, Settings>, "member"> &
      Partial<Family<Member, Part, Settings>>,
  ): Family<Member, Part, Settings> => ({
    ...(silent as unknown as Family<Member, Part, Settings>),
    ...definition,
  });
}

/** The settings that a family has read from the environment. */
export function settingsOf<Settings>(
  { familySettings }: Pick<Resources, "familySettings">,
  { member }: Pick<Family<string, never, Settings>, "member" | "settings">,
): Settings {
  // `readSettings` has each family read its own.
  return familySettings[member] as Settings;
}

const hourMillis = 60 * 60 * 1_000;

/** A job that runs every hour. */
export function hourly(name: string, batch: PeriodicJob["batch"]): PeriodicJob {
  return { name, everyMillis: hourMillis, batch };
}

/** Concurrent readers share one answer, so metrics that are read together need one query. */
export function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () =>
    (asked ??= ask().finally(() => {
      asked = undefined;
    }));
}
