// The one maker of operations: from what each must say, and the usual values of the rest.
import type { HookUse, OperationModel } from "../model/registry.js";
import { usualOperation } from "../model/usual-operation.js";
import { requiresAuthn } from "./guards.js";

/** Whose operation it is, and what guards it. */
export interface OperationPlace {
  readonly namespace: string;
  readonly name: string;
  /** The name of the family that makes it. */
  readonly family: string;
  /** The registry file that declares it. */
  readonly source: string;
  /** The policies that guard it, in words. */
  readonly guard: string;
  readonly hooks: readonly HookUse[];
}

/** What every operation must say: a usual value would be wrong without anybody noticing. */
type RequiredFacts = Pick<
  OperationModel,
  | "summary"
  | "input"
  | "output"
  | "run"
  | "effect"
  | "transaction"
  | "errors"
  | "deadlineSeconds"
  | "isTool"
>;

/** The facts of an operation. Members of the second half have usual values. */
export type OperationFacts = RequiredFacts &
  Partial<
    Omit<OperationModel, keyof OperationPlace | keyof RequiredFacts | "key" | "requiresAuthn">
  >;

/**
 * Makes an operation. Its key and whether it requires a caller follow from its place. Members have
 * the order of registry.json, which reviewers read.
 */
export function operation(place: OperationPlace, facts: OperationFacts): OperationModel {
  const { guard, hooks, ...identity } = place;
  const { summary, input, output, deadlineSeconds, run, ...further } = facts;
  const all = { ...usualOperation, ...further };
  const { effect, eachHooks, isTool, declares, lists, queries, adds, emits, errors, ...rest } = all;
  const { description, hooks: _none, extensions, ...usually } = rest;
  return {
    key: `${place.namespace}.${place.name}`,
    ...identity,
    summary,
    description,
    input,
    output,
    guard,
    hooks,
    deadlineSeconds,
    ...usually,
    requiresAuthn: requiresAuthn(hooks),
    run,
    effect,
    eachHooks,
    isTool,
    declares,
    lists,
    queries,
    adds,
    emits,
    errors,
    extensions,
  };
}

/** The answer of an operation that answers with JSON, or with nothing if there is no schema. */
export function jsonOutput(
  schema: OperationModel["output"]["schema"],
  {
    hasEntityTag = false,
    isStream = false,
  }: { readonly hasEntityTag?: boolean; readonly isStream?: boolean } = {},
): OperationModel["output"] {
  return { schema, hasEntityTag, isBytes: false, mediaType: null, isStream };
}

/** The answer of an operation that answers with the bytes of a stored object. */
export const bytesOutput: OperationModel["output"] = {
  schema: null,
  hasEntityTag: false,
  isBytes: true,
  mediaType: null,
  isStream: false,
};

/** The answer of an operation that answers with bytes of one type, made for this answer. */
export function mediaOutput(mediaType: string): OperationModel["output"] {
  return { ...bytesOutput, mediaType };
}

/** The answer of an operation that answers with any number of rows, as CSV. */
export function rowsOutput(schema: OperationModel["output"]["schema"]): OperationModel["output"] {
  return { ...jsonOutput(schema, { isStream: true }), mediaType: rowsType };
}

/** The media type of rows. */
export const rowsType = "text/csv";

/** Whether an answer has parts and versions, as stored objects have. */
export function isOfObject({ isBytes, mediaType }: OperationModel["output"]): boolean {
  return isBytes && mediaType === null;
}
