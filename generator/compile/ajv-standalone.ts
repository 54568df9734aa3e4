// Ajv standalone code as part of a TypeScript module: no require, our own formats and helpers.
import { _, Ajv2020 } from "ajv/dist/2020.js";
import type { KeywordDefinition } from "ajv/dist/core.js";
import { ValueScope } from "ajv/dist/compile/codegen/scope.js";
import standalone from "ajv/dist/standalone/index.js";
import { formats } from "../../runtime/contract/validation.js";
import { everyKeyword } from "../load/schema-keywords.js";
import { withDecimalMultiples } from "./decimal-multiples.js";
import { functionName } from "../model/validator-plan.js";
import { printErrorsShortly } from "./ajv-errors.js";
import { withUniqueItems } from "./unique-items.js";
import { withChosenBranches } from "./unions.js";
import { shortenCode } from "./validator-code.js";

/**
 * Only knows the keywords that registries may use, because Ajv goes through all known keywords for
 * every subschema. Making a compiler takes time, so one compiles all modules.
 */
class Compiler extends Ajv2020 {
  /**
   * Forgets what it has compiled, and numbers functions from the start: a module's text must not
   * depend on others.
   */
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

/** A URI resolver for schemas that refer to each other by plain names. */
const names = {
  parse: (name: string) => ({ path: name }),
  resolve: (_base: string, name: string) => name,
  serialize: ({ path = "" }: { readonly path?: string }) => path,
};

function newCompiler(): Compiler {
  printErrorsShortly();
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
  // The constructor of Ajv2020 turns it on, for keywords that registries can't use.
  ajv.opts.unevaluated = false;
  return withChosenBranches(withUniqueItems(withDecimalMultiples(ajv)));
}

let compiler: Compiler | undefined;

/**
 * Compiles each schema to a function; schemas may refer to each other by name. The text needs
 * codePointLength, formats, isMultipleOf, joinErrors, jsonEqual and repeatedItems in scope. A
 * function fills in defaults of its schema. Throws if a schema doesn't compile.
 */
export function compileStandalone(schemas: Readonly<Record<string, object>>): string {
  compiler ??= newCompiler();
  const ajv = compiler.begin();
  // Copies: one object of two names would get one function.
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema({ ...schema }, name);
  const exported = Object.fromEntries(
    Object.keys(schemas).map((name) => [functionName(name), name]),
  );
  return rewritten(standalone.default(ajv, exported));
}

/** The name of one of Ajv's functions, but of no member. Strings may contain such a name. */
const functionOfAjv = /(?<![\w$.])validate\d+\b/g;

/**
 * Ajv's module text with its exports as plain functions and its requires as the runtime's helpers.
 * Throws if it can't.
 */
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
  return shortenCode(code).trim();
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
