// What changes of documents take of a rollout: rows know their shape, and versions beside each other read each other's.
import { isDeepStrictEqual } from "node:util";
import { narrowings } from "../../kernel/row-fits.js";
import {
  need,
  needsOfAll,
  refersToChanged,
  type Need,
  type Rolling,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { firstShape } from "../../../runtime/contract/shapes.js";
import { propertiesOf, undescribed } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import type { DocumentModel, ReferenceModel, UniqueModel } from "../../model/document-model.js";
import type { TableSchema } from "../../model/stored-tables.js";

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
      : [],
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
  former: null,
  indexes: null,
  unique: (was, is, { name }) =>
    was.unique
      .filter((rule) => !is.unique.some((other) => isAsStrict(other, rule)))
      .flatMap(({ fields }) =>
        need(
          "clients meet both versions",
          `${name} may have the same ${fields.join(" and ")} as soon as it is migrated, in the version before as well, and after a rollback: nothing that counts on it may be left`,
        ),
      ),
  // What the version before doesn't know it doesn't hold.
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
  set: null,
  bulk: null,
  hooks: null,
  emits: null,
  checksBody: null,
  // Each member by how it is stored; types that it names may have changed where it has not.
  bodySchema: null,
};

/** Documents of two registries by their tables: what they are called matters to no row. */
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
      ...changedTypes(one, rolling),
      ...widened(one, rolling),
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

/** Members that the previous version requires and has no default for, but that the next version no longer stores. */
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
        `${table}.${member} is ${what}: first give it a default or make it nullable and roll that out, then ${isMade ? "convert" : "drop"} it`,
      );
    });
}

function changedTypes(
  { name, table, fields, former }: DocumentModel,
  { before }: Rolling,
): readonly Need[] {
  const known = Object.values(before.model.documents).find((other) => other.table === table);
  return Object.entries(fields).flatMap(([field, type]) => {
    const was = own(known?.fields ?? {}, own(former, field)?.name ?? field);
    // Each integer is a number.
    if (own(former, field)?.by != null) return [];
    if (was === undefined || was === type || (was === "integer" && type === "number")) return [];
    return need(
      "needs two releases",
      `${name}.${field} is ${type} instead of ${was}, and stored values stay as they are: name a function with \`from\` that makes the new ones`,
    );
  });
}

/** Members that take more values than before: the version before reads them, and answers what its own type doesn't have. */
function widened(
  { name, table, fields, former, bodySchema }: DocumentModel,
  rolling: Rolling,
): readonly Need[] {
  const { before, after } = rolling;
  const tables = [own(before.database.tables, table), own(after.database.tables, table)] as const;
  const [was, is] = tables;
  if (was === undefined || is === undefined) return [];
  const scalars = wider(was, is, former).map(
    ({ member, words }) => `${name}.${member} may be ${words}`,
  );
  const known = Object.values(before.model.documents).find((other) => other.table === table);
  const toldScalars = new Set(wider(was, is, former).map(({ member }) => member));
  const others = Object.keys(propertiesOf(bodySchema)).filter((member) => {
    const called = own(former, member)?.name ?? member;
    const [old, next] = [
      propertiesOf(known?.bodySchema ?? true)[called],
      propertiesOf(bodySchema)[member],
    ];
    if (old === undefined || next === undefined || toldScalars.has(member)) return false;
    // Another type is told by itself.
    if (own(known?.fields ?? {}, called) !== own(fields, member)) return false;
    const isSame = isDeepStrictEqual(...([old, next].map(unbound) as [unknown, unknown]));
    return !isSame || refersToChanged(next, rolling);
  });
  return [
    ...scalars,
    ...others.map((member) => `${name}.${member} has other values, or members within it`),
  ].flatMap((what) =>
    need(
      "clients meet both versions",
      `${what}: the version before answers such values although its own document has none, and may refuse to change them; write them once no older process is left`,
    ),
  );
}

function wider(was: TableSchema, is: TableSchema, former: DocumentModel["former"]) {
  const called = new Map(
    Object.entries(former).map(([field, { name }]) => [name ?? field, field] as const),
  );
  const isCalled = (member: string): string => called.get(member) ?? member;
  const typeOf = ({ fits = {} }: TableSchema, member: string): string => {
    const type = own(fits, member)?.type ?? "";
    return type === "integer" ? "number" : type;
  };
  return (
    narrowings(is.fits ?? {}, was.fits ?? {}, was.shape ?? firstShape, isCalled)
      // Another type is told by itself.
      .filter(({ member }) => typeOf(was, member) === typeOf(is, isCalled(member)))
      .map(({ member, faults }) => ({
        member: isCalled(member),
        words: faults.map(({ words }) => words).join(" or "),
      }))
  );
}

/** A schema without what only people read, and without the bounds of which it is known whether they are wider. */
function unbound(schema: unknown): unknown {
  const told = undescribed(schema);
  if (typeof told !== "object" || told === null) return told;
  const { type, enum: values, ...rest } = told as Readonly<Record<string, unknown>>;
  const isOfTexts =
    Array.isArray(values) && values.every((one) => one === null || typeof one === "string");
  const others = Object.entries(rest).filter(
    ([key]) => !/^(?:m(?:in|ax)Length|(?:exclusiveM|m)(?:in|ax)imum)$/.test(key),
  );
  return {
    ...Object.fromEntries(others),
    ...(isOfTexts ? {} : { enum: values }),
    of: kindOf(type),
  };
}

/** Types without null: whether a value may be null is known. Each integer is a number. */
function kindOf(type: unknown): unknown {
  const kinds = [type].flat().filter((one) => one !== "null");
  return kinds.map((one) => (one === "integer" ? "number" : one));
}

/** Whether one rule refuses all that another does: of the same fields, in as many tenants and among as many rows. */
function isAsStrict(rule: UniqueModel, other: UniqueModel): boolean {
  return (
    isDeepStrictEqual(rule.fields, other.fields) &&
    (rule.isGlobal || !other.isGlobal) &&
    (!rule.isLiveOnly || other.isLiveOnly)
  );
}

/** Where documents are that a reference names. What becomes of it when they go is asked of whoever deletes. */
function tableOf({ model }: RolloutSide, { document: of }: ReferenceModel): string | undefined {
  return own(model.documents, of)?.table;
}
