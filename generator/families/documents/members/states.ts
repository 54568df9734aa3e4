// `states:` of a document: the values of a field that may follow each other, and who may have them
// follow.
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { hookChain, isAuthorsSay } from "../../../kernel/guards.js";
import type {
  DocumentModel,
  MoveModel,
  MoveStepModel,
  StatesModel,
} from "../../../model/document-model.js";
import { own } from "../../../model/records.js";
import { listLayout, literal, propertyKey } from "../../../print/layout.js";
import type { ModuleScope } from "../../../print/module-scope.js";
import type { DocumentDeclaration, MoveDeclaration } from "../format.js";

type Path = readonly (string | number)[];

/**
 * The states of a document; null where it has none. Reports fields without an enumeration, values
 * that it hasn't, what nothing leads to, and policies that can't be asked (OPW111).
 */
export function statesOf(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  { enums, defaults, nullable }: Pick<DocumentModel, "enums" | "defaults" | "nullable">,
): StatesModel | null {
  const { states } = declaration;
  if (states === undefined) return null;
  const { field, from: declared } = states;
  const path = ["documents", name, "states"];
  const refuse = refuserOf(context);
  const values = own(enums, field);
  if (values === undefined || field.includes(".") || nullable.includes(field)) {
    refuse(
      `${field} is no field of ${name} with a fixed list of values, of which it always has one`,
      [...path, "field"],
      didYouMean(field, Object.keys(enums)),
    );
    return null;
  }
  if (Object.hasOwn(declaration.personal ?? {}, field))
    refuse(`${field} is personal, and erasing somebody is no move`, [...path, "field"]);
  const expectValue = (value: string, at: Path, isKey = false): void => {
    if (!values.includes(value))
      refuse(`${field} is never ${value}`, at, didYouMean(value, values), isKey);
  };
  const usual = own(defaults, field);
  const initial = states.initial ?? (typeof usual === "string" ? [usual] : values);
  for (const [index, value] of (states.initial ?? []).entries())
    expectValue(value, [...path, "initial", index]);
  const moves = Object.entries(declared).flatMap(([from, given]) => {
    const at = [...path, "from", from];
    expectValue(from, at, true);
    return movesFrom(context, name, { from, given, at }, expectValue);
  });
  for (const value of values)
    if (!initial.includes(value) && moves.every(({ to }) => to !== value))
      refuse(`nothing leads to ${value}`, [...path, "from"], undefined, true);
  const seen = new Set<string>();
  for (const { from, to } of moves) {
    if (seen.has(`${from} ${to}`))
      refuse(`the move from ${from} to ${to} stands twice`, [...path, "from", from]);
    seen.add(`${from} ${to}`);
  }
  return { field, initial, moves };
}

type Refuse = (
  message: string,
  path: Path,
  suggestion?: ReturnType<typeof didYouMean>,
  /** Whether it is about the key at the path, not about its value. */
  isKey?: boolean,
) => void;

function refuserOf({ report, tree }: FamilyContext): Refuse {
  return (message, path, suggestion, isKey = false) =>
    report({
      code: "OPW111",
      message,
      at: isKey ? tree.keyAt(...path) : tree.at(...path),
      ...(suggestion === undefined ? {} : { suggestion }),
    });
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
): readonly MoveStepModel[] {
  const origin = context.tree.at(...at);
  const chain = hookChain(context, [{ policy, at: origin }], name);
  const odd = chain.find(
    (hook) =>
      isAuthorsSay(hook) ||
      hook.phase !== "before" ||
      hook.provides.includes("authz.scope") ||
      hook.errors.includes("core.throttled"),
  );
  if (odd !== undefined)
    refuserOf(context)(
      `${policy} asks ${odd.id}, which is about a request and not about a move`,
      at,
    );
  return chain.map(({ id, permission, stored, run, errors }) => ({
    id,
    permission,
    ...(stored === undefined ? {} : { stored }),
    run,
    errors,
  }));
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

/** Errors that moves may be refused with, besides those of the operation. */
export function errorsOfMoves({ states }: DocumentModel): readonly string[] {
  if (states === null) return [];
  return [
    "transition_not_allowed",
    ...states.moves.flatMap(({ asks }) => asks.flatMap(({ errors }) => errors)),
  ];
}
