// What a rollout takes: whether the previous version and the next one may run side by side over
// what both store.
import { verdicts, need, type Need, type RolloutSide, type Verdict } from "../compare/rollout.js";
import { databaseChanges, type DatabaseChange } from "../database/schema.js";
import { families } from "../families/index.js";
import { keptNeeds } from "./kept.js";
import { serviceRollout } from "./service-rollout.js";

export interface Rollout {
  readonly verdict: Verdict;
  /** The steps, in order; none if it is safe as it is. */
  readonly steps: readonly string[];
}

/**
 * What rolling one registry out over another takes: the worst verdict of any family, and what each
 * says.
 */
export function rolloutOf(before: RolloutSide, after: RolloutSide): Rollout {
  const changes = databaseChanges(before.database, after.database);
  const needs = [
    ...families.flatMap(({ rollout }) => rollout?.(before, after) ?? []),
    ...keptNeeds(before, after),
    ...serviceRollout(before, after),
  ];
  // The version before goes on storing what rows are looked through for.
  const isStoredStill = changes.some(({ kind }) => kind === "checkRows");
  const migration: readonly Need[] =
    changes.length === 0
      ? []
      : need(
          isStoredStill ? "needs two releases" : "needs the migration first",
          "before it serves: node dist/generated/server.js migrate",
        );
  const worst = Math.max(
    0,
    ...[...needs, ...migration].map(({ verdict }) => verdicts.indexOf(verdict)),
  );
  const isFirst = ({ verdict }: Need): boolean => verdicts.indexOf(verdict) > 1;
  return {
    verdict: verdicts[worst] ?? verdicts[0],
    steps: [
      ...needs.filter(isFirst),
      ...migration,
      ...changes.map((change) => ({ text: migrationText(change) })),
      ...needs.filter((one) => !isFirst(one)),
    ].map(({ text }) => text),
  };
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
      return `it looks for rows whose ${change.table}.${change.narrowing.member} does not fit any more, and changes nothing while there are any; the version before may go on storing such, so first roll out one that refuses them in a hook`;
    case "dropTable":
      return `it drops the table ${change.table} with all its rows`;
    case "addShape":
      return `it numbers the shapes of ${change.table}`;
  }
}
