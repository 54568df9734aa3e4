// The signals that changes of documents send, whoever makes them: routes or handlers (registry
// "emits").
import type { ExecutionContext } from "../../operations/context.js";
import type { SignalTarget } from "../../ports/signals.js";
import { publishText, stageText } from "../realtime/stage.js";
import type { StoredDocument } from "../../ports/documents.js";
import { documentText } from "./render.js";
import { showOpenly, showWhole } from "./visible.js";
import type { AnyDocumentSpec, Emission } from "../../ports/document-spec.js";

type Body = Readonly<Record<string, unknown>>;

/** The changes of an update. */
export interface DocumentChange {
  /** The members that are new. */
  readonly diff: Body;
  readonly before: StoredDocument;
}

/**
 * Sends what a change of a document emits: durable signals with the transaction, ephemeral ones
 * after it. Topics that the document has left are told that it did. `change` is that of an update.
 */
export async function emitSignals(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  change: DocumentChange | null,
): Promise<void> {
  if (spec.emits === undefined) return;
  const due = spec.emits.filter(
    ({ on: verb, ifChanged }) =>
      verb === on && (ifChanged?.some((field) => hasMember(change?.diff, field)) ?? true),
  );
  const told = new Set<string>();
  if (due.length > 0) {
    const text = documentText(spec, showOpenly(spec, stored));
    const document = JSON.parse(documentText(spec, showWhole(stored))) as Body;
    for (const { event, delivery, storedAs = event, data, ...target } of due) {
      const to = targetOf(target, document);
      if (to === null) continue;
      const payload = data === undefined ? text : payloadText(data, document);
      if ("topic" in to) told.add(to.topic);
      if (delivery === "ephemeral") publishText(context, event, payload, to);
      else if ("principal" in to)
        await stageText(context, event, payload, [to.principal], { storedAs });
    }
  }
  tellLeft(spec, context, on, stored, change, told);
}

/**
 * Tells the topics that a document was on and has left: with its id alone, since they may not see
 * what it has become. A topic that has just been told of the change itself needs no more.
 */
function tellLeft(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  change: DocumentChange | null,
  told: ReadonlySet<string>,
): void {
  const leaves = on === "delete" || (on === "kill" && !stored.isDeleted);
  const before = leaves ? stored : on === "update" ? change?.before : undefined;
  const topics = (spec.emits ?? []).flatMap((one) => ("topic" in one ? [one] : []));
  if (before === undefined || topics.length === 0 || (!leaves && before.isDeleted)) return;
  const [was, is] = [before, stored].map(
    (one) => JSON.parse(documentText(spec, showWhole(one))) as Body,
  );
  const left = new Set<string>();
  // An event may go to a topic in several ways.
  const stays = new Set(
    leaves ? [] : topics.map(({ event, topic }) => `${event} ${topicOf(topic, is ?? {})}`),
  );
  for (const { event, topic } of topics) {
    const old = topicOf(topic, was ?? {});
    if (old === null || told.has(old) || left.has(`${event} ${old}`)) continue;
    if (stays.has(`${event} ${old}`)) continue;
    left.add(`${event} ${old}`);
    const data = { topic: old, event, id: stored.id };
    publishText(context, "realtime.removed", JSON.stringify(data), { topic: old });
  }
}

/** A chosen payload: members that the document lacks are left out. */
function payloadText(data: Readonly<Record<string, string>>, document: Body): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(data).map(([member, field]) => [member, document[field]])),
  );
}

function hasMember(diff: Body | undefined, field: string): boolean {
  return diff !== undefined && Object.hasOwn(diff, field);
}

/** Its audience; null if the field that names it is null. */
function targetOf(
  target: { readonly principal: string } | { readonly topic: string },
  document: Body,
): SignalTarget | null {
  if ("principal" in target) {
    const principal = document[target.principal];
    return typeof principal === "string" ? { principal } : null;
  }
  const topic = topicOf(target.topic, document);
  return topic === null ? null : { topic };
}

/**
 * A topic with a document's values in place of the fields in braces; null if one of them is
 * null.
 */
function topicOf(pattern: string, document: Body): string | null {
  let isWhole = true;
  const topic = pattern.replaceAll(/\{([^{}]+)\}/g, (_braces, field: string) => {
    const value = document[field] ?? null;
    isWhole &&= value !== null;
    return String(value);
  });
  return isWhole ? topic : null;
}
