// What changes of documents take of a rollout: rows know their shape, and versions beside each other read each other's.
import { isDeepStrictEqual } from "node:util";
import { narrowings } from "../../database/row-fits.js";
import {
  isTypeChanged,
  need,
  needsOfAll,
  type Need,
  type Rolling,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { firstShape } from "../../../runtime/contract/shapes.js";
import { own } from "../../model/records.js";
import type { DocumentModel } from "../../model/document-model.js";
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
  // The migration looks for marked rows.
  softDelete: null,
  listDeleted: null,
  history: null,
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
      .filter((rule) => !is.unique.some((other) => isDeepStrictEqual(other.fields, rule.fields)))
      .flatMap(({ fields }) =>
        need(
          "clients meet both versions",
          `${name} may have the same ${fields.join(" and ")} as soon as it is migrated, in the version before as well, and after a rollback: nothing that counts on it may be left`,
        ),
      ),
  // What the version before doesn't know it doesn't hold.
  references: (was, is, { name }) =>
    is.references
      .filter((one) => !was.references.some((other) => isDeepStrictEqual(one, other)))
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
        : need("safe to roll", `rows of ${name} stay in the table ${table} until they are purged`),
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
  const nested = Object.keys(fieldsOf(bodySchema)).filter((member) => {
    const [old, next] = [fieldsOf(known?.bodySchema)[member], fieldsOf(bodySchema)[member]];
    if (old === undefined || own(fields, member)?.startsWith("object") === false) return false;
    return !isDeepStrictEqual(old, next) || refersToChanged(next, rolling);
  });
  return [
    ...scalars,
    ...nested.map((member) => `${name}.${member} has other members or values within it`),
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

function fieldsOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = (schema as { readonly properties?: unknown } | undefined)?.properties;
  return typeof properties === "object" && properties !== null ? { ...properties } : {};
}

function refersToChanged(schema: unknown, rolling: Rolling): boolean {
  return [...JSON.stringify(schema ?? null).matchAll(/"\$ref":"#\/types\/(\w+)"/g)].some(
    ([, type = ""]) => isTypeChanged(type, rolling),
  );
}
