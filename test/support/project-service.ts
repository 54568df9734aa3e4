// A project of a test's own, from its YAML to the running service: generated, imported, started.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkRegistry, planGeneration, type Project } from "../../generator/pipeline/generate.js";
import type { ServiceDefinition } from "../../runtime/server/service.js";
import type { TestEngine } from "./engines.js";
import { writeProject } from "../generator/scenario.js";
import { startTestService, type TestService } from "./service.js";

/** How a test's service is started. */
export type StartOptions = Pick<
  NonNullable<Parameters<typeof startTestService>[1]>,
  "environment" | "log" | "signsIn"
>;

export interface TestProject {
  readonly root: string;
  /** Code and message of each warning. */
  readonly warnings: readonly string[];
  /** The generated OpenAPI document. */
  readonly openapi: unknown;
  /** Starts its service on a fresh database. */
  start(engine: TestEngine, options?: StartOptions): Promise<TestService>;
  /** A module of the project, such as `generated/client/index.ts`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- its type is generated only now
  load(path: string): Promise<any>;
  remove(): void;
}

/**
 * Generates the project that these files are; where an earlier version is given, on top of what that has generated. Fails
 * where the registry has findings.
 */
export async function testProject(
  files: Readonly<Record<string, string>>,
  earlier?: Pick<TestProject, "root">,
  options: Partial<Pick<Project, "purges" | "client">> = {},
): Promise<TestProject> {
  const { root, remove } = writeProject(files);
  if (earlier !== undefined)
    cpSync(join(earlier.root, "generated"), join(root, "generated"), { recursive: true });
  const project: Project = {
    root,
    paths: { registry: "registry", out: "generated" },
    client: { package: "@demo/client", queries: false, mocks: false },
    ...options,
  };
  const checked = await checkRegistry(project);
  if (checked.findings.length > 0)
    throw new Error(checked.findings.map(({ code, message }) => `${code} ${message}`).join("\n"));
  const plan = await planGeneration(project, checked);
  for (const { path, text } of plan.files) {
    const at = join(root, "generated", path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
  }
  const openapi: unknown = JSON.parse(
    plan.files.find(({ path }) => path === "openapi.json")?.text ?? "null",
  );
  const load: TestProject["load"] = (path) => import(/* @vite-ignore */ join(root, path));
  return {
    root,
    warnings: checked.warnings.map(({ code, message }) => `${code} ${message}`),
    openapi,
    load,
    async start(engine, options = {}) {
      const { service } = (await load("generated/service.ts")) as {
        readonly service: ServiceDefinition;
      };
      const folder = join(root, "generated");
      return startTestService(engine, { definition: service, folder, ...options });
    },
    remove,
  };
}
