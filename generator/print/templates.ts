// The Handlebars skeletons of emitted files: compiled once, no logic beyond each and if.
import { compiledTemplate } from "./compiled-template.js";

const compiled = new Map<string, (view: unknown) => string>();

/** Prints a template of `templates/` with a view. A name that the view lacks is an error. */
export function print(template: string, view: unknown): string {
  const printer = compiled.get(template) ?? compiledTemplate(template);
  compiled.set(template, printer);
  return printer(view);
}
