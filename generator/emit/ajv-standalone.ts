// Ajv standalone code as part of a TypeScript module: no require, our own formats and helpers.
import { _, Ajv2020 } from "ajv/dist/2020.js";
import type { KeywordDefinition } from "ajv/dist/core.js";
import { ValueScope } from "ajv/dist/compile/codegen/scope.js";
import standalone from "ajv/dist/standalone/index.js";
import { formats } from "../../runtime/contract/validation.js";
import { everyKeyword } from "../load/schema-keywords.js";
import { functionName } from "../model/validator-plan.js";
import { printFaultsShortly } from "./ajv-errors.js";
import { shortened } from "./validator-code.js";

/**
 * Knows the keywords that schemas can have here, and no others: Ajv goes through all of them for each schema in a schema.
 * Making one takes time, so one compiles all modules.
 */
class Compiler extends Ajv2020 {
  /** Forgets what it has compiled. Functions are numbered anew, because a module must not depend on others. */
  begin(): this {
    this.removeSchema();
    const scope = new ValueScope({ ...this.scope.opts, scope: {} });
    return Object.assign(this, { scope });
  }

  override addKeyword(added: string | KeywordDefinition): this {
    const names = typeof added === "string" ? [] : [added.keyword].flat();
    if (names.some((name) => everyKeyword.includes(name))) super.addKeyword(added);
    return this;
  }
}

/** Schemas refer to each other by names alone, which need no resolving. */
const names = {
  parse: (name: string) => ({ path: name }),
  resolve: (_base: string, name: string) => name,
  serialize: ({ path = "" }: { readonly path?: string }) => path,
};

function newCompiler(): Compiler {
  printFaultsShortly();
  const ajv = new Compiler({
    strict: false,
    allErrors: true,
    validateSchema: false,
    meta: false,
    inlineRefs: false,
    useDefaults: true,
    formats,
    uriResolver: names,
    code: {
      source: true,
      esm: true,
      lines: true,
      optimize: false,
      formats: _`formats`,
      // We only need the text: nobody calls the function here.
      process: () => "return () => true",
    },
  });
  // Keywords that need it are refused, but the constructor requires it anyway.
  ajv.opts.unevaluated = false;
  return ajv;
}

let compiler: Compiler | undefined;

/**
 * Compiles each schema to a function; they may refer to each other by their names. The text needs codePointLength, formats
 * and jsonEqual in scope. Where a schema has a default, the function puts it in.
 */
export function compileStandalone(schemas: Readonly<Record<string, object>>): string {
  compiler ??= newCompiler();
  const ajv = compiler.begin();
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
  const exported = Object.fromEntries(
    Object.keys(schemas).map((name) => [functionName(name), name]),
  );
  return rewritten(standalone.default(ajv, exported));
}

/** A name of one of Ajv's functions, which a string may contain as well; members with such a name aren't functions. */
const functionOfAjv = /(?<![\w$.])validate\d+\b/g;

/** Ajv's module text with its exports as plain functions and its requires as the runtime's helpers. */
function rewritten(text: string): string {
  const exportLine = /^export const (\w+) = (validate\d+);\n?/gm;
  const names = new Map(
    [...text.matchAll(exportLine)].map(([, name = "", inner = ""]) => [inner, name]),
  );
  const code = text
    .replace(/^"use strict";\n?/, "")
    .replaceAll(exportLine, "")
    .replaceAll(functionOfAjv, (found, at: number, whole: string) =>
      isInString(whole, at) ? found : (names.get(found) ?? found),
    )
    .replaceAll(`require("ajv/dist/runtime/ucs2length").default`, "codePointLength")
    .replaceAll(`require("ajv/dist/runtime/equal").default`, "jsonEqual");
  const unknown = /^const \w+ = require\([^)]*\).*$/m.exec(code);
  if (unknown !== null) throw new Error(`Ajv printed a require that is not known: ${unknown[0]}`);
  return shortened(code).trim();
}

/** Whether a place lies in a string. No string of Ajv's goes over a line. */
function isInString(text: string, place: number): boolean {
  let isInside = false;
  for (let at = text.lastIndexOf("\n", place) + 1; at < place; at += 1) {
    if (text[at] === '"') isInside = !isInside;
    else if (isInside && text[at] === "\\") at += 1;
  }
  return isInside;
}
