// `states:` of a document: the values of a field that may follow each other, and who may have them
// follow.
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { hookChain, isAuthorsSay, isRate } from "../../../kernel/guards.js";
import type {
  DocumentModel,
  MoveModel,
  PolicyStepModel,
  StatesModel,
} from "../../../model/document-model.js";
import { requiredOf } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import { listLayout, literal, propertyKey } from "../../../print/layout.js";
import type { ModuleScope } from "../../../print/module-scope.js";
import type { DocumentDeclaration, MoveDeclaration } from "../format.js";
import { keptSteps } from "./policy-steps.js";

type Path = readonly (string | number)[];
type Report = (
  message: string,
  path: Path,
  suggestion?: ReturnType<typeof didYouMean>,
  /** Whether it is about the key at the path, not about its value. */
  isKey?: boolean,
) => void;

/**
 * The states of a document; null where it has none. Reports fields without a fixed list of values,
 * values that they haven't, what nothing leads to, and policies that can't be asked (OPW111).
 */
export function statesOf(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  model: Pick<DocumentModel, "enums" | "defaults" | "nullable" | "bodySchema" | "former">,
): StatesModel | null {
  const { states } = declaration;
  if (states === undefined) return null;
  const { field } = states;
  const path = ["documents", name, "states"];
  const refuse = reportOf(context);
  const values = own(model.enums, field) ?? [];
  const fault = faultOfField(name, declaration, field, model);
  if (fault !== null) {
    const suggestion =
      values.length === 0
        ? didYouMean(
            field,
            Object.keys(model.enums).filter((one) => !model.nullable.includes(one)),
          )
        : undefined;
    refuse(fault, [...path, "field"], suggestion);
    return null;
  }
  const usual = own(model.defaults, field);
  const initial = states.initial ?? (typeof usual === "string" ? [usual] : values);
  const expectValue = (value: string, at: Path, isKey = false): void => {
    if (!values.includes(value))
      refuse(`${field} is never ${value}`, at, didYouMean(value, values), isKey);
  };
  for (const [index, value] of (states.initial ?? []).entries())
    expectValue(value, [...path, "initial", index]);
  if (typeof usual === "string" && !initial.includes(usual))
    refuse(`${usual}, the default of ${field}, is not initial`, [...path, "initial"]);
  const moves = Object.entries(states.from).flatMap(([from, given]) => {
    const at = [...path, "from", from];
    expectValue(from, at, true);
    return movesFrom(context, name, { from, given, at }, expectValue);
  });
  checkMoves(refuse, path, { values, initial, moves });
  const { values: was = {} } = own(model.former, field) ?? {};
  return { field, initial, moves, ...(Object.keys(was).length === 0 ? {} : { was }) };
}

function reportOf({ report, tree }: FamilyContext): Report {
  return (message, path, suggestion, isKey = false) =>
    report({
      code: "OPW111",
      message,
      at: isKey ? tree.keyAt(...path) : tree.at(...path),
      ...(suggestion === undefined ? {} : { suggestion }),
    });
}

/** What keeps a field from having states, in words; null where nothing does. */
function faultOfField(
  name: string,
  { personal = {}, set = {} }: DocumentDeclaration,
  field: string,
  { enums, nullable, bodySchema }: Pick<DocumentModel, "enums" | "nullable" | "bodySchema">,
): string | null {
  const isMember = Object.hasOwn(enums, field) && requiredOf(bodySchema).includes(field);
  if (!isMember || nullable.includes(field))
    return `${field} is no field of ${name} with a fixed list of values, of which it always has one`;
  const isPersonal = Array.isArray(personal)
    ? (personal as readonly string[]).includes(field)
    : Object.hasOwn(personal, field);
  if (isPersonal) return `${field} is personal, and erasing somebody is no move`;
  const rule = own(set, field);
  if (rule === undefined || rule === "$handler") return null;
  if (typeof rule === "object" && rule.on === "absent") return null;
  return `${field} is computed, so that a change of another field would move it`;
}

