// Modules of the project that ask where they are: they hear of the place that they had before they
// were bundled, seen from the artefact as it was from the project.
import { dirname, relative } from "node:path";
import type { Plugin } from "rolldown";
import { placePrefix, type Sides } from "./sides.js";

/**
 * Names of the same length as what they replace, so that no column moves: errors are still mapped
 * to the right place.
 */
const replaced = {
  "import.meta.url": "opwright_urlOf_",
  "import.meta.dirname": "opwright_dirnameOf_",
  "import.meta.filename": "opwright_filenameOf_",
} as const;

/** The project's own modules; those of packages are copied whole if they ask. */
export function modulePlaces(root: string, sides: Sides): Plugin {
  return {
    name: "opwright:places",
    resolveId: {
      handler: (specifier) => (specifier.startsWith(placePrefix) ? specifier : null),
    },
    load: {
      handler(id) {
        if (!id.startsWith(placePrefix)) return null;
        return placeModule(id.slice(placePrefix.length));
      },
    },
    transform: {
      handler(code, id) {
        if (id.startsWith("\0") || sides.of(id) !== "project") return null;
        const asked = Object.entries(replaced).filter(([name]) => code.includes(name));
        if (asked.length === 0) return null;
        const text = asked.reduce((all, [name, given]) => all.replaceAll(name, given), code);
        const names = asked.map(([, given]) => given).join(", ");
        return {
          code: `${text}\nimport { ${names} } from ${JSON.stringify(placePrefix + relative(root, id))};\n`,
          map: null,
        };
      },
    },
  };
}

/** Says where a module was: chunks of the project are in the artefact's root. */
function placeModule(path: string): string {
  const url = (to: string): string => `new URL(${JSON.stringify(to)}, import.meta.url)`;
  const folder = dirname(path);
  return [
    'import { fileURLToPath } from "node:url";',
    `export const ${replaced["import.meta.url"]} = ${url(`./${path}`)}.href;`,
    `export const ${replaced["import.meta.filename"]} = fileURLToPath(${url(`./${path}`)});`,
    `export const ${replaced["import.meta.dirname"]} = fileURLToPath(${url(`./${folder}`)});`,
    "",
  ].join("\n");
}
