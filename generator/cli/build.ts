// opwright build: the service as one folder that runs without an install.
import { existsSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { bundleServer } from "../artefact/bundle.js";
import { ArtefactFault } from "../artefact/fault.js";
import { gatherParts } from "../artefact/parts.js";
import { refuseOthers, writeArtefact } from "../artefact/write-artefact.js";
import { compileProject, runCommand } from "./dev-compiler.js";
import { checkedPlan } from "./drift.js";
import { renderFindings } from "./findings.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

export interface BuildFlags {
  /** The folder to write, from where the command is called. */
  readonly to?: string;
}

/**
 * Builds the artefact of what was reviewed: the generated folder must match the registry, and the
 * project must compile. Throws `UsageError` for what the author must change first.
 */
export async function runBuild(
  { project, config, format }: ConfiguredProject,
  { to }: BuildFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const { paths } = project;
  // Packages and modules are known by where they really are.
  const root = realpathSync(project.root);
  const { entry = `dist/${paths.out}/server.js`, files = [], whole = [] } = config.build ?? {};
  const folder =
    to === undefined ? join(root, config.build?.folder ?? "build") : resolve(terminal.folder, to);
  await faultsAsUsage(async () => refuseOthers(folder));
  const { checked, plan, findings } = await checkedPlan(project);
  if (plan === undefined || findings.length > 0) {
    const { textOf } = checked;
    terminal.out(
      renderFindings(findings, format, { textOf, isColoured: terminal.isColoured, root }),
    );
    terminal.note("what is built is what was reviewed: run `opwright generate` first");
    return exitCodes.findings;
  }
  const compile = config.dev?.build;
  const compiles = compile === undefined ? compileProject(root) : runCommand(compile, root);
  if (!(await compiles)) {
    terminal.note("the project does not compile");
    return exitCodes.findings;
  }
  if (!existsSync(join(root, entry)))
    throw new UsageError(`the compiled server is not at ${entry}: name it by build.entry`);
  const { name, version } = checked.expanded.model.service;
  return await faultsAsUsage(async () => {
    const bundle = await bundleServer({ root, entry, whole });
    const parts = gatherParts({ name, version, root, out: paths.out, files }, bundle);
    const { total, native } = writeArtefact(folder, parts.files);
    if (bundle.missing.length > 0)
      terminal.note(`not installed, and so not in it: ${bundle.missing.join(", ")}`);
    terminal.out(
      `${relative(terminal.folder, folder)}: ${megabytes(total - native)} MB and ${megabytes(native)} MB of native modules, of ${parts.packages.length} packages\n`,
    );
    return exitCodes.fine;
  });
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

async function faultsAsUsage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const cause = causeOf(error);
    if (cause === undefined) throw error;
    throw new UsageError(cause.message, { cause: error });
  }
}

/** Faults of the author's; the bundler wraps what its plugins throw. */
function causeOf(error: unknown): Error | undefined {
  if (error instanceof ArtefactFault) return error;
  if (!(error instanceof Error)) return undefined;
  if ("errors" in error && Array.isArray(error.errors))
    return error.errors.map(causeOf).find((one) => one !== undefined);
  return causeOf(error.cause);
}
