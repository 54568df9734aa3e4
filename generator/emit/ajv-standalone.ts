// Ajv standalone code as part of a TypeScript module: no require, our own formats and helpers.
import { _, Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { formats } from "../../runtime/contract/validation.js";

/** Compiles each schema to a function `<name>Check`. The text needs codePointLength, formats and jsonEqual in scope. */
export function compileStandalone(schemas: Readonly<Record<string, object>>): string {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    addUsedSchema: false,
    unevaluated: false,
    formats,
    code: { source: true, esm: true, lines: true, formats: _`formats` },
  });
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
  const exported = Object.fromEntries(Object.keys(schemas).map((name) => [`${name}Check`, name]));
  const generate = standalone.default;
  return rewritten(generate(ajv, exported), Object.keys(exported));
}

/** Ajv's module text with its exports as plain functions and its requires as the runtime's helpers. */
function rewritten(text: string, names: readonly string[]): string {
  let code = text
    .replace(/^"use strict";\n?/, "")
    .replaceAll(`require("ajv/dist/runtime/ucs2length").default`, "codePointLength")
    .replaceAll(`require("ajv/dist/runtime/equal").default`, "jsonEqual");
  for (const name of names) {
    const exported = new RegExp(`^export const ${name} = (\\w+);\\n?`, "m").exec(code);
    const inner = exported?.[1];
    if (exported === null || inner === undefined) throw new Error(`Ajv exported no ${name}`);
    code = code.replace(exported[0], "").replaceAll(new RegExp(`\\b${inner}\\b`, "g"), name);
  }
  if (/\brequire\(/.test(code))
    throw new Error(
      `Ajv printed a require that is not known: ${/require\([^)]*\)/.exec(code)?.[0]}`,
    );
  return code.trim();
}
