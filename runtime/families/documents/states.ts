// The states of documents: which may follow each other, and who may make them.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { isForWhole } from "../../operations/hooks.js";
import { expectWhole } from "../../operations/identity.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { MoveStep, StateRules } from "../../ports/state-rules.js";
import { unlessRefused } from "./refused.js";

type Body = Readonly<Record<string, unknown>>;

/** Throws `transition_not_allowed` for a new document in a state in which none begins. */
export function checkInitial({ states }: AnyDocumentSpec, body: Body): void {
  if (states === undefined) return;
  const to = String(body[states.field]);
  if (!states.initial.includes(to)) throw refusal(states.field, null, to, states.initial);
}

/**
 * Throws `transition_not_allowed` where the new body has a state that doesn't follow the one
 * before. Its context names those that do.
 */
export function checkMove({ states }: AnyDocumentSpec, before: Body, after: Body): void {
  const { field, from: rules } = states ?? { field: "", from: {} };
  const [from, to] = [String(before[field]), String(after[field])];
  if (states === undefined || from === to) return;
  const moves = movesFrom(rules, from);
  if (!Object.hasOwn(moves, to)) throw refusal(field, from, to, Object.keys(moves));
}

/**
 * Asks whether the caller may make the move that a change of a document is. Throws what the policy
 * of the move refuses with. Work of the service itself may make all.
 */
export async function expectMover(
  { states, isUnscoped }: AnyDocumentSpec,
  context: ExecutionContext,
  before: Body,
  after: Body,
): Promise<void> {
  if (states === undefined || isUnscoped === true || !context.keepsToScopes) return;
  const { field, from } = states;
  const [was, is] = [String(before[field]), String(after[field])];
  const asks = was === is ? null : (movesFrom(from, was)[is] ?? null);
  if (asks === null) return;
  const steps = asks();
  if (isForWhole(steps)) expectWhole(context);
  // Hooks of the service take the context of every operation.
  for (const step of steps) await step.run(undefined, context as never);
}

/** Null for items whose move the caller may not make. */
export async function movable<
  Item extends { readonly before: StoredDocument; readonly body: Body },
>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  items: readonly (Item | null)[],
): Promise<readonly (Item | null)[]> {
  const { states } = spec;
  if (states === undefined) return items;
  // The same move asks the same.
  const known = new Map<string, Promise<boolean>>();
  const mayMove = ({ before, body }: Item): Promise<boolean> => {
    const was = JSON.parse(before.body) as Body;
    const move = JSON.stringify([was[states.field], body[states.field]]);
    const may =
      known.get(move) ??
      unlessRefused(async () => {
        await expectMover(spec, context, was, body);
        return true;
      }, false);
    known.set(move, may);
    return may;
  };
  const free: (Item | null)[] = [];
  for (const item of items) free.push(item !== null && (await mayMove(item)) ? item : null);
  return free;
}

function movesFrom(
  from: StateRules["from"],
  state: string,
): Readonly<Record<string, (() => readonly MoveStep[]) | null>> {
  return Object.hasOwn(from, state) ? (from[state] ?? {}) : {};
}

function refusal(
  field: string,
  from: string | null,
  to: string,
  allowed: readonly string[],
): Error {
  return fail("transition_not_allowed", { field, from, to, allowed });
}
