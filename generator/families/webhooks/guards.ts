// Who may hear an event: its own guard, or that of the document that it tells of.
import type { DocumentModel } from "../../model/document-model.js";
import type { OutboxEventModel } from "../outbox/model.js";
import type { HookUse } from "../../model/registry.js";
import { own } from "../../model/records.js";
import type { FamilyContext } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import { guardsOf } from "../documents/guard.js";
import { get } from "../documents/verbs/get.js";
import type { EventGuard } from "./model.js";

/** Steps that are about a request, not about who makes it. */
const ofRequests = /^(?:principal|session|rate_limit .*)$/;

/** The steps of a policy that owners of webhooks are asked again, when nobody calls. */
export function askedAgain(hooks: readonly HookUse[]): readonly HookUse[] {
  return hooks.filter(({ id, phase }) => phase === "before" && !ofRequests.test(id));
}

/** What webhooks ask of events that declare nothing. */
interface GuardContext {
  readonly documents: ReadonlyMap<string, DocumentModel>;
  /** The policy of webhooks. */
  readonly usual: string;
}

/**
 * The guard of an event: the policy that it names; else that of `get` of the document whose type it
 * carries; else that of webhooks, asked of the event's own namespace. Reports one that narrows rows
 * (OPW098), since an event is told whole, and steps that would never be asked (OPW099).
 */
export function eventGuard(
  context: FamilyContext,
  name: string,
  { guard, typeName }: OutboxEventModel,
  { documents, usual }: GuardContext,
): EventGuard {
  const { declarations, report, tree } = context;
  const [namespace = ""] = name.split(".");
  const document =
    guard === null ? [...documents.values()].find((one) => one.typeName === typeName) : undefined;
  const declaration = own(declarations.documents, document?.name ?? "");
  const [reading] =
    document === undefined || declaration === undefined
      ? []
      : guardsOf(tree, document.name, declaration, get, null);
  const policy = guard ?? reading?.policy ?? usual;
  const at =
    guard === null
      ? tree.keyAt("outbox", "events", name)
      : tree.at("outbox", "events", name, "guard");
  const isNarrowing = (own(declarations.policies, policy) ?? []).some(
    (step) => typeof step !== "string" && step.scope !== undefined,
  );
  if (isNarrowing) {
    const message =
      document === undefined
        ? `${policy} narrows rows, and ${name} is told whole`
        : `${name} tells of ${document.name}, whose ${policy} narrows rows, and is told whole`;
    report({ code: "OPW098", message, at });
    return { policy, hooks: [] };
  }
  const resource = document?.name ?? namespace;
  const chain = hookChain(context, [{ policy, at }], resource);
  const unasked = chain.find((hook) => hook.isAuthored && hook.phase !== "before");
  // Whoever subscribes has passed the policy of webhooks as a request.
  if (unasked !== undefined && policy !== usual) {
    const message = `${unasked.id} of ${policy} runs in ${unasked.phase}, where it is not asked who may hear ${name}`;
    report({ code: "OPW099", message, at });
  }
  return { policy, hooks: askedAgain(chain) };
}
