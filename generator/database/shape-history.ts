// The next shape of a document type after its last one: members that come and go, and the stored
// names of renamed ones.
import type { Conversion, Shape, ShapeStep, StoredMember } from "../../runtime/contract/shapes.js";
import { canonicalBody, type Canonical } from "../../runtime/contract/canonical-values.js";
import { declaredMembers } from "../../runtime/contract/shapes.js";
import { asStored, storedName } from "../../runtime/contract/stored-members.js";
import type { Resolve } from "../kernel/resolve.js";
import { nestedChange, nestedMembers } from "./nested-members.js";
import { propertiesOf, type JsonSchema } from "../model/json-schema.js";
import { numberedName } from "../model/names.js";
import { own } from "../model/records.js";
import type { DocumentModel } from "../model/document-model.js";
import { type Fit, type StoredBodies, storedMembers } from "../model/stored-tables.js";

/**
 * The shape of a document type after its members changed: with one more step if any was added,
 * removed or converted.
 */
export function shapeAfter(
  before: StoredBodies | undefined,
  document: DocumentModel,
  resolve: Resolve,
): Shape {
  const declared = membersOf(document.bodySchema);
  const properties = Object.entries(propertiesOf(document.bodySchema));
  if (before === undefined) {
    const nested = nestedMembers(Object.fromEntries(properties), resolve);
    // In the order in which later shapes have them: else the next run would write the file anew.
    return { members: declared, steps: [], ...(nested === undefined ? {} : { nested }) };
  }
  const rows = storedMembers(before);
  const { steps, ...earlier } = before.shape ?? { members: [...rows], steps: [] };
  const { stored, converts } = storedAs(document, { ...earlier, steps }, before.fits ?? {});
  const kept = declared === null ? {} : keptMembers({ ...earlier, steps }, document, before.fits);
  const keptAs = Object.entries(earlier.stored ?? {}).filter(([, { name }]) =>
    Object.hasOwn(kept, name),
  );
  const named: Shape = {
    members: null,
    ...(Object.keys(stored).length + keptAs.length === 0
      ? {}
      : { stored: { ...Object.fromEntries(keptAs), ...stored } }),
    ...(Object.keys(kept).length === 0 ? {} : { kept }),
    steps,
  };
  const members =
    declared === null
      ? null
      : [...declared.map((member) => storedName(named, member)), ...Object.keys(kept)];
  const nested = nestedMembers(
    Object.fromEntries(properties.map(([member, schema]) => [storedName(named, member), schema])),
    resolve,
  );
  const within = nestedChange(earlier.nested, nested);
  const adds = Object.entries(
    asStored(named, { ...document.defaults, ...document.formerly }),
  ).filter(([member]) => !rows.has(member) && !Object.hasOwn(converts, member));
  const drops =
    members === null ? [] : (earlier.members ?? []).filter((member) => !members.includes(member));
  const isConverted = Object.keys(converts).length > 0;
  const comesBack = within === "other" || drops.some((member) => isAddedLater(before, member));
  const step: readonly ShapeStep[] =
    adds.length === 0 && drops.length === 0 && !isConverted && within === "none"
      ? []
      : [
          {
            adds: Object.fromEntries(adds),
            drops,
            ...(isConverted ? { converts } : {}),
            ...(comesBack ? { comesBack } : {}),
          },
        ];
  return {
    ...named,
    members,
    ...(nested === undefined ? {} : { nested }),
    steps: [...steps, ...step],
  };
}

/**
 * Whether documents might lack a member, and have it later: those of the version before get it by a
 * patch.
 */
function isAddedLater({ required, members, shape }: StoredBodies, member: string): boolean {
  return [required, Object.keys(members), Object.keys(shape?.kept ?? {})].every(
    (names) => !names.includes(member),
  );
}

/**
 * Members that rows keep although documents no longer have them, with the values of new rows, by
 * their names in rows.
 */
function keptMembers(
  before: Shape,
  { dropped, bodySchema }: DocumentModel,
  fits: StoredBodies["fits"] = {},
): Readonly<Record<string, unknown>> {
  const known = declaredMembers(before);
  const entries = Object.entries(dropped).filter(
    ([member]) => known.includes(member) && !Object.hasOwn(propertiesOf(bodySchema), member),
  );
  const canonical = entries.flatMap(([member]): readonly (readonly [string, Canonical])[] => {
    const type = own(fits, member)?.type;
    return type === "uuid" || type === "date-time" ? [[member, type]] : [];
  });
  return asStored(
    before,
    canonicalBody(Object.fromEntries(entries), Object.fromEntries(canonical)),
  );
}

