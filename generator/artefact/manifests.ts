// The `package.json` of an artefact, and of what it has of opwright.
import type { BuiltService } from "./built-service.js";
import type { Package } from "./packages.js";

/** Says in an artefact's `package.json` that the folder is one, and may be replaced. */
export const artefactMark = "artefact of opwright";

/** Prints that of the artefact: what it is, and which Node.js it needs. */
export function printManifest({ name, version }: BuiltService, opwright: Package): string {
  return printJson({
    name: name.replaceAll("_", "-"),
    version,
    private: true,
    description: `An ${artefactMark}: run node server.js.`,
    type: "module",
    engines: opwright.manifest.engines,
    scripts: { start: "node --enable-source-maps server.js" },
  });
}

/**
 * Prints that of opwright, by which the runtime knows its version. Packages that extend it and are
 * copied whole ask for the runtime by its name.
 */
export function printManifestOfRuntime(
  { name, version, manifest }: Package,
  isExtended: boolean,
): string {
  const { license } = manifest;
  const runtime = isExtended ? { "./runtime": "./runtime/index.js" } : {};
  const exports = { ...runtime, "./package.json": "./package.json" };
  return printJson({ name, version, license, type: "module", exports });
}

const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
