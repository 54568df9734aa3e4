// Which project a command works on: flags beat environment, environment beats the configuration
// file.
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { OpwrightConfig } from "../project/config.js";
import type { Project } from "../pipeline/generate.js";
import { readProjectText } from "../load/project-file.js";
import { findingFormats, type FindingFormat } from "./finding-formats.js";
import { loadConfigFile } from "./config-file.js";
import { UsageError } from "./io.js";

/** Flags that every command has. */
export interface CommonFlags {
  readonly config?: string;
  readonly registry?: string;
  readonly out?: string;
  readonly format?: string;
}

export interface ConfiguredProject {
  readonly project: Project;
  readonly config: OpwrightConfig;
  readonly format: FindingFormat;
}

const configNames = [
  "opwright.config.ts",
  "opwright.config.mts",
  "opwright.config.js",
  "opwright.config.mjs",
];

/**
 * Finds and reads the configuration. Throws `UsageError` for a wrong flag or a configuration file
 * that is not there.
 */
export async function configuredProject(
  flags: CommonFlags,
  cwd: string,
): Promise<ConfiguredProject> {
  const given = flags.config ?? process.env["OPWRIGHT_CONFIG"];
  const file =
    given === undefined
      ? configNames.map((name) => join(cwd, name)).find((path) => existsSync(path))
      : resolve(cwd, given);
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`there is no configuration file ${given}`);
  const root = file === undefined ? cwd : dirname(file);
  if (file !== undefined) {
    const read = readProjectText(root, basename(file));
    if (read.kind === "refused") throw new UsageError(`${file} ${read.why}`);
  }
  const config = file === undefined ? {} : await loadConfigFile(file);
  const folder = (
    flag: string | undefined,
    variable: string,
    configured: string | undefined,
    otherwise: string,
  ): string => {
    const chosen = flag ?? process.env[variable];
    const path = chosen === undefined ? join(root, configured ?? otherwise) : resolve(cwd, chosen);
    const inProject = relative(root, path).replaceAll("\\", "/");
    if (inProject === "" || inProject.startsWith("..") || isAbsolute(inProject)) {
      throw new UsageError(`${path} is not a folder inside the project ${root}`);
    }
    return inProject;
  };
  const format = flags.format ?? process.env["OPWRIGHT_FORMAT"] ?? config.format ?? "pretty";
  if (!(findingFormats as readonly string[]).includes(format)) {
    throw new UsageError(`--format must be one of ${findingFormats.join(", ")}`);
  }
  return {
    config,
    format: format as FindingFormat,
    project: {
      root,
      paths: {
        registry: folder(flags.registry, "OPWRIGHT_REGISTRY", config.registry, "registry"),
        out: folder(flags.out, "OPWRIGHT_OUT", config.out, "generated"),
      },
      client: {
        package: config.client?.package ?? null,
        queries: config.client?.queries ?? false,
        mocks: config.client?.mocks ?? false,
      },
    },
  };
}
