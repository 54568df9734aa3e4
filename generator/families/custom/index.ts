// The custom family: operations of the author's own, each with its path, input, output and handler.
import { clientParts, expansion, family } from "../../kernel/family.js";
import { isOfItems } from "../../model/operation-types.js";
import { inputDefaults } from "./defaults.js";
import { expandOperation } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";

export const custom = family({
  name: "custom",
  format,
  diagnostics,
  expand: (context) =>
    expansion(null, {
      routed: Object.entries(context.declarations.operations).flatMap(
        ([key, declaration]) => expandOperation(context, key, declaration) ?? [],
      ),
    }),
  defaults: inputDefaults,
  client: ({ operations }) => {
    const streams = Object.values(operations).some(({ output }) => isOfItems(output));
    return clientParts(streams ? { copied: ["items"], exported: ["items"] } : {});
  },
  compare: null,
  rollout: null,
});
