// `realtime:` → signals with their types, commands, topics (service.md "Realtime wire protocol",
// decisions.md §2).
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { RealtimeDeclaration } from "./format.js";
import { durationSeconds } from "../../load/quantities.js";
import { authoredIn, functionReference } from "../../model/code.js";
import { referredType } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import type { RealtimeModel, SignalModel } from "./model.js";
import type { OperationModel } from "../../model/registry.js";
import { signalTarget } from "./emits.js";
import { formerEventsAreOwn } from "../../kernel/former-events.js";
import { deprecationOf, type FamilyContext } from "../../kernel/family.js";
import { isLeftOut, isSectionLeftOut } from "../../kernel/left-out.js";

const usualRetention = { age: "7d", entries: 10_000 };

/**
 * The realtime plane of a service; null if it declares none. Adds the types of its signals to the
 * table, and reports faults.
 */
export function realtimeModel(
  context: FamilyContext,
  operations: ReadonlyMap<string, OperationModel>,
): RealtimeModel | null {
  const { declarations, report, tree } = context;
  const { realtime } = declarations;
  if (realtime === undefined) return null;
  if (declarations.identity === undefined && !isSectionLeftOut(context, "identity")) {
    const message = "realtime delivers to principals, which identity makes known";
    report({ code: "OPW057", message, at: tree.keyAt("realtime") });
  }
  for (const [section, names] of [
    ["events", Object.keys(realtime.events)],
    ["commands", Object.keys(realtime.commands ?? {})],
  ] as const)
    for (const name of names) {
      const isOwn = name.startsWith("realtime.");
      if (!isOwn && (section === "events" || !Object.hasOwn(realtime.events, name))) continue;
      const message = isOwn
        ? `names with realtime. are the protocol's own`
        : `${name} is an event already`;
      report({ code: "OPW041", message, at: tree.keyAt("realtime", section, name) });
    }
  formerEventsAreOwn(context, "realtime", realtime.events);
  const events = Object.entries(realtime.events).map(
    ([name, declared]) => [name, signalModel(context, name, declared)] as const,
  );
  const commands = Object.entries(realtime.commands ?? {}).map(([name, { operation }]) => {
    const at = tree.at("realtime", "commands", name, "operation");
    const found = operations.get(operation);
    if (found === undefined) {
      const message = `there is no operation ${operation}`;
      if (isLeftOut(context, operation, "operations")) return [name, operation] as const;
      const suggestion = didYouMean(operation, operations.keys());
      report({ code: "OPW071", message, at, suggestion });
    } else if (authoredIn(found.run).length === 0) {
      const message = `${operation} is not one of your own operations`;
      report({ code: "OPW071", message, at });
    } else if (
      (found.route?.reply ?? null) !== null ||
      found.output.mediaType !== null ||
      found.output.isStream === true ||
      found.input.body?.media != null
    ) {
      const message = `${operation} can't be a command: it reads or sets headers, takes a body that isn't JSON, or answers with another format`;
      report({ code: "OPW016", message, at });
    }
    return [name, operation] as const;
  });
  const retention = { ...usualRetention, ...realtime.retention };
  return {
    path: (realtime.mount?.at ?? "/realtime").replace(/\/+$/, ""),
    transports: realtime.transports ?? ["sse", "websocket"],
    events: Object.fromEntries(events.sort(([left], [right]) => (left < right ? -1 : 1))),
    commands: Object.fromEntries(commands.sort(([left], [right]) => (left < right ? -1 : 1))),
    authorizer: realtime.topics === undefined ? null : functionReference(realtime.topics),
    presence: realtime.presence ?? false,
    retentionSeconds: durationSeconds(retention.age),
    retentionEntries: retention.entries,
  };
}

function signalModel(
  context: FamilyContext,
  name: string,
  { was, data, audience, delivery, to, deprecated }: RealtimeDeclaration["events"][string],
): SignalModel {
  const { report, tree, types } = context;
  const at = tree.at("realtime", "events", name, "delivery");
  if (delivery === "durable" && audience.includes("topic")) {
    const message = `${name} is durable, and topics have no mailbox`;
    report({ code: "OPW072", message, at });
  }
  const inlineName = `${pascalCase(name)}Signal`;
  const place = tree.at("realtime", "events", name, "data");
  const schema = types.readType(data, place, inlineName);
  const referred = schema === undefined ? undefined : referredType(schema);
  if (schema !== undefined && referred === undefined) types.table.add(inlineName, schema, place);
  const signal = {
    typeName: referred ?? inlineName,
    ...(was === undefined ? {} : { was }),
    audience,
    delivery,
    deprecated: deprecationOf(context, deprecated, ["realtime", "events", name, "deprecated"]),
  };
  const toAt = tree.at("realtime", "events", name, "to");
  return { ...signal, to: to === undefined ? null : signalTarget(context, to, signal, toAt) };
}
