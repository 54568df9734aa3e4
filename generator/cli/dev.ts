// opwright dev: watches registry, handlers and hooks; generates, compiles and restarts on each
// change.
import { join, relative } from "node:path";
import { watch } from "chokidar";
import { checkRegistry, planGeneration } from "../pipeline/generate.js";
import { projectEntry } from "../load/project-file.js";
import { compileProject, runCommand } from "./dev-compiler.js";
import { commandServer, compiledServer } from "./dev-server.js";
import { generate } from "./generate.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

/** How long a burst of changes is gathered, in milliseconds. */
const quietMillis = 30;

/**
 * Runs until SIGINT or SIGTERM. A change with findings, or that does not compile, keeps the last
 * good server running.
 */
export async function runDev(configured: ConfiguredProject, terminal: Terminal): Promise<ExitCode> {
  const { project } = configured;
  const { root, paths } = project;
  const { build, start } = configured.config.dev ?? {};
  const server =
    start === undefined
      ? compiledServer(join(root, "dist", paths.out, "server.js"), root)
      : commandServer(start, root);
  let isServed = false;
  /** Whether the running service is the one that was written last. */
  let isCurrent = false;
  let isEnding = false;

  const serve = async (): Promise<void> => {
    const compiles =
      build === undefined ? await compileProject(root) : await runCommand(build, root);
    const last = isServed ? "; the last good server keeps running" : "";
    if (!compiles) {
      terminal.note(`the project does not compile${last}`);
      return;
    }
    if (isEnding) return;
    const isReplaced = await server.replace();
    if (isEnding) return;
    terminal.note(isReplaced ? "restarted" : `the server does not start${last}`);
    isServed ||= isReplaced;
    isCurrent = isReplaced;
  };

  let isGenerated = false;
  const turn = async (changed: readonly string[]): Promise<void> => {
    const code = changed.filter((path) => !/\.ya?ml$/.test(path));
    isCurrent &&= code.length === 0;
    // Code that compiles matches the generated code, so it needn't wait for the registry.
    const isTried = isGenerated && code.length > 0 && code.length === changed.length;
    if (isTried) await serve();
    const outcome = await generate(configured, {}, terminal);
    isGenerated = outcome.code === exitCodes.fine;
    isCurrent &&= outcome.written === 0;
    if (!isGenerated || isCurrent || (isTried && outcome.written === 0)) return;
    await serve();
  };

  const changed = new Set<string>();
  const watcher = watch(join(root, paths.registry), {
    ignoreInitial: true,
    // A link may lead to the whole disk.
    ignored: (path) => projectEntry(root, relative(root, path)).kind === "refused",
  });
  const tell = (error: unknown): void =>
    terminal.note(error instanceof Error ? error.message : String(error));
  let timer: NodeJS.Timeout | undefined;
  let running = turn([])
    .then(() => warmUp(configured))
    .catch(tell);
  watcher.on("all", (_event, path) => {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(async () => {
        const gathered = [...changed];
        changed.clear();
        if (gathered.length > 0) await turn(gathered).catch(tell);
      });
    }, quietMillis);
  });
  terminal.note(`watching ${paths.registry}/`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
  isEnding = true;
  clearTimeout(timer);
  await watcher.close();
  // The server first, because a change in progress may be waiting for it to start.
  await server.stop();
  await running;
  return exitCodes.fine;
}

/**
 * Loads what the first change will need, because loading compilers takes longer than running them.
 */
async function warmUp({ project }: ConfiguredProject): Promise<void> {
  const checked = await checkRegistry(project);
  if (checked.findings.length === 0) await planGeneration(project, checked);
}
