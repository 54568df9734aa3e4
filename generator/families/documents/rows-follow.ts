// Stored rows must fit the registry, or a migration makes them fit; if none can, this says so.
import type { FieldType } from "../../../runtime/contract/fields.js";
import { conversionsIn } from "../../../runtime/contract/shapes.js";
import type { RuleContext } from "../../kernel/rule.js";
import { documentMemberAt } from "../../load/member-places.js";
import { own } from "../../model/records.js";
import { storedMembers, type TableSchema } from "../../model/stored-tables.js";

/** A table's first properties must still hold, or a migration would fail on stored rows. */
export function rowsCanFollow({ loaded, expanded, database, wanted, report }: RuleContext): void {
  for (const { name, table } of Object.values(expanded.model.documents)) {
    const [before, after] = [own(database.tables, table), own(wanted.tables, table)];
    if (before === undefined || after === undefined) continue;
    for (const { message, field } of databaseFaults(name, before, after)) {
      const { tree } = loaded;
      const at =
        field === null ? tree.at("documents", name, "tenant") : documentMemberAt(tree, name, field);
      report({ code: "OPW035", message, at });
    }
  }
}

/** Changes that no migration can follow: of a field, or of the documents' ownership. */
interface DatabaseFault {
  readonly field: string | null;
  readonly message: string;
}

function databaseFaults(
  document: string,
  before: TableSchema,
  after: TableSchema,
): readonly DatabaseFault[] {
  const tenant =
    before.tenant === after.tenant
      ? []
      : [
          {
            field: null,
            message: `${document} was ${before.tenant ? "partitioned by tenant" : "global"} when its table was made`,
          },
        ];
  const indexed = Object.entries(indexedTypes(after)).flatMap(([field, type]) => {
    const old = own(indexedTypes(before), field);
    const isSame = old === undefined || comparesAs(old) === comparesAs(type);
    const message = `${document} has an index over ${field}, which was ${old} and is now ${type}`;
    return isSame ? [] : [{ field, message }];
  });
  const stored = new Set([
    ...storedMembers(before),
    ...Object.keys(after.shape === undefined ? {} : conversionsIn(after.shape)),
    ...addedSince(before, after),
  ]);
  const required = after.required
    .filter((field) => !stored.has(field) && !Object.hasOwn(after.members, field))
    .map((field) => ({
      field,
      message: `documents of ${document} that are stored already have no ${field}; say with \`former\` what it is in those, give it a default, or make it nullable`,
    }));
  return [...tenant, ...indexed, ...required];
}

/** Members that older rows get from now on. */
function addedSince(
  { shape: before }: TableSchema,
  { shape: after }: TableSchema,
): readonly string[] {
  const steps = after?.steps.slice(before?.steps.length ?? 0) ?? [];
  return steps.flatMap(({ adds }) => Object.keys(adds));
}

function indexedTypes({ indexes }: TableSchema): Readonly<Record<string, FieldType>> {
  const fields = Object.values(indexes).flatMap((index) => index.fields);
  return Object.fromEntries(fields.map(({ path, type }) => [path, type]));
}

function comparesAs(type: FieldType): string {
  return type === "integer" || type === "number"
    ? "number"
    : type === "boolean"
      ? "boolean"
      : "text";
}
