// The signals that changes of documents send, whoever makes them: routes or handlers (registry "emits").
import type { ExecutionContext } from "../../operations/context.js";
import type { SignalTarget } from "../../ports/signals.js";
import { publishText, stageText } from "../realtime/stage.js";
import type { StoredDocument } from "../../ports/documents.js";
import { documentText } from "./render.js";
import type { AnyDocumentSpec, Emission } from "../../ports/document-spec.js";

type Body = Readonly<Record<string, unknown>>;

/** Sends what a change of a document emits: durable signals with the transaction, ephemeral ones after it. `diff` is what a patch changed. */
export async function emitSignals(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  diff: Body = {},
): Promise<void> {
  const due = (spec.emits ?? []).filter(
    ({ on: verb, ifChanged }) =>
      verb === on && (ifChanged?.some((field) => Object.hasOwn(diff, field)) ?? true),
  );
  if (due.length === 0) return;
  const text = documentText(spec, stored);
  const document = JSON.parse(text) as Body;
  for (const { event, delivery, ...target } of due) {
    const to = targetOf(target, document);
    if (to === null) continue;
    if (delivery === "ephemeral") publishText(context, event, text, to);
    else if ("principal" in to) await stageText(context, event, text, [to.principal]);
  }
}

/** Who hears it; null where a field that says so is null. */
function targetOf(
  target: { readonly principal: string } | { readonly topic: string },
  document: Body,
): SignalTarget | null {
  if ("principal" in target) {
    const principal = document[target.principal];
    return typeof principal === "string" ? { principal } : null;
  }
  let isWhole = true;
  const topic = target.topic.replaceAll(/\{([^{}]+)\}/g, (_braces, field: string) => {
    const value = document[field] ?? null;
    isWhole &&= value !== null;
    return String(value);
  });
  return isWhole ? { topic } : null;
}
