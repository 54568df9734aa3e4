// What changes of documents take of a rollout: rows know their shape, and versions beside each
// other read each other's.
import { isDeepStrictEqual } from "node:util";
import {
  need,
  needsOfAll,
  type Need,
  type Rolling,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { firstShape } from "../../../runtime/contract/shapes.js";
import { storedField, storedName } from "../../../runtime/contract/stored-members.js";
import { propertiesOf, type JsonSchema } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import type { DocumentModel, ReferenceModel, UniqueModel } from "../../model/document-model.js";
import type { TableSchema } from "../../model/stored-tables.js";
import { fieldsHiddenAnew } from "./members/compare-visible.js";
import { laterWrites, needsOfWidening } from "./members/widening.js";

const document: RolloutRules<DocumentModel> = {
  name: null,
  source: null,
  description: null,
  // Documents are compared by their tables.
  table: null,
  typeName: null,
  createTypeName: null,
  patchTypeName: null,
  readTypeName: null,
  // Rows of a tenant, and of none, are other rows.
  tenant: (was, _is, { name }) =>
    need(
      "leaves stored things behind",
      `${name} that are stored are ${was.tenant ? "of tenants, and nobody sees them" : "of no tenant, and no tenant sees them"} from then on: declare another document, and move them with a handler`,
    ),
  sensitive: null,
  // Turned off, the migration looks for marked rows.
  softDelete: (_was, is, { name }) =>
    is.softDelete
      ? need(
          "clients meet both versions",
          `the version before still lists ${name} that the next one has marked as deleted: delete none until no older process is left`,
        )
      : need(
          "needs two releases",
          `the version before goes on marking ${name} as deleted, which nobody can restore then: first roll out one without its operation \`delete\` (by \`mount.include\`), then turn it off`,
        ),
  listDeleted: null,
  history: (was, is, { name }) =>
    is.history !== null && is.history !== 0 && (was.history ?? Infinity) > is.history
      ? need(
          "safe to roll",
          `revisions of ${name} beyond the last ${is.history} are removed as documents are written, and a rollback doesn't bring them back`,
        )
      : [],
  revisions: null,
  readsDeleted: null,
  deletedForSeconds: (was, is, { name }) =>
    (is.deletedForSeconds ?? Infinity) < (was.deletedForSeconds ?? Infinity)
      ? need(
          "safe to roll",
          `deleted ${name} that are older than that are removed for good within an hour, and a rollback doesn't bring them back`,
        )
      : [],
  defaults: null,
  nullable: null,
  canonical: null,
  fields: null,
  elements: null,
  enums: null,
  decimals: null,
  former: null,
  formerly: null,
  dropped: null,
  indexes: null,
  // The index stays for the version before, and binds both, until it is purged.
  unique: (was, is, { name, before, after }) =>
    was.unique
      .filter((rule) => !is.unique.some((other) => isAsStrict(other, rule)))
      .flatMap((rule) => {
        const { fields } = rule;
        const index = indexOfRule(rule, own(before.database.tables, was.table));
        return Object.hasOwn(own(after.database.tables, is.table)?.indexes ?? {}, index)
          ? need(
              "safe to roll",
              `${name} may not have the same ${fields.join(" and ")} until no older process is left and \`migrations purge\` has dropped ${index}: until then both versions answer unique_violation`,
            )
          : need(
              "needs two releases",
              `${index} is dropped, which the version before still promises: first roll out what does not declare it, then purge`,
            );
      }),
  // The previous version doesn't hold a rule that it doesn't know.
  overlaps: (was, is, { name }) =>
    is.overlaps.some((rule) => !was.overlaps.some((other) => isDeepStrictEqual(other, rule)))
      ? need(
          "clients meet both versions",
          `${name} keeps ranges from overlapping in the next version alone: the one before still stores what overlaps, and what is stored already stays`,
        )
      : [],
  countUpTo: null,
  takesReplica: null,
  takesIds: (was, is, { name }) =>
    is.takesIds && !was.takesIds
      ? need(
          "clients meet both versions",
          `${name} take ids of clients in the next version alone: the one before refuses them`,
        )
      : [],
  key: (was, is, { name }) =>
    is.key === null || is.key === was.key
      ? []
      : need(
          "clients meet both versions",
          `${name} are found by ${is.key} in the next version alone: to the one before, it is no id`,
        ),
  // The version before lets any value follow any other, or others than the next one.
  states: (was, is, { name }) =>
    is.states === null || isDeepStrictEqual(was.states, is.states)
      ? []
      : need(
          "clients meet both versions",
          `${name} have other states in the version before: it still lets what may follow there`,
        ),
  // The version before shows all, or asks another policy.
  visible: (was, is, { name }) => {
    const fields = fieldsHiddenAnew(was, is);
    return fields.length === 0
      ? []
      : need(
          "clients meet both versions",
          `${name} hide ${fields.join(" and ")} in the next version alone: the one before still shows what it did`,
        );
  },
  // It is looked at when somebody is erased, by the version that does it.
  personal: null,
  references: (was, is, { name, before, after }) =>
    is.references
      .filter((one) => {
        const field = own(is.former, one.field)?.name ?? one.field;
        const now = tableOf(after, one);
        return !was.references.some(
          (other) => other.field === field && tableOf(before, other) === now,
        );
      })
      .flatMap(({ field, document: of }) =>
        need(
          "clients meet both versions",
          `${name}.${field} names one of the ${of} for the next version alone: the one before still deletes what is named, and stores what names nothing`,
        ),
      ),
  reading: null,
  scopes: null,
  expandable: null,
  views: null,
  view: null,
  set: (was, is, { name }) =>
    is.set.flatMap(({ field, from }) => {
      if (from.kind !== "number") return [];
      const before = was.set.find((rule) => rule.field === (own(is.former, field)?.name ?? field));
      if (before?.from.kind !== "number")
        return need(
          "clients meet both versions",
          `${name}.${field} counts from ${from.start}: the version before gives no numbers, and numbers that documents have already are passed over one by one, so \`start\` should lie behind them`,
        );
      const [old, next] = [before.from.per, from.per].map(
        (per) => per.join(" and ") || "everything",
      );
      return old === next
        ? []
        : need(
            "clients meet both versions",
            `numbers of ${name}.${field} begin anew from ${from.start}, because they count within ${next} instead of ${old}`,
          );
    }),
  bulk: null,
  hooks: null,
  emits: null,
  reminders: ({ name }) =>
    need(
      "clients meet both versions",
      `documents of ${name} that the version before has written have the reminders of that version until the field is written again`,
    ),
  checksBody: null,
  // Each member by how it is stored; types that it names may have changed where it has not.
  // The version before doesn't hold a condition that it doesn't know.
  bodySchema: (was, is, { name }) => {
    const conditions = conditionsOf(is.bodySchema);
    return conditions === null || isDeepStrictEqual(conditionsOf(was.bodySchema), conditions)
      ? []
      : need(
          "clients meet both versions",
          `${name} have other conditions in the next version: the one before still stores what they refuse, and what is stored already stays, and can only be changed so that it fits`,
        );
  },
};

/** Documents of two registries by their tables: their names matter to no row. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const byTable = ({ model }: RolloutSide): Readonly<Record<string, DocumentModel>> =>
    Object.fromEntries(Object.values(model.documents).map((one) => [one.table, one]));
  const sides = [before, after] as const;
  const documents = [byTable(before), byTable(after)] as const;
  const isNew = Object.keys(documents[1]).some((table) => !Object.hasOwn(documents[0], table));
  const bodies = Object.values(documents[1]).flatMap((one) => {
    const rolling = { name: one.name, before, after };
    return [
      ...droppedMembers(one, rolling),
      ...keptMembers(one, rolling),
      ...formerValues(one, rolling),
      ...changedTypes(one, rolling),
      ...rulesOfConverted(one, rolling),
      ...needsOfWidening(one, rolling),
      ...laterWrites(one, rolling),
    ];
  });
  return [
    ...bodies,
    ...needsOfAll(documents, document, sides, ({ name, table }) =>
      own(after.database.tables, table) === undefined
        ? need(
            "needs two releases",
            `the table ${table} is dropped, which the version before still uses: first roll out what does not declare it, then purge`,
          )
        : isNew
          ? need(
              "leaves stored things behind",
              `rows of ${name} stay in the table ${table}, and nobody reaches them: if they are called otherwise, say \`was: ${table}\``,
            )
          : need(
              "safe to roll",
              `rows of ${name} stay in the table ${table} until they are purged`,
            ),
    ),
  ];
}

/**
 * Members that the previous version requires and has no default for, but that the next version no
 * longer stores.
 */
function droppedMembers({ table }: DocumentModel, { before, after }: Rolling): readonly Need[] {
  const [was, is] = [own(before.database.tables, table), own(after.database.tables, table)];
  const members = is?.shape?.members ?? null;
  if (was === undefined || members === null) return [];
  const converted = is?.shape?.steps.at(-1)?.converts ?? {};
  return was.required
    .filter((member) => !members.includes(member) && !Object.hasOwn(was.members, member))
    .flatMap((member) => {
      const isMade = Object.values(converted).some(({ from }) => from === member);
      const what = isMade ? "converted" : "dropped";
      return need(
        "needs two releases",
        `${table}.${member} is ${what}: first give it a default or make it nullable and roll that out, then ${isMade ? "convert" : "drop"} it${isMade ? "" : `; or say with \`dropped: {${member}: {as: …}}\` what the version before reads`}`,
      );
    });
}

/**
 * Members that rows keep for the version before: for one release, since then no version needs them.
 */
function keptMembers({ name, table }: DocumentModel, { before, after }: Rolling): readonly Need[] {
  const [was, is] = [before, after].map(
    ({ database }) => own(database.tables, table)?.shape?.kept ?? {},
  );
  return Object.keys(is ?? {}).flatMap((member) =>
    need(
      "safe to roll",
      Object.hasOwn(was ?? {}, member)
        ? `rows of ${name} still keep ${member}, which the version before doesn't have either: take it out of \`dropped\``
        : `rows of ${name} keep ${member} for the version before: take it out of \`dropped\` in the release after this one`,
    ),
  );
}

/** Former values that the version before has given to stored rows already. */
function formerValues(
  { name, table, formerly }: DocumentModel,
  { before }: Rolling,
): readonly Need[] {
  const { shape = firstShape } = own(before.database.tables, table) ?? {};
  return Object.keys(formerly)
    .filter((field) =>
      shape.steps.some(({ adds }) => Object.hasOwn(adds, storedName(shape, field))),
    )
    .flatMap((field) =>
      need(
        "safe to roll",
        `rows of ${name} have ${field} since the version before: take \`former\` out of it`,
      ),
    );
}

function changedTypes(
  { name, table, fields, former, references, bodySchema }: DocumentModel,
  { before }: Rolling,
): readonly Need[] {
  const known = Object.values(before.model.documents).find((other) => other.table === table);
  const members = propertiesOf(known?.bodySchema ?? true);
  const all = new Set([...Object.keys(fields), ...Object.keys(propertiesOf(bodySchema))]);
  return [...all].flatMap((field) => {
    const called = own(former, field)?.name ?? field;
    if (!Object.hasOwn(members, called) && !Object.hasOwn(known?.fields ?? {}, called)) return [];
    if (own(former, field)?.by != null) return [];
    const [was, type] = [own(known?.fields ?? {}, called), own(fields, field)];
    // Each integer is a number.
    if (was === type || (was === "integer" && type === "number")) return [];
    // References are computed from nothing.
    const isReference = references.some((reference) => reference.field === field);
    const advice = isReference
      ? "declare it under another name, and fill that by a job"
      : "name a function with `from` that makes the new ones";
    return need(
      "needs two releases",
      `${name}.${field} is ${type ?? "of several types"} instead of ${was ?? "of several types"}, and stored values stay as they are: ${advice}`,
    );
  });
}

/** Unique rules over fields that are made anew: rows have the new value once they are rewritten. */
function rulesOfConverted(
  { name, table, unique, former }: DocumentModel,
  { before }: Rolling,
): readonly Need[] {
  const known = Object.values(before.model.documents).find((other) => other.table === table);
  const makerOf = (of: DocumentModel["former"], field: string) => own(of, field)?.by ?? null;
  const isNew = (field: string): boolean => {
    const maker = makerOf(former, field);
    return maker !== null && !isDeepStrictEqual(maker, makerOf(known?.former ?? {}, field));
  };
  return unique.flatMap(({ fields }) => {
    const field = fields.find(isNew);
    return field === undefined
      ? []
      : need(
          "needs two releases",
          `${name}.${field} is made anew, and rows are held to the unique rule of ${fields.join(" and ")} only once they are rewritten: first roll out a field of another name that is filled \`from\` it, and make that unique when all rows have been rewritten`,
        );
  });
}

/** The conditions of a type; null if it has none. */
function conditionsOf(schema: JsonSchema): object | null {
  if (typeof schema !== "object") return null;
  const { if: condition, then: holds, else: otherwise, allOf } = schema;
  return condition === undefined && allOf === undefined
    ? null
    : { condition, holds, otherwise, allOf };
}

/** The index that sees to a rule. */
function indexOfRule(
  { name, fields, isGlobal, isLiveOnly, where }: UniqueModel,
  { shape = firstShape, indexes }: Pick<TableSchema, "shape" | "indexes"> = { indexes: {} },
): string {
  const places = fields.map((field) => storedField(shape, field).path);
  const found = Object.entries(indexes).find(
    ([, { unique, fields: covered }]) =>
      isDeepStrictEqual(
        { ...unique, where: undefined },
        { isGlobal, isLiveOnly, where: undefined },
      ) &&
      isDeepStrictEqual(
        unique?.where?.map(({ values }) => values) ?? [],
        Object.values(where ?? {}),
      ) &&
      isDeepStrictEqual(
        covered.map(({ path }) => path),
        places,
      ),
  );
  return found?.[0] ?? name;
}

/**
 * Whether one rule refuses all that another does: of the same fields, in as many tenants and among
 * as many rows.
 */
function isAsStrict(rule: UniqueModel, other: UniqueModel): boolean {
  return (
    isDeepStrictEqual(rule.fields, other.fields) &&
    (rule.isGlobal || !other.isGlobal) &&
    (!rule.isLiveOnly || other.isLiveOnly) &&
    (rule.where === undefined || isDeepStrictEqual(rule.where, other.where))
  );
}

/**
 * Where documents are that a reference names. What becomes of it when they go is asked of whoever
 * deletes.
 */
function tableOf({ model }: RolloutSide, { document: of }: ReferenceModel): string | undefined {
  return own(model.documents, of)?.table;
}
