// webhooks.ts: what callers may subscribe to, as the runtime reads it.
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, listLayout, literal } from "../../print/layout.js";
import { print } from "../../print/templates.js";

/** The module `webhooks.ts`; none if the registry declares no `webhooks:`. */
export function emitWebhooks({ webhooks }: RegistryModel): readonly EmittedFile[] {
  if (webhooks === undefined) return [];
  return [
    {
      path: "webhooks.ts",
      text: print("webhooks.ts", {
        header: header("registry"),
        imports: importStatements([importOf("subscribing", "opwright/runtime", false)]),
        events: listLayout("  ", "events: ", webhooks.events.map(literal), ["[", "]"], ","),
        most: webhooks.most,
      }),
    },
  ];
}
