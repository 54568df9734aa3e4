// `emits:` of documents and `to:` of events: which signals a write of a document sends, and to
// whom.
import { didYouMean, didYouMeanOr } from "../../diagnostics/did-you-mean.js";
import type { Origin } from "../../diagnostics/diagnostics.js";
import { compareSchemas } from "../../compare/schemas.js";
import { propertiesOf, requiredOf, withoutNull, type JsonSchema } from "../../model/json-schema.js";
import type { DocumentModel, EmissionModel } from "../../model/document-model.js";
import { own } from "../../model/records.js";
import {
  fieldInBraces,
  fieldsOfTarget,
  readTarget,
  targetOfEmission,
} from "../documents/members/emissions.js";
import type { RealtimeModel, SignalModel, SignalTargetModel } from "./model.js";
import { resolveSchema, type Resolve } from "../../kernel/resolve.js";
import type { FamilyContext } from "../../kernel/family.js";
import { isSectionLeftOut } from "../../kernel/left-out.js";

/**
 * Reports emissions whose event doesn't exist, carries something else or has no `to` (OPW074), and
 * fields that the document doesn't have (OPW030).
 */
export function checkEmits(
  context: FamilyContext,
  documents: ReadonlyMap<string, DocumentModel>,
  realtime: RealtimeModel | null,
): void {
  const { tree, report } = context;
  const events: Readonly<Record<string, SignalModel>> = realtime?.events ?? {};
  for (const document of documents.values()) {
    const { name, typeName, emits } = document;
    for (const emission of emits) {
      const { on, event: key, ifChanged } = emission;
      const at = tree.at("documents", name, "emits", on);
      const event = own(events, key);
      if (event === undefined) {
        const example = `Declare it: \`realtime: {events: {${key}: {data: ${typeName}, audience: [principal], to: "{owner_id}", delivery: durable}}}\`.`;
        const advice = didYouMeanOr(key, Object.keys(events), example);
        if (realtime !== null || !isSectionLeftOut(context, "realtime"))
          report({ code: "OPW074", message: `there is no event ${key}`, at, ...advice });
        continue;
      }
      checkFields(context, typeName, emission, event, at);
      const faults = faultsOf(context, document, emission, event);
      for (const message of faults) report({ code: "OPW074", message, at });
      if (ifChanged !== null && on !== "update")
        report({ code: "OPW074", message: `only an update changes fields, ${on} does not`, at });
    }
  }
}

/** Reports fields that an emission names and the document doesn't have. */
function checkFields(
  { report, types }: FamilyContext,
  typeName: string,
  { data = {}, to, ifChanged }: EmissionModel,
  event: SignalModel,
  at: Origin,
): void {
  const fields = Object.keys(propertiesOf(types.table.schemas.get(typeName) ?? true));
  const heard = to === undefined ? [] : fieldsOfTarget(readTarget(to, event));
  for (const field of new Set([...Object.values(data), ...heard, ...(ifChanged ?? [])])) {
    if (fields.includes(field)) continue;
    const message = `${typeName} has no field ${field}`;
    report({ code: "OPW030", message, at, suggestion: didYouMean(field, fields) });
  }
}

/** What stands against an emission of an event that there is. */
function faultsOf(
  context: FamilyContext,
  document: DocumentModel,
  emission: EmissionModel,
  event: SignalModel,
): readonly string[] {
  const { typeName } = document;
  const { data, to, event: name } = emission;
  if (data === undefined && event.typeName !== typeName)
    return [`${name} carries ${event.typeName}, not ${typeName}: say its \`data\``];
  const target = targetOfEmission(emission, event);
  if (target === null) return [`${name} does not say to whom it goes`];
  const faults = data === undefined ? [] : faultsOfData(context, document, data, event);
  if (to === undefined) {
    const missing = fieldsOfTarget(target).filter((field) => field === "");
    return missing.length === 0
      ? faults
      : [...faults, `${name} goes to members that \`data\` lacks`];
  }
  if (to === "" || hasStrayBraces(to))
    return [...faults, `${JSON.stringify(to)} has braces without a field, or is empty`];
  if ("topic" in target && !event.audience.includes("topic"))
    return [...faults, `${name} goes to principals, and ${to} is not one field`];
  const faultsOfField = judgeFields(context, typeName, "principal" in target);
  // A topic that is called like a field is a principal without its braces.
  if (event.audience.includes("topic") && faultsOfField(to) !== undefined)
    return [...faults, `${to} is a topic of that name: write {${to}} for the principal`];
  return [...faults, ...fieldsOfTarget(target).flatMap((field) => faultsOfField(field) ?? [])];
}

