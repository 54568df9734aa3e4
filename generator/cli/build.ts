// opwright build: the service as one folder that runs without an install.
import { existsSync, lstatSync, realpathSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { bundleServer, findPackages } from "../artefact/bundle.js";
import { ArtefactFault } from "../artefact/fault.js";
import { gatherParts } from "../artefact/parts.js";
import { compiledFolder } from "../artefact/sides.js";
import { refuseOthers, writeArtefact } from "../artefact/write-artefact.js";
import { compileProject, compileProjectAnew, runCommand } from "./dev-compiler.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { reviewedPlan } from "./reviewed-plan.js";

export interface BuildFlags {
  /** The folder to write, from where the command is called. */
  readonly to?: string;
}

/**
 * Builds the artefact of what was reviewed: the generated folder must match the registry, and the
 * project must compile. Throws `UsageError` for what the author must change first.
 */
export async function runBuild(
  configured: ConfiguredProject,
  { to }: BuildFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const { project, config } = configured;
  // Packages and modules are known by where they really are.
  const root = realpathSync(project.root);
  const { files = [] } = config.build ?? {};
  const folder = await faultsAsUsage(async () => folderToWrite(configured, to, terminal));
  // Files may be made by the project's own command, so they are looked for behind it.
  const whole = await faultsAsUsage(async () => findPackages(root, config.build?.whole ?? []));
  const reviewed = await reviewedPlan(configured, "built", terminal);
  if (reviewed === undefined) return exitCodes.findings;
  const compiled = await compileToBundle(configured, root);
  if (compiled === undefined) {
    terminal.note("the project does not compile");
    return exitCodes.findings;
  }
  const { name, version } = reviewed.checked.expanded.model.service;
  return await faultsAsUsage(async () => {
    try {
      const bundle = await bundleServer({ root, whole, ...compiled });
      const service = { name, version, root, out: project.paths.out, files };
      const parts = gatherParts(service, bundle);
      const { total, native } = writeArtefact(folder, parts.files);
      if (bundle.missing.length > 0)
        terminal.note(`not installed, and so not in it: ${bundle.missing.join(", ")}`);
      for (const path of parts.left)
        terminal.note(`not in it: ${path}, which code of yours names (build.files)`);
      terminal.out(
        `${relative(terminal.folder, folder)}: ${megabytes(total - native)} MB and ${megabytes(native)} MB of native modules, of ${parts.packages.length} packages\n`,
      );
      return exitCodes.fine;
    } finally {
      compiled.remove();
    }
  });
}

/** The folder to write, which may replace an earlier artefact and nothing else. */
function folderToWrite(
  { project, config }: ConfiguredProject,
  to: string | undefined,
  terminal: Terminal,
): string {
  const { root, paths } = project;
  const asked =
    to === undefined
      ? resolve(root, config.build?.folder ?? "build")
      : resolve(terminal.folder, to);
  // A link stays one.
  const folder = existsSync(asked) ? realpathSync(asked) : asked;
  if (lstatSync(asked, { throwIfNoEntry: false })?.isSymbolicLink() && folder === asked)
    throw new ArtefactFault(`${asked} is a link that leads nowhere`);
  const sources = [paths.registry, paths.out, ...(config.build?.files ?? [])];
  const inside = `${realpathSync(root)}/`;
  for (const source of sources) {
    const path = resolve(inside, source);
    if (path.startsWith(inside) && `${folder}/`.startsWith(`${path}/`))
      throw new ArtefactFault(`${folder} is in ${source}, of which the artefact is made`);
  }
  refuseOthers(folder);
  return folder;
}

/** What is bundled, and where a compiled module has its place in the project. */
interface Compiled {
  readonly entry: string;
  readonly placeOf: (file: string) => string;
  readonly compiledAnew: (file: string) => string;
  /** Removes what was only made for this. */
  readonly remove: () => void;
}

/**
 * Compiles a project; undefined if it doesn't compile. Its own command, or its own place for what
 * is compiled, is taken as it is; otherwise everything is compiled anew, so that nothing is bundled
 * that an earlier compiler has left.
 */
async function compileToBundle(
  { project: { paths }, config }: ConfiguredProject,
  root: string,
): Promise<Compiled | undefined> {
  const command = config.dev?.build;
  const given = config.build?.entry;
  if (command !== undefined || given !== undefined) {
    const compiles = command === undefined ? compileProject(root) : runCommand(command, root);
    if (!(await compiles)) return undefined;
    const entry = given ?? `dist/${paths.out}/server.js`;
    if (!existsSync(join(root, entry)))
      throw new UsageError(`the compiled server is not at ${entry}: name it by build.entry`);
    return {
      entry: join(root, entry),
      placeOf: (file) => relative(root, file),
      compiledAnew: (file) => file,
      remove: () => undefined,
    };
  }
  const folder = join(root, compiledFolder, `compiled-${process.pid}`);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  if (!(await compileProjectAnew(root, folder))) {
    remove();
    return undefined;
  }
  const entry = join(folder, paths.out, "server.js");
  if (!existsSync(entry)) {
    remove();
    throw new UsageError(
      "the compiler wrote no server: name what compiles the project by dev.build, and build.entry",
    );
  }
  return {
    entry,
    placeOf: (file) =>
      file.startsWith(`${folder}/`) ? join("dist", relative(folder, file)) : relative(root, file),
    compiledAnew(file) {
      const anew = join(folder, relative(join(root, "dist"), file));
      return file.startsWith(join(root, "dist/")) && existsSync(anew) ? anew : file;
    },
    remove,
  };
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

/**
 * Faults of the author's. The bundler wraps what its plugins throw; what else it says is about code
 * that it can't read, mostly a package's.
 */
function causeOf(error: unknown): Error | undefined {
  if (error instanceof ArtefactFault) return error;
  if (!(error instanceof Error)) return undefined;
  if ("errors" in error && Array.isArray(error.errors))
    return (
      error.errors.map(causeOf).find((one) => one !== undefined) ??
      new ArtefactFault(stripVTControlCharacters(error.message))
    );
  return causeOf(error.cause);
}
