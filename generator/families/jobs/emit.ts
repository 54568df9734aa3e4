// jobs.ts: the types of jobs, and what enqueues them; job-handlers.ts: their functions. They are
// apart so that a job's own module can enqueue others.
import { pascalCase } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  docComment,
  importOf,
  importStatements,
  listLayout,
  literal,
  mapMember,
  sortedUnique,
  width,
} from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { importedModule, importedName, printAround } from "../../print/printed-names.js";
import { typeModules } from "../../print/type-modules.js";
import { memberDefaults } from "./defaults.js";
import { jobInputModule, jobInputNames } from "./inputs.js";
import type { JobModel } from "./model.js";

/** The modules of jobs; none if the registry declares none. */
export function emitJobs(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { jobs } = model;
  if (jobs === undefined) return [];
  return [emitDeclarations(model, jobs), emitHandlers(jobs, paths)];
}

type Jobs = Readonly<Record<string, JobModel>>;

function emitDeclarations(model: RegistryModel, jobs: Jobs): EmittedFile {
  const files = typeModules(model);
  const checks = jobInputNames(jobs);
  const names = sortedUnique(Object.values(jobs).map(({ typeName }) => typeName));
  const handlers = Object.keys(jobs).map((job) => `${pascalCase(job)}Job`);
  return {
    path: "jobs.ts",
    text: printAround("jobs.ts", [...names, ...handlers], (local) => ({
      header: header("registry"),
      imports: importStatements([
        ...["defineJobs", "makeCancelJob", "makeEnqueue"].map((name) =>
          importOf(name, "opwright/runtime", false),
        ),
        importOf("JobHandler", "opwright/runtime", true),
        ...names.flatMap((name) =>
          importedName(name, local, `./types/${files.get(name) ?? "models"}.js`, true),
        ),
        importOf("* as told", `./validators/${jobInputModule}.js`, false),
      ]),
      inputs: Object.entries(jobs).map(
        ([job, { typeName }]) => `  readonly ${literal(job)}: ${local.get(typeName) ?? "unknown"};`,
      ),
      handlers: Object.entries(jobs).map(([job, { summary }]) => ({
        comment: docComment("", summary ?? `The function of ${job}.`),
        text: listLayout(
          "",
          `export type ${pascalCase(job)}Job = JobHandler`,
          [`JobInputs[${literal(job)}]`],
          ["<", ">"],
          ";",
        ),
      })),
      jobs: Object.entries(jobs).flatMap(([job, one]) => [
        `    ${literal(job)}: {`,
        ...memberLines(one, checks.get(job) ?? "", memberDefaults(model, one)),
        "    },",
      ]),
      was: formerNames(jobs),
    })),
  };
}

function memberLines(
  job: JobModel,
  check: string,
  defaults: Readonly<Record<string, unknown>>,
): readonly string[] {
  const { retries, timeoutSeconds, as, unique, limit, keepSeconds, plan } = job;
  const lines = [
    `input: told.${check},`,
    `attempts: ${retries + 1},`,
    `timeoutSeconds: ${timeoutSeconds},`,
    `as: ${literal(as)},`,
  ];
  if (Object.keys(defaults).length > 0)
    lines.push(...mapMember("", "defaults", defaults).split("\n"));
  if (unique.length > 0)
    lines.push(...listLayout("", "unique: ", unique.map(literal), ["[", "]"], ",").split("\n"));
  if (limit !== null) lines.push(`limit: { max: ${limit.max}, per: ${literal(limit.per)} },`);
  if (keepSeconds !== null) lines.push(`keepSeconds: ${keepSeconds},`);
  if (plan !== null)
    lines.push(
      "plan: {",
      `  cron: ${literal(plan.cron)},`,
      `  timezone: ${literal(plan.timezone)},`,
      `  perTenant: ${plan.isPerTenant},`,
      `  missed: ${literal(plan.missed)},`,
      "},",
    );
  return lines.map((line) => `      ${line}`);
}

/** What jobs were called first, as a member of an object. */
function formerNames(jobs: Jobs): readonly string[] | null {
  const names = Object.entries(jobs).flatMap(([name, { was }]) =>
    was === undefined ? [] : [[name, was] as const],
  );
  return names.length === 0 ? null : [mapMember("  ", "was", Object.fromEntries(names))];
}

function emitHandlers(jobs: Jobs, paths: ModulePaths): EmittedFile {
  const path = "job-handlers.ts";
  const modules = moduleNames(
    paths,
    Object.values(jobs).map(({ run }) => run.file),
    () => false,
  );
  return {
    path,
    text: printAround(path, [...modules.values()], (local) => ({
      header: header("registry"),
      imports: importStatements([
        importOf("joinHandlers", "opwright/runtime", false),
        importOf("jobs", "./jobs.js", false),
        importOf("JobInputs", "./jobs.js", true),
        ...[...modules].flatMap(([file, name]) =>
          importedModule(local.get(name), importPath(paths, path, file)),
        ),
      ]),
      handlers: Object.entries(jobs).map(([job, { run }]) => {
        const called = `${local.get(modules.get(run.file) ?? "")}.${run.name}`;
        const line = `  ${literal(job)}: ${called},`;
        return line.length <= width ? line : `  ${literal(job)}:\n    ${called},`;
      }),
    })),
  };
}
