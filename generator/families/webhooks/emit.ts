// webhooks.ts: what callers may subscribe to and who may, as the runtime reads it.
import { authoredIn } from "../../model/code.js";
import type { HookUse, RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importStatements, listLayout, mapMember, propertyKey } from "../../print/layout.js";
import type { ModulePaths } from "../../print/module-path.js";
import { ModuleScope } from "../../print/module-scope.js";
import { print } from "../../print/templates.js";

const path = "webhooks.ts";

/** The module `webhooks.ts`; none if the registry declares no `webhooks:`. */
export function emitWebhooks(
  { webhooks, identity }: RegistryModel,
  paths: ModulePaths,
): readonly EmittedFile[] {
  if (webhooks === undefined) return [];
  const { asked, events, guards, most, was } = webhooks;
  const hooksOf = (event: string): readonly HookUse[] => guards[event]?.hooks ?? [];
  const scope = new ModuleScope({
    paths,
    path,
    declares: ["webhooksSpec"],
    authored: [...asked, ...events.flatMap(hooksOf)].flatMap(({ run }) =>
      authoredIn(run).map(({ file }) => file),
    ),
  });
  const maker = scope.runtime("defineWebhooks");
  const listed = (indent: string, member: string, hooks: readonly HookUse[]): string =>
    listLayout(
      indent,
      `${member}: `,
      hooks.map(({ run }) => scope.code(run)),
      ["[", "]"],
      ",",
    );
  const lines = [
    ...(events.length === 0
      ? ["  events: {},"]
      : [
          "  events: {",
          ...events.map((event) => listed("    ", propertyKey(event), hooksOf(event))),
          "  },",
        ]),
    ...(was === undefined ? [] : [mapMember("  ", "was", was)]),
    listed("  ", "guard", asked),
  ];
  return [
    {
      path,
      text: print(path, {
        header: header("registry"),
        maker,
        lines,
        hasTenancy: String(identity?.hasTenancy ?? false),
        most,
        imports: importStatements(scope.imports),
      }),
    },
  ];
}
