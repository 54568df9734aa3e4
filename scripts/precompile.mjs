// dist/generator without the compiler of Handlebars: templates become functions when the package is built.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const options = { noEscape: true, strict: true, knownHelpersOnly: true };

/** Puts the templates, as functions, into the place of generator/print/compiled-template.ts, which compiles them on demand. */
export function precompileTemplates(root) {
  const handlebars = createRequire(join(root, "package.json"))("handlebars");
  const folder = join(root, "templates");
  const printers = readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".hbs"))
    .sort()
    .map((name) => {
      const template = name.slice(0, -".hbs".length).replaceAll("\\", "/");
      const code = handlebars.precompile(readFileSync(join(folder, name), "utf8"), options);
      return `${JSON.stringify(template)}: ${code},\n`;
    });
  writeFileSync(
    join(root, "dist/generator/print/compiled-template.js"),
    `import Handlebars from "handlebars/runtime.js";

const printers = {\n${printers.join("")}};

export const compiledTemplate = (template) => Handlebars.template(printers[template]);\n`,
  );
}
