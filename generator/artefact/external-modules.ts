// Packages that aren't bundled, as the bundle sees them. One that is CommonJS is asked for where it
// was imported, and not before everything else, as an import that the bundle kept would be.
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import type { Plugin } from "rolldown";
import type { Manifest, Package } from "./packages.js";
import { externalPrefix, type Side } from "./sides.js";

/** How the bundler hears of a package that it leaves alone. */
export interface ExternalModule {
  readonly id: string;
  readonly external?: true;
}

/** `file` is what the specifier leads to in the package. */
export function externalModule(
  specifier: string,
  {
    kind,
    file,
    owner,
    importer,
  }: {
    readonly kind: string | undefined;
    readonly file: string;
    readonly owner: Package;
    readonly importer: Side;
  },
): ExternalModule {
  if (kind !== "import-statement" || isEcmaScript(file, owner))
    return { id: specifier, external: true };
  const side = typeof importer === "string" ? importer : "bundler";
  return { id: `${externalPrefix}${side}:${specifier}` };
}

/** How Node.js reads a file of a package ("Determining module system"). */
function isEcmaScript(file: string, { folder }: Package): boolean {
  if (extname(file) === ".mjs") return true;
  if (extname(file) !== ".js") return false;
  for (let at = dirname(file); at.startsWith(folder); at = dirname(at)) {
    const manifest = join(at, "package.json");
    if (!existsSync(manifest)) continue;
    const { type } = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
    if (type !== undefined) return type === "module";
    break;
  }
  return /(?:^|[;}])\s*(?:import|export)\b\s*["'{*\w]/m.test(readFileSync(file, "utf8"));
}

/** The modules that ask for them. */
export const externalModules: Plugin = {
  name: "opwright:external",
  resolveId: {
    order: "pre",
    handler(specifier, importer) {
      if (specifier.startsWith(externalPrefix)) return specifier;
      return importer?.startsWith(externalPrefix) ? { id: specifier, external: true } : null;
    },
  },
  load: {
    handler(id) {
      if (!id.startsWith(externalPrefix)) return null;
      const [, specifier = ""] = /^[^:]*:(.*)$/.exec(id.slice(externalPrefix.length)) ?? [];
      return `module.exports = require(${JSON.stringify(specifier)});\n`;
    },
  },
};
