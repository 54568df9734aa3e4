// A service of a registry that a test states: generated into a folder of its own, its handlers beside it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkRegistry, planGeneration } from "../../generator/pipeline/generate.js";
import type { ServiceDefinition } from "../../runtime/server/service.js";

export interface DeclaredService {
  readonly definition: ServiceDefinition;
  /** What was generated, with the migrations. */
  readonly folder: string;
  remove(): void;
}

/** Generates and loads a service. `files` are its registry and its handlers by their paths, `registry/service.yaml` among them. */
export async function declaredService(
  files: Readonly<Record<string, string>>,
): Promise<DeclaredService> {
  const root = mkdtempSync(join(tmpdir(), "opwright-declared-"));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const project = {
    root,
    paths: { registry: "registry", out: "generated" },
    client: { package: "@demo/client", queries: false, mocks: false },
  };
  const checked = await checkRegistry(project);
  if (checked.findings.length > 0)
    throw new Error(checked.findings.map(({ code, message }) => `${code} ${message}`).join("\n"));
  const { files: generated } = await planGeneration(project, checked);
  for (const { path, text } of generated) write(join("generated", path), text);
  const folder = join(root, "generated");
  const { service } = (await import(join(folder, "service.ts"))) as {
    readonly service: ServiceDefinition;
  };
  return { definition: service, folder, remove: () => rmSync(root, { recursive: true }) };
}
