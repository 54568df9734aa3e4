// `outbox:` → integration events with their types and destinations (service.md "Integration events
// (outbox)").
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { referredType } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import { functionReference } from "../../model/code.js";
import type { OutboxEventModel } from "./model.js";
import { formerEventsAreOwn } from "../../kernel/former-events.js";
import { deprecationOf, type FamilyContext } from "../../kernel/family.js";

/** Events of the runtime, which declares their types itself. */
const ofRuntime = [
  "authn.password_reset_requested",
  "authn.sign_up_requested",
  "tenancy.member_invited",
];

/**
 * The events of `outbox:`, sorted by name; null if it isn't declared. Adds their types to the
 * table, and reports events that lack `data`, or have it although they are the runtime's (OPW058).
 */
export function outboxModel(
  context: FamilyContext,
): Readonly<Record<string, OutboxEventModel>> | null {
  const { declarations, tree, types, report } = context;
  const { outbox } = declarations;
  if (outbox === undefined) return null;
  const events = Object.entries(outbox.events).map(
    ([name, { destination, guard, was, data, deprecated }]) => {
      const isOurs = ofRuntime.includes(name);
      if ((data === undefined) !== isOurs) {
        report({
          code: "OPW058",
          message: isOurs ? `${name} has a type already` : `${name} does not say what it carries`,
          at: isOurs
            ? tree.at("outbox", "events", name, "data")
            : tree.keyAt("outbox", "events", name),
          suggestion: isOurs ? undefined : didYouMean(name, ofRuntime),
        });
      }
      const inlineName = `${pascalCase(name)}Event`;
      const at = tree.at("outbox", "events", name, "data");
      const schema =
        data === undefined || isOurs ? undefined : types.readType(data, at, inlineName);
      const referred = schema === undefined ? undefined : referredType(schema);
      if (schema !== undefined && referred === undefined) types.table.add(inlineName, schema, at);
      const model: OutboxEventModel = {
        typeName: schema === undefined ? null : (referred ?? inlineName),
        ...(was === undefined ? {} : { was }),
        destination: destination.includes("#") ? functionReference(destination) : destination,
        guard: guard ?? null,
        deprecated: deprecationOf(context, deprecated, ["outbox", "events", name, "deprecated"]),
      };
      return [name, model] as const;
    },
  );
  formerEventsAreOwn(context, "outbox", outbox.events);
  return Object.fromEntries(events.sort(([left], [right]) => (left < right ? -1 : 1)));
}
