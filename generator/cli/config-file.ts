// Loading opwright.config.ts: natively where Node strips types, else through ts-morph's transpiler.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OpwrightConfig } from "../project/config.js";
import { own } from "../model/records.js";
import { UsageError } from "./io.js";

/**
 * The default export of a configuration file. Throws `UsageError` if it can't be loaded or isn't a
 * configuration.
 */
export async function loadConfigFile(file: string): Promise<OpwrightConfig> {
  const twin = /\.m?ts$/.test(file) && !stripsTypes() ? await transpileBeside(file) : undefined;
  const { log } = console;
  // Output of a configuration file isn't a result of the command.
  console.log = console.error;
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
    console.log = log;
    if (twin !== undefined) rmSync(twin, { force: true });
  }
}

/** The type of each key; those of objects have keys of their own. */
const keys: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  registry: "string",
  out: "string",
  format: "string",
  client: { package: "string", queries: "boolean", mocks: "boolean" },
  build: { folder: "string", entry: "string", files: "list of texts", whole: "list of texts" },
  dev: { build: "string", start: "string" },
};

/** The name of an npm package, with or without a scope. */
const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

function checkedConfig(file: string, config: unknown): OpwrightConfig {
  if (typeof config !== "object" || config === null)
    throw new UsageError(`${file} has no default export`);
  for (const [key, value] of Object.entries(config)) {
    const type = own(keys, key);
    if (type === undefined) throw new UsageError(`${file} has an unknown key ${key}`);
    checkType(file, key, value, typeof type === "string" ? type : "object");
    if (typeof type === "string") continue;
    for (const [inner, one] of Object.entries(value as object)) {
      const innerType = own(type, inner);
      if (innerType === undefined)
        throw new UsageError(`${file} has an unknown key ${key}.${inner}`);
      checkType(file, `${key}.${inner}`, one, innerType);
    }
  }
  const name = (config as OpwrightConfig).client?.package;
  if (name !== undefined && !packageName.test(name))
    throw new UsageError(`client.package in ${file} must be the name of an npm package`);
  return config;
}

function checkType(file: string, key: string, value: unknown, type: string): void {
  const isRight =
    type === "list of texts"
      ? Array.isArray(value) && value.every((one) => typeof one === "string")
      : typeof value === type && value !== null;
  if (!isRight)
    throw new UsageError(`${key} in ${file} must be ${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`);
}

function stripsTypes(): boolean {
  return (
    (process.features as { readonly typescript?: unknown }).typescript !== undefined &&
    (process.features as { readonly typescript?: unknown }).typescript !== false
  );
}

/** A JavaScript twin beside the file, so that its imports resolve as those of the file do. */
async function transpileBeside(file: string): Promise<string> {
  const {
    default: { ts },
  } = await import("ts-morph");
  const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const twin = join(dirname(file), `.${basename(file)}.${process.pid}.mjs`);
  writeFileSync(twin, outputText);
  return twin;
}
