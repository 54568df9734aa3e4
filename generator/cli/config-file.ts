// Loading opwright.config.ts: natively where Node strips types, else through ts-morph's transpiler.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OpwrightConfig } from "../config.js";
import { UsageError } from "./io.js";

/** The default export of a configuration file. Throws `UsageError` where it cannot be loaded or is none. */
export async function loadConfigFile(file: string): Promise<OpwrightConfig> {
  const twin = /\.m?ts$/.test(file) && !stripsTypes() ? await transpiled(file) : undefined;
  try {
    const module = (await import(pathToFileURL(twin ?? file).href)) as {
      readonly default?: unknown;
    };
    return checkedConfig(file, module.default);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    if (twin !== undefined) rmSync(twin, { force: true });
  }
}

function checkedConfig(file: string, config: unknown): OpwrightConfig {
  if (typeof config !== "object" || config === null)
    throw new UsageError(`${file} has no default export`);
  for (const [key, value] of Object.entries(config)) {
    const type = ["registry", "out", "format"].includes(key)
      ? "string"
      : key === "dev"
        ? "object"
        : undefined;
    if (type === undefined) throw new UsageError(`${file} has an unknown key ${key}`);
    if (typeof value !== type) throw new UsageError(`${key} in ${file} must be a ${type}`);
  }
  return config;
}

function stripsTypes(): boolean {
  return (
    (process.features as { readonly typescript?: unknown }).typescript !== undefined &&
    (process.features as { readonly typescript?: unknown }).typescript !== false
  );
}

/** A JavaScript twin beside the file, so that its imports resolve as those of the file do. */
async function transpiled(file: string): Promise<string> {
  const { ts } = await import("ts-morph");
  const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const twin = join(dirname(file), `.${basename(file)}.${process.pid}.mjs`);
  writeFileSync(twin, outputText);
  return twin;
}
