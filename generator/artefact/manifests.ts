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

/** Prints that of opwright, by which the runtime knows its version. */
export function printManifestOfRuntime({ name, version, manifest }: Package): string {
  const { license } = manifest;
  return printJson({
    name,
    version,
    license,
    type: "module",
    exports: { "./package.json": "./package.json" },
  });
}

const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
