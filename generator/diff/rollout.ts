// What a rollout takes: whether the previous version and the next one may run side by side on one database.
import { databaseChanges, type DatabaseChange } from "../database/schema.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

export const verdicts = [
  "safe to roll",
  "needs the migration first",
  "needs two releases",
] as const;

export interface Rollout {
  readonly verdict: (typeof verdicts)[number];
  /** What is to be done, in order; none where it is safe as it is. */
  readonly steps: readonly string[];
}

interface Side {
  readonly model: RegistryModel;
  readonly database: DatabaseSchema;
}

/** What rolling one registry out over another takes. */
export function rolloutOf(before: Side, after: Side): Rollout {
  const changes = databaseChanges(before.database, after.database);
  const releases = [
    ...droppedMembers(before, after),
    ...changedTypes(before, after),
    ...purgedTables(before, changes),
  ];
  const migrations = changes.map(migrationText);
  const steps = [
    ...releases,
    ...(migrations.length === 0 ? [] : ["before it serves: node dist/generated/server.js migrate"]),
    ...migrations,
  ];
  if (releases.length > 0) return { verdict: "needs two releases", steps };
  return { verdict: migrations.length > 0 ? "needs the migration first" : "safe to roll", steps };
}

/** Members that the previous version requires and has no default for, but that the next version no longer stores. */
function droppedMembers(before: Side, after: Side): readonly string[] {
  return Object.values(after.model.documents).flatMap(({ table }) => {
    const [was, is] = [own(before.database.tables, table), own(after.database.tables, table)];
    const members = is?.shape?.members ?? null;
    if (was === undefined || members === null) return [];
    const converted = is?.shape?.steps.at(-1)?.converts ?? {};
    return was.required
      .filter((member) => !members.includes(member) && !Object.hasOwn(was.members, member))
      .map((member) => {
        const isMade = Object.values(converted).some(({ from }) => from === member);
        const what = isMade ? "converted" : "dropped";
        return `${table}.${member} is ${what}: first give it a default or make it nullable and roll that out, then ${isMade ? "convert" : "drop"} it`;
      });
  });
}

function changedTypes(before: Side, after: Side): readonly string[] {
  return Object.values(after.model.documents).flatMap(({ name, table, fields, former }) => {
    const known = Object.values(before.model.documents).find((other) => other.table === table);
    return Object.entries(fields).flatMap(([field, type]) => {
      const was = own(known?.fields ?? {}, own(former, field)?.name ?? field);
      // Each integer is a number.
      if (own(former, field)?.by != null) return [];
      if (was === undefined || was === type || (was === "integer" && type === "number")) return [];
      return [
        `${name}.${field} is ${type} instead of ${was}, and stored values stay as they are: name a function with \`from\` that makes the new ones`,
      ];
    });
  });
}

/** The previous version needs its tables until it is gone. */
function purgedTables({ model }: Side, changes: readonly DatabaseChange[]): readonly string[] {
  const declared = Object.values(model.documents).map(({ table }) => table);
  return changes.flatMap(({ kind, table }) =>
    kind === "dropTable" && declared.includes(table)
      ? [
          `the table ${table} is dropped, which the version before still uses: first roll out what does not declare it, then purge`,
        ]
      : [],
  );
}

function migrationText(change: DatabaseChange): string {
  switch (change.kind) {
    case "systemStep":
      return `it takes the step ${change.step}`;
    case "createTable":
      return `it makes the table ${change.table}`;
    case "createHistory":
      return `it makes the history of ${change.table}`;
    case "extendHistory":
      return `it has the history of ${change.table} say when and by whom`;
    case "createIndex":
      return change.index.unique === undefined
        ? `it makes the index ${change.name} of ${change.table}`
        : `it makes the index ${change.name} of ${change.table} unique, or changes nothing where rows have the same; the version before is held to it as well`;
    case "createSearch":
      return `it makes the search ${change.name} of ${change.table}, empty: run search-rebuild after the rollout`;
    case "dropSearch":
      return `it drops the search ${change.name} of ${change.table}`;
    case "dropIndex":
      return `it drops the index ${change.name} of ${change.table}`;
    case "checkDeleted":
      return `it looks for ${change.table} that are marked as deleted, and changes nothing while there are any`;
    case "checkRows":
      return `it looks for rows whose ${change.table}.${change.narrowing.member} does not fit any more, and changes nothing while there are any; the version before may go on storing such`;
    case "dropTable":
      return `it drops the table ${change.table} with all its rows`;
    case "addShape":
      return `it numbers the shapes of ${change.table}`;
  }
}
