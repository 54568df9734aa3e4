// opwright diff: what a change of the registry does to clients, against the frozen registry of a
// git revision.
import { parseDocument, stringify } from "yaml";
import type { Change } from "../compare/change.js";
import { compareRegistries } from "../diff/compare.js";
import type { DiffFormat } from "../diff/formats.js";
import { approvalNeeded, renderDiff } from "../diff/render.js";
import { causesOf } from "../diff/causes.js";
import {
  isRefused,
  missingApprovals,
  reportOf,
  type Approval,
  type JudgedCause,
} from "../diff/report.js";
import { rolloutOf, type Rollout } from "../diff/rollout.js";
import { databaseOf, databasePath } from "../database/schema.js";
import { catalogue } from "../families/catalogue.js";
import { checkRegistry, type CheckedRegistry } from "../pipeline/generate.js";
import { locator, type SourcePosition } from "../load/locate.js";
import { oneLine } from "../project/markdown.js";
import { modelParts } from "../families/index.js";
import { thawRegistry } from "../model/frozen.js";
import type { RegistryModel } from "../model/registry.js";
import { originOf } from "./diff-places.js";
import { renderFindings } from "./findings.js";
import { git } from "./git.js";
import { baseOf } from "./git-operation.js";
import { lostSince } from "./lost-migrations.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { repositoryPrefix } from "./repository.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

export async function runDiff(
  { project }: ConfiguredProject,
  { ref, format }: { readonly ref: string; readonly format: DiffFormat },
  terminal: Terminal,
): Promise<ExitCode> {
  const { root, paths } = project;
  const commit = baseOf(ref, root);
  const before = frozenAt(ref, commit, root, `${paths.out}/registry.json`);
  const checked = await checkRegistry(project);
  const { textOf, findings, expanded, loaded } = checked;
  if (findings.length > 0) {
    terminal.note(
      renderFindings(findings, "pretty", { textOf, isColoured: terminal.isColoured, root }),
    );
    return exitCodes.findings;
  }
  // As it would be frozen: without what JSON can't express.
  const after = JSON.parse(JSON.stringify(expanded.model)) as RegistryModel;
  const changes = compareModels(before, after, ref);
  const report = reportOf(changes, causesOf(changes, before, after), {
    against: ref,
    before: before.service.version,
    after: after.service.version,
    approved: loaded.declarations.approved,
    spent: approvedAt(commit, root, paths.registry),
    rollout: rolloutSince(commit, project, before, checked),
    lost: lostSince(ref, project, checked).map(({ message, at }) => ({
      file: at.file,
      text: message,
    })),
  });
  const locate = locator(textOf);
  const prefix = repositoryPrefix(root);
  const place = (cause: JudgedCause): SourcePosition => {
    const at = locate(originOf(cause, checked, before));
    return { ...at, file: `${prefix}${at.file}` };
  };
  terminal.out(renderDiff(report, format, { isColoured: terminal.isColoured, place, prefix }));
  for (const text of report.unused)
    terminal.note(`approved, but not there: ${oneLine(text)} (the entry can go)`);
  if (!report.isRefused) return exitCodes.fine;
  if (report.lost.length > 0) terminal.note(catalogue.OPW091.fix);
  if (report.causes.every((cause) => !isRefused(cause))) return exitCodes.findings;
  const entries = stringify({ approved: missingApprovals(report) }, { lineWidth: 100 });
  terminal.note(`${approvalNeeded}:\n\n${entries}`);
  return exitCodes.findings;
}

/**
 * What rolling the registry out over that of a commit takes; null if the commit has no database.
 */
function rolloutSince(
  commit: string,
  { root, paths }: ConfiguredProject["project"],
  before: RegistryModel,
  { expanded: { model }, history }: CheckedRegistry,
): Rollout | null {
  const text = git(root, "show", `${commit}:./${paths.out}/${databasePath}`);
  const database = text === undefined ? null : (parseJsonOrNull(text) as DatabaseSchema | null);
  if (database === null) return null;
  return rolloutOf(
    { model: before, database },
    { model, database: databaseOf(model, history.database) },
  );
}

/** The approvals in the registry of a commit, by their texts. */
function approvedAt(
  commit: string,
  root: string,
  registry: string,
): Readonly<Record<string, Approval>> {
  const names = [`${registry}/*.yaml`, `${registry}/*.yml`];
  const options = ["--no-color", "-l", "-z", "-e", "approved", commit, "--", ...names];
  const files = git(root, "-c", "grep.fullName=false", "grep", ...options);
  const found = (files ?? "").split("\0").filter((file) => file !== "");
  return Object.assign(
    {},
    ...found.map((file) => {
      const text = git(root, "show", file.replace(":", ":./"));
      if (text === undefined) throw new UsageError(`git cannot show ${file}`);
      const document = parseDocument(text);
      // A faulty entry approved nothing.
      if (document.errors.length > 0) return {};
      const { approved } = (document.toJS() ?? {}) as { readonly approved?: object };
      return approved ?? {};
    }),
  ) as Readonly<Record<string, Approval>>;
}

/**
 * Versions that can be compared: 1 described differently what runs an operation, which isn't
 * compared; 2 had hooks at each operation.
 */
const readFormats: readonly number[] = [1, 2, 3];

/** The frozen registry of a commit. Throws `UsageError` if there is none. */
function frozenAt(ref: string, commit: string, root: string, path: string): RegistryModel {
  const text = git(root, "show", `${commit}:./${path}`);
  if (text === undefined) throw new UsageError(`${ref} has no ${path}`);
  const frozen = parseJsonOrNull(text) as Partial<RegistryModel> | null;
  if (frozen?.service === undefined || !readFormats.includes(frozen.format ?? 0))
    throw new UsageError(
      `${path} of ${ref} is no frozen registry of format ${readFormats.join(" or ")}`,
    );
  return thawRegistry({ ...empty, ...frozen }, modelParts);
}

/**
 * Throws `UsageError` if the older registry is from a version of opwright whose registries had
 * other members.
 */
function compareModels(
  before: RegistryModel,
  after: RegistryModel,
  ref: string,
): readonly Change[] {
  try {
    return compareRegistries(before, after);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const message = `the frozen registry of ${ref} is of another version of opwright`;
    throw new UsageError(message, { cause });
  }
}

/** The defaults of sections that older registries don't have. */
const empty = {
  types: {},
  homes: {},
  namespaces: {},
  operations: {},
};

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
