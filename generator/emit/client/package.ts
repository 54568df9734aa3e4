// client/package.json, so that the client can be published.
import type { ClientParts } from "../../kernel/family.js";
import type { RegistryModel } from "../../model/registry.js";
import { jsonFile, type EmittedFile } from "../../print/file.js";
import { emitReadme } from "./readme.js";
import type { ClientSettings } from "./settings.js";

/**
 * The first version that passes a context to mutation functions, which tells tries of one mutation
 * from others.
 */
const queryRange = "^5.89.0";

/** Optional peer dependencies: the client works with them if an application has them. */
function peersOf(ranges: Readonly<Record<string, string>>): object {
  const names = Object.keys(ranges);
  if (names.length === 0) return {};
  const meta = Object.fromEntries(names.map((name) => [name, { optional: true }]));
  return { peerDependencies: ranges, peerDependenciesMeta: meta };
}

/** package.json and README.md of the client, with the version of the service. */
export function emitPackage(
  model: RegistryModel,
  settings: ClientSettings,
  parts: readonly ClientParts[],
): readonly EmittedFile[] {
  const { service } = model;
  const name = settings.package ?? `${service.name}-client`;
  const entry = (file: string): object => ({
    types: `./${file}.d.ts`,
    default: `./${file}.js`,
  });
  return [
    jsonFile("client/package.json", {
      name,
      version: service.version,
      description: `Typed client of ${service.title}`,
      type: "module",
      sideEffects: false,
      exports: {
        ".": entry("index"),
        ...Object.fromEntries(
          parts.flatMap(({ entries }) => entries.map((file) => [`./${file}`, entry(file)])),
        ),
        ...(settings.queries ? { "./queries/*": entry("queries/*") } : {}),
        ...(settings.mocks ? { "./mocks": entry("mocks") } : {}),
        "./package.json": "./package.json",
      },
      ...peersOf({
        ...(settings.queries ? { "@tanstack/query-core": queryRange } : {}),
        ...Object.assign({}, ...parts.map(({ peers }) => peers)),
      }),
      engines: { node: ">=20.19" },
    }),
    emitReadme(model, settings, parts, name),
  ];
}
