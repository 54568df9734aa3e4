// client/package.json: what makes of the client a package that can be published.
import type { RegistryModel } from "../../model/registry.js";
import { jsonFile, type EmittedFile } from "../../print/file.js";
import { emitReadme } from "./readme.js";
import type { ClientSettings } from "./settings.js";

/** The version of socket.io-client that the client is tested with. */
const socketIoRange = "^4.8.0";

export function emitPackage(
  model: RegistryModel,
  settings: ClientSettings,
): readonly EmittedFile[] {
  const { service, realtime } = model;
  const name = settings.package ?? `${service.name}-client`;
  const hasSocketIo = realtime?.transports.includes("socketio") === true;
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
        ...(realtime === null ? {} : { "./realtime": entry("realtime") }),
        ...(settings.queries ? { "./queries/*": entry("queries/*") } : {}),
        ...(settings.mocks ? { "./mocks": entry("mocks") } : {}),
        "./package.json": "./package.json",
      },
      ...(hasSocketIo
        ? {
            peerDependencies: { "socket.io-client": socketIoRange },
            peerDependenciesMeta: { "socket.io-client": { optional: true } },
          }
        : {}),
      engines: { node: ">=20.19" },
    }),
    emitReadme(model, settings, name),
  ];
}
