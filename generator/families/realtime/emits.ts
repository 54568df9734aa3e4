// `emits:` of documents and `to:` of events: which signals a write of a document sends, and to
// whom.
import { didYouMean, didYouMeanOr } from "../../diagnostics/did-you-mean.js";
import type { Origin } from "../../diagnostics/diagnostics.js";
import { propertiesOf, withoutNull, type JsonSchema } from "../../model/json-schema.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { RealtimeModel, SignalModel, SignalTargetModel } from "./model.js";
import { resolveSchema, type Resolve } from "../../kernel/resolve.js";
import type { FamilyContext } from "../../kernel/family.js";
import { isSectionLeftOut } from "../../kernel/left-out.js";

/** A field in braces, as in `project:{project}`. */
const fieldInBraces = /\{([A-Za-z_][\w-]*)\}/g;

/**
 * Reports emissions whose event doesn't exist, carries another type or has no `to` (OPW074), and
 * `if_changed` that names unknown fields (OPW030) or isn't about an update.
 */
export function checkEmits(
  context: FamilyContext,
  documents: ReadonlyMap<string, DocumentModel>,
  realtime: RealtimeModel | null,
): void {
  const { tree, report, types } = context;
  const events: Readonly<Record<string, SignalModel>> = realtime?.events ?? {};
  for (const { name, typeName, emits } of documents.values()) {
    const fields = Object.keys(propertiesOf(types.table.schemas.get(typeName) ?? true));
    for (const { on, event, ifChanged } of emits) {
      const at = tree.at("documents", name, "emits", on);
      const fault = faultOf(
        event,
        Object.hasOwn(events, event) ? events[event] : undefined,
        typeName,
      );
      const example = `Declare it: \`realtime: {events: {${event}: {data: ${typeName}, audience: [principal], to: "{owner_id}", delivery: durable}}}\`.`;
      const advice = Object.hasOwn(events, event)
        ? {}
        : didYouMeanOr(event, Object.keys(events), example);
      const isTold = realtime === null && isSectionLeftOut(context, "realtime");
      if (fault !== null && !isTold) report({ code: "OPW074", message: fault, at, ...advice });
      if (ifChanged !== null && on !== "update")
        report({ code: "OPW074", message: `only an update changes fields, ${on} does not`, at });
      for (const field of ifChanged ?? [])
        if (!fields.includes(field)) {
          const message = `${typeName} has no field ${field}`;
          report({ code: "OPW030", message, at, suggestion: didYouMean(field, fields) });
        }
    }
  }
}

function faultOf(name: string, event: SignalModel | undefined, typeName: string): string | null {
  if (event === undefined) return `there is no event ${name}`;
  if (event.typeName !== typeName) return `${name} carries ${event.typeName}, not ${typeName}`;
  return event.to === null ? `${name} does not say to whom it goes` : null;
}

/**
 * Reads `to` of an event: `{field}` is a principal if principals are in its audience, anything else
 * is a topic. Null, and reported (OPW073), if it fits neither.
 */
export function signalTarget(
  { report, types }: FamilyContext,
  to: string,
  { typeName, audience }: Pick<SignalModel, "typeName" | "audience">,
  at: Origin,
): SignalTargetModel | null {
  const resolve: Resolve = (type) => types.table.schemas.get(type);
  const members = propertiesOf(types.table.schemas.get(typeName) ?? true);
  const fields = [...to.matchAll(fieldInBraces)].map(([, field = ""]) => field);
  const isPrincipal = audience.includes("principal") && /^\{[^{}]*\}$/.test(to);
  const refuse = (message: string): null => {
    report({ code: "OPW073", message, at });
    return null;
  };
  if (/[{}]/.test(to.replaceAll(fieldInBraces, "")))
    return refuse(`${JSON.stringify(to)} has braces without a field`);
  for (const field of fields) {
    const schema = Object.hasOwn(members, field) ? members[field] : undefined;
    if (schema === undefined) return refuse(`${typeName} has no field ${field}`);
    const value = resolveSchema(withoutNull(schema), resolve);
    if (isPrincipal ? !isUuid(value) : !isScalar(value))
      return refuse(`${field} is no ${isPrincipal ? "UUID" : "single value"}`);
  }
  const [field = ""] = fields;
  if (isPrincipal) return { principal: field };
  if (audience.includes("topic")) return { topic: to };
  return refuse("only events with topics go to one");
}

function isUuid(schema: JsonSchema): boolean {
  return typeof schema === "object" && schema["format"] === "uuid";
}

function isScalar(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return false;
  return (
    ["string", "integer", "boolean"].includes(String(schema["type"])) ||
    schema["enum"] !== undefined
  );
}