/** What of a chosen payload the event would not carry. */
function faultsOfData(
  { types }: FamilyContext,
  { typeName, bodySchema }: DocumentModel,
  data: Readonly<Record<string, string>>,
  event: SignalModel,
): readonly string[] {
  const schemaOf = (type: string): JsonSchema => types.table.schemas.get(type) ?? true;
  const [document, payload] = [schemaOf(typeName), schemaOf(event.typeName)];
  const [fields, members] = [propertiesOf(document), propertiesOf(payload)];
  const all = Object.fromEntries(types.table.schemas);
  const missing = requiredOf(payload).filter((member) => own(data, member) === undefined);
  const unfit = Object.entries(data).flatMap(([member, field]) => {
    const [wanted, given] = [own(members, member), own(fields, field)];
    if (given === undefined) return [];
    if (wanted === undefined) return [`${event.typeName} has no member ${member}`];
    // A chosen payload has what only some may see of the document.
    const always = [...requiredOf(document), ...requiredOf(bodySchema)];
    const isThere = always.includes(field) || !requiredOf(payload).includes(member);
    const isFit = isThere && takesAll(wanted, given, all);
    return isFit ? [] : [`${member} of ${event.typeName} does not take every ${field}`];
  });
  return [...missing.map((member) => `${event.typeName} needs ${member}`), ...unfit];
}

/** Whether a schema takes whatever another one takes, both among these types. */
function takesAll(
  wanted: JsonSchema,
  given: JsonSchema,
  types: Readonly<Record<string, JsonSchema>>,
): boolean {
  let isFit = true;
  const met = new Set<string>();
  const compare = (from: JsonSchema, to: JsonSchema): void =>
    compareSchemas(from, to, {
      before: types,
      after: types,
      today: "1970-01-01",
      direction: "input",
      note({ level }) {
        if (level === "breaking") isFit = false;
      },
      meet(before, after) {
        const pair = `${before} ${after}`;
        if (before === after || met.has(pair)) return;
        met.add(pair);
        compare(own(types, before) ?? true, own(types, after) ?? true);
      },
    });
  compare(given, wanted);
  return isFit;
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
  const fields = [...to.matchAll(fieldInBraces)].map(([, field = ""]) => field);
  const isPrincipal = audience.includes("principal") && /^\{[^{}]*\}$/.test(to);
  const refuse = (message: string): null => {
    report({ code: "OPW073", message, at });
    return null;
  };
  if (hasStrayBraces(to)) return refuse(`${JSON.stringify(to)} has braces without a field`);
  const faultsOfField = judgeFields({ types }, typeName, isPrincipal);
  for (const field of fields) {
    const faults = faultsOfField(field);
    if (faults === undefined) return refuse(`${typeName} has no field ${field}`);
    const [fault] = faults;
    if (fault !== undefined) return refuse(fault);
  }
  const [field = ""] = fields;
  if (isPrincipal) return { principal: field };
  if (audience.includes("topic")) return { topic: to };
  return refuse("only events with topics go to one");
}

function hasStrayBraces(to: string): boolean {
  return /[{}]/.test(to.replaceAll(fieldInBraces, ""));
}

/**
 * Says of a field of a type what keeps it from naming a principal, or from standing in a topic;
 * undefined if there is no such field.
 */
function judgeFields(
  { types }: Pick<FamilyContext, "types">,
  typeName: string,
  isPrincipal: boolean,
): (field: string) => readonly string[] | undefined {
  const resolve: Resolve = (type) => types.table.schemas.get(type);
  const members = propertiesOf(types.table.schemas.get(typeName) ?? true);
  return (field) => {
    const schema = own(members, field);
    if (schema === undefined) return undefined;
    const value = resolveSchema(withoutNull(schema), resolve);
    const isFit = isPrincipal ? isUuid(value) : isScalar(value);
    return isFit ? [] : [`${field} is no ${isPrincipal ? "UUID" : "single value"}`];
  };
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
