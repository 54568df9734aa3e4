// Loading opwright.config.ts: natively where Node strips types, else through ts-morph's transpiler.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OpwrightConfig } from "../config.js";
import { UsageError } from "./project.js";

/** The default export of a configuration file. */
export async function loadConfigFile(file: string): Promise<OpwrightConfig> {
  const isTypeScript = /\.m?ts$/.test(file);
  const module = isTypeScript && !stripsTypes() ? await transpiled(file) : file;
  const { default: config } = (await import(pathToFileURL(module).href)) as {
    readonly default?: unknown;
  };
  if (typeof config !== "object" || config === null)
    throw new UsageError(`${file} has no default export`);
  return config;
}

function stripsTypes(): boolean {
  return (
    (process.features as { readonly typescript?: unknown }).typescript !== undefined &&
    (process.features as { readonly typescript?: unknown }).typescript !== false
  );
}

/** A JavaScript twin of the file inside node_modules, so that its imports resolve as those of the file do. */
async function transpiled(file: string): Promise<string> {
  const { ts } = await import("ts-morph");
  const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const folder = join(dirname(file), "node_modules", ".cache", "opwright");
  mkdirSync(folder, { recursive: true });
  const twin = join(folder, `${basename(file).replace(/\.m?ts$/, "")}.mjs`);
  writeFileSync(twin, outputText);
  return twin;
}
