// testing.ts: the service as tests start it, with the types of its client and of what families let
// tests look at.
import { families } from "../families/index.js";
import type { RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements } from "../print/layout.js";
import { print } from "../print/templates.js";

/** The module. */
export function emitTesting(model: RegistryModel): EmittedFile {
  const observed = families
    .flatMap((family) => family.observed(model))
    .sort((left, right) => (left.member < right.member ? -1 : 1));
  const modules = [
    importOf("service", "./service.js", false),
    ...observed.flatMap(({ names, from }) => names.map((name) => importOf(name, from, true))),
  ].sort((left, right) => Number(left.from > right.from) - Number(left.from < right.from));
  const view = {
    header: header("registry"),
    imports: importStatements([
      importOf("prepareTestService", "opwright/testing", false),
      importOf("createClient", "./client/index.js", false),
      importOf("Client", "./client/index.js", true),
      ...modules,
    ]),
    said: observed.map(({ member, type }) => `  readonly ${member}: ${type};`),
    types: observed.length === 0 ? "Client" : "Client, Said",
  };
  return { path: "testing.ts", text: print("testing.ts", view) };
}