/** Reports moves that stand twice or lead nowhere else, and states that no document reaches. */
function checkMoves(
  refuse: Report,
  path: Path,
  {
    values,
    initial,
    moves,
  }: { readonly values: readonly string[] } & Pick<StatesModel, "initial" | "moves">,
): void {
  const seen = new Set<string>();
  for (const { from, to } of moves) {
    const key = JSON.stringify([from, to]);
    if (from === to) refuse(`${from} is no move from ${from}`, [...path, "from", from]);
    if (seen.has(key))
      refuse(`the move from ${from} to ${to} stands twice`, [...path, "from", from]);
    seen.add(key);
  }
  const reached = new Set(initial);
  // A set that grows while it is walked is walked to its end.
  for (const state of reached)
    for (const { from, to } of moves) if (from === state) reached.add(to);
  for (const value of values)
    if (!reached.has(value))
      refuse(`nothing leads to ${value}`, [...path, "from"], undefined, true);
}

/** The moves from one state. */
function movesFrom(
  context: FamilyContext,
  name: string,
  {
    from,
    given,
    at,
  }: {
    readonly from: string;
    readonly given: MoveDeclaration | readonly (string | MoveDeclaration)[];
    readonly at: Path;
  },
  expectValue: (value: string, at: Path) => void,
): readonly MoveModel[] {
  const isList = Array.isArray(given);
  const all = [given].flat() as readonly (string | MoveDeclaration)[];
  return all.flatMap((one, index): readonly MoveModel[] => {
    const here = isList ? [...at, index] : at;
    if (typeof one === "string") {
      expectValue(one, here);
      return [{ from, to: one, by: null, asks: [] }];
    }
    const asks = one.by === undefined ? [] : askedBy(context, name, one.by, [...here, "by"]);
    return one.to.map((to, position) => {
      expectValue(to, [...here, "to", position]);
      return { from, to, by: one.by ?? null, asks };
    });
  });
}

/** What a policy asks of whoever makes a move: a caller, permissions. */
function askedBy(
  context: FamilyContext,
  name: string,
  policy: string,
  at: Path,
): readonly PolicyStepModel[] {
  const origin = context.tree.at(...at);
  const chain = hookChain(context, [{ policy, at: origin }], name);
  const odd = chain.find(
    (hook) =>
      isAuthorsSay(hook) ||
      hook.phase !== "before" ||
      hook.provides.includes("authz.scope") ||
      isRate(hook),
  );
  if (odd !== undefined)
    reportOf(context)(
      `${policy} asks ${odd.id}, which is about a request and not about a move`,
      at,
    );
  return keptSteps(chain);
}

/** The member of a spec. */
export function statesMember({ states }: DocumentModel, scope: ModuleScope): readonly string[] {
  if (states === null) return [];
  const { field, initial, moves } = states;
  const left = new Set(moves.map(({ from }) => from));
  return [
    "  states: {",
    `    field: ${literal(field)},`,
    listLayout("    ", "initial: ", initial.map(literal), ["[", "]"], ","),
    "    from: {",
    ...[...left].flatMap((state) => [
      `      ${propertyKey(state)}: {`,
      ...moves
        .filter(({ from }) => from === state)
        .map(({ to, asks }) =>
          asks.length === 0
            ? `        ${propertyKey(to)}: null,`
            : listLayout(
                "        ",
                `${propertyKey(to)}: () => `,
                asks.map(({ run }) => scope.code(run)),
                ["[", "]"],
                ",",
              ),
        ),
      "      },",
    ]),
    "    },",
    "  },",
  ];
}

/** Errors of moves, besides those of the operation; only what changes a document asks anybody. */
export function errorsOfMoves({ states }: DocumentModel, isChange: boolean): readonly string[] {
  if (states === null) return [];
  const asked = states.moves.flatMap(({ asks }) => asks.flatMap(({ errors }) => errors));
  return ["transition_not_allowed", ...(isChange ? asked : [])];
}
