// Random registries as projects on disk: generated in this process, compiled in one program, loaded in one process.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { Finding } from "../../../generator/diagnostics/diagnostics.js";
import { checkRegistry, planGeneration } from "../../../generator/pipeline/generate.js";
import type { RegistryModel } from "../../../generator/model/registry.js";
import { authorFiles } from "./author-files.js";
import type { Json } from "./world.js";

const repository = new URL("../../..", import.meta.url).pathname;

/** What became of a registry. */
export type Outcome =
  | { readonly kind: "refused"; readonly findings: readonly Finding[] }
  | { readonly kind: "thrown"; readonly fault: string }
  | { readonly kind: "faulty"; readonly fault: string }
  | { readonly kind: "sound" };

/** Whether a registry was neither refused nor sound. */
export function isFault(
  outcome: Outcome,
): outcome is Extract<Outcome, { kind: "thrown" | "faulty" }> {
  return outcome.kind === "thrown" || outcome.kind === "faulty";
}

/** Generates, compiles and loads registries, each on its own, all in one program. */
export async function outcomesOf(
  registries: readonly Json[],
  compiler: "typescript" | "typescript-5.9" = "typescript",
): Promise<readonly Outcome[]> {
  const root = mkdtempSync(join(tmpdir(), "opwright-registries-"));
  try {
    const outcomes: Outcome[] = [];
    for (const [index, registry] of registries.entries())
      outcomes.push(await generated(join(root, `r${index}`), registry));
    const emitted = outcomes.flatMap(({ kind }, index) => (kind === "sound" ? [index] : []));
    if (emitted.length === 0) return outcomes;
    const faults = new Map(
      [...compiled(root, emitted, compiler), ...loaded(root, emitted)].toReversed(),
    );
    return outcomes.map((outcome, index): Outcome => {
      const fault = faults.get(index);
      return outcome.kind === "sound" && fault !== undefined ? { kind: "faulty", fault } : outcome;
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The project of one registry in a folder, with what is generated from it where it is accepted. */
async function generated(folder: string, registry: Json): Promise<Outcome> {
  write(join(folder, "registry/service.yaml"), stringify(registry));
  for (const [path, text] of Object.entries(authorFiles(registry))) write(join(folder, path), text);
  const project = {
    root: folder,
    paths: { registry: "registry", out: "generated" },
    client: { package: "@demo/client", queries: true, mocks: true },
  };
  try {
    const checked = await checkRegistry(project);
    if (checked.findings.length > 0) return { kind: "refused", findings: checked.findings };
    const lost = lostBy(registry, checked.expanded.model);
    if (lost !== undefined) return { kind: "thrown", fault: lost };
    const { files } = await planGeneration(project, checked);
    if (new Set(files.map(({ path }) => path)).size < files.length)
      return { kind: "thrown", fault: "two files have one path" };
    for (const { path, text } of files) write(join(folder, "generated", path), text);
    return { kind: "sound" };
  } catch (error) {
    return {
      kind: "thrown",
      fault: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

/** What is declared and accepted, and yet has no operations. */
function lostBy(registry: Json, { operations }: RegistryModel): string | undefined {
  const families = {
    documents: "documents",
    composites: "documents",
    search: "search",
    storage: "storage",
  };
  for (const [section, family] of Object.entries(families))
    for (const name of Object.keys((registry[section] ?? {}) as Json))
      if (
        !Object.values(operations).some(
          (operation) => operation.namespace === name && operation.family === family,
        )
      )
        return `${section}.${name} has no operations`;
  return undefined;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

type Faults = readonly (readonly [index: number, fault: string])[];

/** What the compiler refuses, by the number of the registry. */
function compiled(root: string, indexes: readonly number[], compiler: string): Faults {
  mkdirSync(join(root, "node_modules"));
  for (const [name, target] of [
    ["opwright", repository],
    ["@types", join(repository, "node_modules/@types")],
  ] as const)
    symlinkSync(target, join(root, "node_modules", name));
  write(join(root, "package.json"), '{"type": "module"}');
  const config = {
    extends: join(repository, "tsconfig.base.json"),
    compilerOptions: { rootDir: ".", outDir: "dist" },
    include: indexes.map((index) => `r${index}`),
  };
  write(join(root, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(repository, `node_modules/${compiler}/bin/tsc`);
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, "-p", root], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0 && !/^r\d+\//m.test(stdout)) throw new Error(`${stdout}${stderr}`);
  return byRegistry(stdout);
}

const loader = `
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
const [repository, ...indexes] = process.argv.slice(1);
const { routeTable } = await import(repository + "dist/runtime/http/route-table.js");
const Database = createRequire(repository)("libsql");
for (const index of indexes) {
  try {
    const { service } = await import(process.cwd() + "/dist/r" + index + "/generated/service.js");
    routeTable(service.routes);
    const migrations = "r" + index + "/generated/migrations/sqlite/";
    const database = new Database(":memory:");
    for (const name of readdirSync(migrations)) database.exec(readFileSync(migrations + name, "utf8"));
    database.close();
  } catch (error) {
    console.log("r" + index + "/" + String(error.stack).replaceAll("\\n", "  "));
  }
}
`;

/** What cannot be loaded, by the number of the registry. */
function loaded(root: string, indexes: readonly number[]): Faults {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", loader, repository, ...indexes.map(String)],
    { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 },
  );
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  return byRegistry(stdout);
}

function byRegistry(text: string): Faults {
  return text.split("\n").flatMap((line) => {
    const [, index, fault] = /^r(\d+)\/(.*)$/.exec(line) ?? [];
    return index === undefined || fault === undefined ? [] : [[Number(index), fault] as const];
  });
}
