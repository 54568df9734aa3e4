// `emits:` of a document: which signals its changes send.
import type { DocumentDeclaration, EmittedEvent } from "../format.js";
import type { EmissionModel } from "../../../model/document-model.js";
import { own } from "../../../model/records.js";
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

function emission(given: EmittedEvent): Omit<EmissionModel, "on"> {
  if (typeof given === "string") return { event: given, ifChanged: null };
  const { event, data, to, if_changed: changed } = given;
  return {
    event,
    ifChanged: changed === undefined ? null : [changed].flat(),
    ...(data === undefined ? {} : { data }),
    ...(to === undefined ? {} : { to }),
  };
}

/** A principal by a field, or a topic in which `{field}` is the value of a field. */
type Target = { readonly principal: string } | { readonly topic: string };

/** An event, as far as emissions ask for it. */
interface Emitted {
  readonly audience: readonly ("principal" | "topic")[];
  readonly to: Target | null;
}

/** A field in braces, as in `project:{project}`. */
export const fieldInBraces = /\{([A-Za-z_][\w-]*)\}/g;

/** Reads `to`: one field, in braces or not, is a principal if these hear the event. */
export function readTarget(to: string, { audience }: Pick<Emitted, "audience">): Target {
  const [, field] = /^\{([^{}]*)\}$/.exec(to) ?? [];
  const bare = !audience.includes("topic") && /^[A-Za-z_][\w-]*$/.test(to) ? to : undefined;
  const principal = field ?? bare;
  return audience.includes("principal") && principal !== undefined ? { principal } : { topic: to };
}

/** The fields of a document that a target asks for. */
export function fieldsOfTarget(target: Target): readonly string[] {
  if ("principal" in target) return [target.principal];
  return [...target.topic.matchAll(fieldInBraces)].map(([, field = ""]) => field);
}

/**
 * To whom an emission goes, by the fields of the document; null if nobody says so. What the event
 * says by a member of its payload is the field that this member is of.
 */
export function targetOfEmission({ data, to }: EmissionModel, event: Emitted): Target | null {
  if (to !== undefined) return readTarget(to, event);
  if (data === undefined || event.to === null) return event.to;
  const fieldOf = (member: string): string => own(data, member) ?? "";
  if ("principal" in event.to) return { principal: fieldOf(event.to.principal) };
  const topic = event.to.topic.replaceAll(
    fieldInBraces,
    (_all, member: string) => `{${fieldOf(member)}}`,
  );
  return { topic };
}

function asList<One>(given: One | readonly One[]): readonly One[] {
  return Array.isArray(given) ? (given as readonly One[]) : [given as One];
}
