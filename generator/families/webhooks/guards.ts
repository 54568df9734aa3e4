// Who may hear an event: its own guard, or that of the document that it tells of.
import type { DocumentModel } from "../../model/document-model.js";
import type { HookUse, OutboxEventModel } from "../../model/registry.js";
import { own } from "../../model/records.js";
import type { FamilyContext } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import { guardOf } from "../documents/guard.js";
import type { EventGuard } from "./model.js";

/** Steps that are about a request, not about who makes it. */
const ofRequests = /^(?:principal|session|rate_limit .*)$/;

/** The steps of a policy that owners of webhooks are asked again, when nobody calls. */
export function askedAgain(hooks: readonly HookUse[]): readonly HookUse[] {
  return hooks.filter(({ id, phase }) => phase === "before" && !ofRequests.test(id));
}

/**
 * The guard of an event: the policy that it names, else that of `get` of the document whose type it carries. Reports a guard
 * that narrows rows (OPW098), since an event is told whole, and an event with neither (OPW099, a warning).
 */
export function eventGuard(
  context: FamilyContext,
  name: string,
  { guard, typeName }: OutboxEventModel,
  documents: ReadonlyMap<string, DocumentModel>,
): EventGuard {
  const { declarations, report, tree } = context;
  const [resource = ""] = name.split(".");
  const document = [...documents.values()].find((one) => one.typeName === typeName);
  const declaration = own(declarations.documents, document?.name ?? "");
  const isOwn = guard !== null;
  const at = isOwn
    ? tree.at("outbox", "events", name, "guard")
    : tree.keyAt("outbox", "events", name);
  if (!isOwn && (document === undefined || declaration === undefined)) {
    const message = `${name} has no guard, so whoever may have a webhook hears it whole`;
    report({ code: "OPW099", message, at });
    return { policy: null, hooks: [] };
  }
  const policy =
    guard ?? (declaration === undefined ? "" : guardOf(declaration, "get", null).policy);
  const of = isOwn ? resource : (document?.name ?? resource);
  const isNarrowing = (own(declarations.policies, policy) ?? []).some(
    (step) => typeof step !== "string" && step.scope !== undefined,
  );
  if (isNarrowing) {
    const message = isOwn
      ? `${policy} narrows rows, and ${name} is told whole`
      : `${name} tells of ${of}, whose ${policy} narrows rows, and is told whole`;
    report({ code: "OPW098", message, at });
    return { policy, hooks: [] };
  }
  return { policy, hooks: askedAgain(hookChain(context, { policy, at }, of)) };
}
