// What changes of states are to callers: moves that come and go, and whom they take.
import { differences } from "../../../compare/differences.js";
import { grantedAs } from "../../../compare/hooks.js";
import type { Told } from "../../../compare/rules.js";
import type { DocumentModel, MoveModel, StatesModel } from "../../../model/document-model.js";

type States = DocumentModel["states"];

/** The rule of states: another move opens, one less breaks. */
export function statesChanged(before: States | undefined, after: States): readonly Told[] {
  // A registry that an earlier version froze has none.
  const was = before ?? null;
  if (was === null && after === null) return [];
  if (was === null) return [["breaking", `have states: ${allOf(after).join(", ")}`]];
  if (after === null) return [["opens", `have no states: any ${was.field} may follow any other`]];
  const field: readonly Told[] =
    was.field === after.field
      ? []
      : [
          ["opens", `have states of ${after.field}, and none of ${was.field}`],
          ["breaking", `have states of ${after.field} instead of ${was.field}`],
        ];
  const { gone, added } = differences(allOf(was), allOf(after));
  return [
    ...field,
    ...added.map((text): Told => ["opens", `may ${text}`]),
    ...gone.map((text): Told => ["breaking", `may no longer ${text}`]),
    ...askedChanged(was, after),
  ];
}

function allOf(states: States): readonly string[] {
  if (states === null) return [];
  return [
    ...states.initial.map((value) => `begin as ${value}`),
    ...states.moves.map((move) => `go ${moveText(move)}`),
  ];
}

function moveText({ from, to }: MoveModel): string {
  return `from ${from} to ${to}`;
}

/** Who may make a move that both have. */
function askedChanged(before: StatesModel, after: StatesModel): readonly Told[] {
  return after.moves.flatMap((move): readonly Told[] => {
    const text = moveText(move);
    const was = before.moves.find((one) => moveText(one) === text);
    if (was === undefined) return [];
    const [old, next] = [stepsOf(was), stepsOf(move)];
    const { gone, added } = differences([...old.keys()], [...next.keys()]);
    if (gone.length + added.length === 0)
      return was.by === move.by ? [] : [["documentation", `go ${text} by ${move.by ?? "anybody"}`]];
    return [
      ...added.map((one): Told => ["breaking", `go ${text} with ${next.get(one)}`]),
      ...gone.map((one): Told => ["opens", `go ${text} without ${old.get(one)}`]),
    ];
  });
}

/** Steps by what they ask: a permission that is only called otherwise asks for the same. */
function stepsOf({ asks }: MoveModel): ReadonlyMap<string, string> {
  return new Map(asks.map((use) => [grantedAs(use) ?? use.id, use.permission ?? use.id]));
}
