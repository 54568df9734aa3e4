// `emits:` of a document: which signals its changes send.
import type { DocumentDeclaration, EmittedEvent } from "../format.js";
import type { EmissionModel } from "../../../model/document-model.js";
import { writesOfOne } from "../verbs/index.js";

/**
 * What a document declares to emit, in one form; verbs that do not write are left to the check of
 * verbs.
 */
export function emissions({ emits = {} }: DocumentDeclaration): readonly EmissionModel[] {
  return Object.entries(emits).flatMap(([on, given]) =>
    writesOfOne.some(({ name }) => name === on)
      ? asList(given).map((one): EmissionModel => ({ on, ...emission(one) }))
      : [],
  );
}

function emission(given: EmittedEvent): Pick<EmissionModel, "event" | "ifChanged"> {
  if (typeof given === "string") return { event: given, ifChanged: null };
  return { event: given.event, ifChanged: [given.if_changed].flat() };
}

function asList<One>(given: One | readonly One[]): readonly One[] {
  return Array.isArray(given) ? (given as readonly One[]) : [given as One];
}
