// testing.ts: the service as tests start it, with the types of its client, events and signals.
import type { RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements } from "../print/layout.js";
import { print } from "../print/templates.js";

/** The module. It types events and signals only if the service has them. */
export function emitTesting({ outbox, realtime }: RegistryModel): EmittedFile {
  const said = [
    ...(outbox === null ? [] : ["  readonly events: OutboxEvents;"]),
    ...(realtime === null ? [] : ["  readonly signals: DurableSignals & EphemeralSignals;"]),
  ];
  const view = {
    header: header("registry"),
    imports: importStatements([
      importOf("testing", "opwright/testing", false),
      importOf("createClient", "./client/index.js", false),
      importOf("Client", "./client/index.js", true),
      ...(outbox === null ? [] : [importOf("OutboxEvents", "./outbox.js", true)]),
      importOf("service", "./service.js", false),
      ...(realtime === null
        ? []
        : ["DurableSignals", "EphemeralSignals"].map((name) =>
            importOf(name, "./signals.js", true),
          )),
    ]),
    said,
    types: said.length === 0 ? "Client" : "Client, Said",
  };
  return { path: "testing.ts", text: print("testing.ts", view) };
}
