// A template of `templates/` as a function. The built package has them as functions already,
// without the compiler (scripts/precompile.mjs).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Handlebars from "handlebars";
import { packageRoot } from "../project/package-root.js";

/** Reads and compiles a template. A name that its view lacks is an error. */
export function compiledTemplate(template: string): (view: unknown) => string {
  const text = readFileSync(join(packageRoot(), "templates", `${template}.hbs`), "utf8");
  return Handlebars.compile(text, { noEscape: true, strict: true, knownHelpersOnly: true });
}
