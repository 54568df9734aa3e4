// What changes of states are to callers: moves that come and go, and whom they take.
import { differences } from "../../../compare/differences.js";
import { comparePermissions } from "../../../compare/hooks.js";
import type { Told } from "../../../compare/rules.js";
import type { DocumentModel, MoveModel, StatesModel } from "../../../model/document-model.js";

type States = DocumentModel["states"];

/** The rule of states: another move opens, one less breaks. */
export function statesChanged(before: States | undefined, after: States): readonly Told[] {
  // A registry that an earlier version froze has none.
  const were = before ?? null;
  if (were === null && after === null) return [];
  if (were === null) return [["breaking", `have states: ${allOf(after).join(", ")}`]];
  if (after === null) return [["opens", `have no states: any ${were.field} may follow any other`]];
  const was = presently(were, after);
  const field: readonly Told[] =
    was.field === after.field
      ? []
      : [
          ["opens", `have states of ${after.field}, and none of ${was.field}`],
          ["breaking", `have states of ${after.field} instead of ${was.field}`],
        ];
  const { gone, added } = differences(textsOf(was), textsOf(after));
  const told = new Map([...textsWith(was), ...textsWith(after)]);
  return [
    ...field,
    ...added.map((text): Told => ["opens", `may ${told.get(text)}`]),
    ...gone.map((text): Told => ["breaking", `may no longer ${text}`]),
    ...after.moves.flatMap((move) => askedChanged(was, move)),
  ];
}

/** States under the names that they have now: a value that is only called otherwise is the same. */
function presently(before: StatesModel, { was = {} }: StatesModel): StatesModel {
  const names = new Map(Object.entries(was).map(([name, former]) => [former, name]));
  const nameOf = (state: string): string => names.get(state) ?? state;
  return {
    ...before,
    initial: before.initial.map(nameOf),
    moves: before.moves.map((move) => ({ ...move, from: nameOf(move.from), to: nameOf(move.to) })),
  };
}

/** What may happen by what it is, each with whom it takes. */
function textsWith({ initial, moves }: StatesModel): readonly (readonly [string, string])[] {
  return [
    ...initial.map((value) => [`begin as ${value}`, `begin as ${value}`] as const),
    ...moves.map((move) => {
      const text = moveText(move);
      return [text, move.by === null ? text : `${text} by ${move.by}`] as const;
    }),
  ];
}

function textsOf(states: StatesModel): readonly string[] {
  return textsWith(states).map(([text]) => text);
}

function allOf(states: States): readonly string[] {
  return states === null ? [] : textsWith(states).map(([, told]) => told);
}

function moveText({ from, to }: MoveModel): string {
  return `go from ${from} to ${to}`;
}

/** Who may make a move that both have. */
function askedChanged(before: StatesModel, move: MoveModel): readonly Told[] {
  const text = moveText(move);
  const was = before.moves.find((one) => moveText(one) === text);
  if (was === undefined) return [];
  const told: Told[] = [];
  comparePermissions(was.asks, move.asks, (level, what) => told.push([level, `${text}: ${what}`]));
  const { gone, added } = differences(stepsOf(was), stepsOf(move));
  told.push(
    ...added.map((one): Told => ["breaking", `${text}: asks ${one}`]),
    ...gone.map((one): Told => ["opens", `${text}: asks no ${one}`]),
  );
  if (told.length > 0 || was.by === move.by) return told;
  return [["documentation", `${text} by ${move.by ?? "anybody"}`]];
}

/** What is asked besides permissions. */
function stepsOf({ asks }: MoveModel): readonly string[] {
  return asks.flatMap(({ id, permission }) => (permission === null ? [id] : []));
}
