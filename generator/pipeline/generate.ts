// The pipeline of the generator: load → expand → check → freeze → emit → plan. Writing is left to
// the caller.
import { defaultsFit } from "../check/defaults.js";
import { functionsExist, mentions } from "../check/functions.js";
import { unscopedIsListed } from "../check/unscoped.js";
import { patternsAreLinear } from "../check/patterns.js";
import type { ExpandedRegistry, RuleContext } from "../kernel/rule.js";
import { rules } from "../check/rules.js";
import { databaseOf, emptyDatabase } from "../database/schema.js";
import { catalogue } from "../families/catalogue.js";
import { type Finding } from "../diagnostics/diagnostics.js";
import type { ClientSettings } from "../emit/client/settings.js";
import { endCompiler, startCompiler } from "../compile/compiler.js";
import { emit, emitChecks } from "../emit/emit.js";
import type { EmittedFile } from "../print/file.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { RegistryModel } from "../model/registry.js";
import type { ModulePaths } from "../print/module-path.js";
import { registryFormat } from "../expand/registry-shape.js";
import { withFixes, type Mendable } from "../mend/mends.js";
import { expandRegistry } from "../expand/expand.js";
import { loadRegistry, type LoadedRegistry } from "../load/load.js";
import { projectEntry, textOfFile } from "../load/project-file.js";
import { registryNames } from "../load/registry-names.js";
import { GeneratedFolder } from "../output/folder.js";
import { manifestName, manifestOf, mergedOwnership, type Ownership } from "../output/manifest.js";
import { fileTextCache, hasTextCache } from "../output/file-text-cache.js";
import { compareFiles, planOutput, type FileChange, type Compared } from "../output/plan.js";
import { buildIdentity, packageVersion } from "../project/package-root.js";

export interface Project {
  /** Absolute path of the project. */
  readonly root: string;
  readonly paths: ModulePaths;
  readonly client: ClientSettings;
  /** The migrations to go on from, where those of the generated folder are to be made anew. */
  readonly base?: MigrationHistory;
  /**
   * Files of the generated folder that are ours, besides those that its manifest lists: after a
   * merge.
   */
  readonly owned?: Ownership;
  /** Whether a migration drops the tables that are no longer declared. */
  readonly purges?: boolean;
}

/** A registry that has been read and checked. With findings there is nothing to emit. */
export interface CheckedRegistry {
  readonly loaded: LoadedRegistry;
  readonly expanded: ExpandedRegistry;
  readonly findings: readonly Finding[];
  /** What is told, and keeps nothing from being generated. */
  readonly warnings: readonly Finding[];
  /** The generated folder as it was found, and its migrations. */
  readonly folder: GeneratedFolder;
  readonly history: MigrationHistory;
  /** Files that were read besides the registry's own YAML. */
  readonly modules: readonly string[];
  /** Texts of the files that findings refer to. */
  readonly textOf: (file: string) => string | undefined;
  /**
   * The validators that are being compiled, if the registry is to be generated and has no findings.
   */
  readonly compiled: CompiledChecks | undefined;
}

/** Modules of validators that are being compiled. `keep` caches them for the next run. */
interface CompiledChecks {
  readonly files: Promise<readonly EmittedFile[]>;
  readonly keep: () => void;
}

/** Loads, expands and checks a registry. */
export function checkRegistry(project: Project): Promise<CheckedRegistry> {
  return checkAndCompile(project, () => undefined);
}

/**
 * The same for a registry that is to be generated: its validators are compiled while it is checked.
 */
export async function checkToGenerate(project: Project): Promise<CheckedRegistry> {
  if (!hasTextCache(project.root, "validators")) startCompiler();
  const registry = await checkAndCompile(project, (model) => checksOf(project, model));
  if (registry.findings.length === 0) return registry;
  endCompiler();
  return { ...registry, compiled: undefined };
}

