// The Handlebars skeletons of emitted files: read once, compiled once, no logic beyond each and if.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Handlebars from "handlebars";
import { packageRoot } from "../package-root.js";

const compiled = new Map<string, (view: unknown) => string>();

/** Prints a template of `templates/` with a view. A name that the view lacks is an error. */
export function print(template: string, view: unknown): string {
  const known = compiled.get(template);
  if (known !== undefined) return known(view);
  const text = readFileSync(join(packageRoot(), "templates", `${template}.hbs`), "utf8");
  const printer = Handlebars.compile(text, {
    noEscape: true,
    strict: true,
    knownHelpersOnly: true,
  });
  compiled.set(template, printer);
  return printer(view);
}