interface Storing {
  /** Names in rows of members, and of their values, where they differ from those in documents. */
  readonly stored: Readonly<Record<string, StoredMember>>;
  /** Members that are computed from other members from this step on. */
  readonly converts: NonNullable<ShapeStep["converts"]>;
}

/**
 * The names in rows of a document's members. A renamed member keeps its first name in rows. A
 * converted one gets a new name, because during a rollout the previous version goes on reading the
 * old one.
 */
function storedAs(
  { bodySchema, former, enums, dropped }: DocumentModel,
  before: Shape,
  fits: Readonly<Record<string, Fit>>,
): Storing {
  const known = new Set(declaredMembers(before));
  const members = Object.keys(propertiesOf(bodySchema)).map((member) => {
    const { name = null, by = null } = own(former, member) ?? {};
    const from = known.has(member) ? member : name;
    const isKnown = from !== null && known.has(from);
    const old = isKnown ? storedName(before, from) : null;
    const isConverted = old !== null && by !== null && lastConversion(before, old) !== by;
    return { member, from: isKnown ? from : null, old, by: isConverted ? by : null };
  });
  // What rows keep for the version before keeps its name as well.
  const keptNames = Object.keys(dropped).filter((member) => known.has(member));
  const taken = new Set([
    ...members.flatMap(({ old }) => old ?? []),
    ...keptNames.map((member) => storedName(before, member)),
  ]);
  const stored: [string, StoredMember][] = [];
  const converts: Record<string, Conversion> = {};
  for (const { member, from, old, by } of members) {
    const name =
      old === null || by !== null ? numberedName(member, (wanted) => taken.has(wanted)) : old;
    taken.add(name);
    if (old !== null && by !== null)
      converts[name] = { from: old, by, takes: typeOf(own(fits, from ?? "")) };
    const earlier = from === null ? undefined : (own(before.stored ?? {}, from)?.values ?? {});
    const values =
      earlier === undefined || by !== null
        ? {}
        : valuesAs(own(enums, member) ?? [], own(former, member)?.values ?? {}, earlier);
    const hasValues = Object.keys(values).length > 0;
    if (name !== member || hasValues)
      stored.push([member, { name, ...(hasValues ? { values } : {}) }]);
  }
  return { stored: Object.fromEntries(stored), converts };
}

/**
 * The type of a converter's argument, in TypeScript. If it isn't known, `never` lets a converter
 * take anything.
 */
function typeOf(fit: Fit | undefined): string {
  switch (fit?.type) {
    case undefined:
    case "object":
      return "never";
    case "integer":
    case "number":
      return "number | null";
    case "boolean":
      return "boolean | null";
    default:
      return "string | null";
  }
}

/** The function that last computed the member with this name in rows, if any did. */
function lastConversion({ steps }: Shape, name: string): string | undefined {
  return steps.findLast(({ converts }) => own(converts ?? {}, name) !== undefined)?.converts?.[name]
    ?.by;
}

/** The names in rows of an enumeration's values, where they differ from those in documents. */
function valuesAs(
  values: readonly string[],
  former: Readonly<Record<string, string>>,
  earlier: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const renamed = values.flatMap((value): readonly (readonly [string, string])[] => {
    const was = own(former, value);
    const stored =
      own(earlier, value) ?? (was === undefined ? undefined : (own(earlier, was) ?? was));
    return stored === undefined ? [] : [[value, stored]];
  });
  const names = new Map(renamed);
  const taken = new Set(names.values());
  const others = values
    .filter((value) => !names.has(value) && taken.has(value))
    .map((value) => [value, numberedName(value, (wanted) => taken.has(wanted))] as const);
  return Object.fromEntries([...renamed, ...others].filter(([value, stored]) => value !== stored));
}

/** The members that bodies may have; null if they may have any. */
function membersOf(body: JsonSchema): readonly string[] | null {
  const isClosed = typeof body === "object" && body["additionalProperties"] === false;
  return isClosed && !("patternProperties" in body) ? Object.keys(propertiesOf(body)) : null;
}