/** `begin` is called with a model as soon as there is one without findings. */
async function checkAndCompile(
  project: Project,
  begin: (model: RegistryModel) => CompiledChecks | undefined,
): Promise<CheckedRegistry> {
  const findings: Finding[] = [];
  const warnings: Finding[] = [];
  const known = new Set<string>();
  // One fault can be met once an operation; it is one finding all the same.
  const report = (finding: Finding): void => {
    const fault = JSON.stringify([finding.code, finding.message, finding.at]);
    if (known.has(fault)) return;
    known.add(fault);
    const isWarning = catalogue[finding.code].severity === "warning";
    (isWarning ? warnings : findings).push(finding);
  };
  const options = { project: project.root, folder: project.paths.registry, report };
  const loaded = loadRegistry(project.root, project.paths.registry, registryFormat, report);
  const unsound = new Set(findings);
  const folder = new GeneratedFolder(project.root, project.paths.out);
  const { base, purges = false } = project;
  const history = base === undefined ? folder.history(report) : folder.historyOf(base, report);
  const { database } = history;
  const stored = purges ? emptyDatabase : database;
  const expanded = expandRegistry(loaded, { ...options, stored });
  const compiled = findings.length === 0 ? begin(expanded.model) : undefined;
  const wanted = databaseOf(expanded.model, database);
  const context: RuleContext = { loaded, expanded, database, wanted, report };
  for (const rule of rules) rule(context);
  await defaultsFit(context);
  const cache = fileTextCache(project.root, "patterns", buildIdentity());
  await patternsAreLinear(context, cache);
  cache.save();
  const named = mentions(context);
  await functionsExist(context, named, project.root);
  await unscopedIsListed(project.root, project.paths.registry, report);
  // A file that can't be read says nothing: what seems to be missing or unknown may stand in it.
  const unread = findings.filter(({ code }) => ["OPW001", "OPW002"].includes(code));
  const mendable: Mendable = {
    tree: loaded.tree,
    shape: registryFormat.shape,
    unsound,
    folder: project.paths.registry,
    exists: (path) => projectEntry(project.root, path).kind === "file",
    frozen: () => folder.read("registry.json") ?? "",
  };
  return {
    loaded,
    expanded,
    findings: withFixes(unread.length > 0 ? unread : findings, mendable),
    warnings: unread.length > 0 ? [] : warnings,
    folder,
    history,
    modules: [
      ...new Set([...named.map(({ reference }) => reference.file), ...expanded.types.texts.keys()]),
    ].sort(),
    textOf: (file) =>
      loaded.tree.texts.get(file) ??
      expanded.types.texts.get(file) ??
      textOfFile(project.root, file),
    compiled,
  };
}

function checksOf({ root }: Project, model: RegistryModel): CompiledChecks {
  const cache = fileTextCache(root, "validators", buildIdentity());
  const files = emitChecks(model, cache);
  // If there are findings, nobody awaits them.
  files.catch(() => undefined);
  return { files, keep: () => cache.save() };
}

/** What generating would change, and the folder to apply it to. */
export interface GenerationPlan {
  readonly files: readonly EmittedFile[];
  /** One of the files: it is the last to be written. */
  readonly manifest: EmittedFile;
  readonly changes: readonly FileChange[];
  readonly folder: GeneratedFolder;
  /** Files of the generated folder that are somebody's own, and stay. */
  readonly foreign: readonly string[];
}

/**
 * Emits a checked registry without findings and compares it with the generated folder. Writes
 * nothing there.
 */
export async function planGeneration(
  project: Project,
  registry: CheckedRegistry,
): Promise<GenerationPlan> {
  const { folder, history } = registry;
  const { model } = registry.expanded;
  const { files: checks, keep } = registry.compiled ?? checksOf(project, model);
  const compare = (files: readonly EmittedFile[]): readonly Compared[] =>
    compareFiles(files, (path) => folder.read(path));
  const own = compare(
    emit(model, {
      paths: project.paths,
      names: registryNames(registry.loaded.tree, Object.keys(model.namespaces)),
      history,
      client: project.client,
      purges: project.purges === true,
    }),
  );
  const emitted = [...own, ...compare(await checks)].sort((left, right) =>
    left.path < right.path ? -1 : 1,
  );
  for (const [index, { path }] of emitted.entries())
    if (emitted[index + 1]?.path === path) throw new Error(`two emitters print ${path}`);
  keep();
  const manifest = manifestOf(emitted, `opwright ${packageVersion()}`);
  const files = [...emitted, ...compare([manifest])];
  const ownership = new Map(
    mergedOwnership([
      project.base === undefined ? folder.ownership() : folder.ownershipWithMigrations(),
      project.owned ?? new Map(),
    ]),
  );
  // The manifest is always ours: it is what tells.
  if (ownership.size > 0) ownership.set(manifestName, new Set());
  const changes = planOutput(files, ownership, (path) => folder.read(path)).map(
    (change): FileChange =>
      change.path === manifestName && change.kind === "edited" && change.text !== undefined
        ? { ...change, kind: "changed", text: change.text }
        : change,
  );
  const foreign = folder.foreign(
    files.map(({ path }) => path),
    ownership,
  );
  return { files, manifest, changes, folder, foreign };
}
