// `webhooks:` → the operations by which callers subscribe to integration events.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { builtInNamespace, expandBuiltIn, signedIn } from "../../kernel/built-in.js";
import { isSectionLeftOut } from "../../kernel/left-out.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { hookChain, requiresAuthn } from "../../kernel/guards.js";
import { ofGenerated } from "../../model/code.js";
import { sessionHook } from "../../kernel/runtime-hooks.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { OutboxEventModel } from "../outbox/model.js";
import { askedAgain, eventGuard } from "./guards.js";
import type { WebhooksModel } from "./model.js";
import { webhookTypes } from "./types.js";
import { webhookVerbs } from "./verbs.js";

const usualMost = 20;

/** The model, null if `webhooks:` isn't declared or can't be expanded, and the namespaces. */
export interface ExpandedWebhooks {
  readonly model: WebhooksModel | null;
  readonly namespaces: readonly NamespaceExpansion[];
}

/**
 * Expands `webhooks:` and adds its types to the table. Reports missing sections that it needs
 * (OPW057), and events that are unknown or opwright's own (OPW075).
 */
export function expandWebhooks(
  context: FamilyContext,
  outbox: Readonly<Record<string, OutboxEventModel>> | null,
  documents: ReadonlyMap<string, DocumentModel>,
): ExpandedWebhooks {
  const { declarations, tree, types, report } = context;
  const { webhooks: declared, identity } = declarations;
  if (declared === undefined) return { model: null, namespaces: [] };
  const at = tree.keyAt("webhooks");
  for (const [section, is] of [
    ["identity", identity !== undefined],
    ["outbox", outbox !== null],
  ] as const)
    if (!is && !isSectionLeftOut(context, section))
      report({ code: "OPW057", message: `webhooks need \`${section}:\``, at });
  if (identity === undefined || outbox === null) return { model: null, namespaces: [] };
  // Nobody may subscribe to opwright's own events: they carry secrets, such as the token of a
  // password reset.
  const own = Object.keys(outbox).filter((name) => outbox[name]?.typeName !== null);
  for (const [index, name] of (declared.events ?? []).entries())
    if (!own.includes(name))
      report({
        code: "OPW075",
        message: `${name} is no event of your own in \`outbox\``,
        at: tree.at("webhooks", "events", index),
        suggestion: didYouMean(name, own),
      });
  const events = [...new Set(declared.events ?? own)].filter((name) => own.includes(name)).sort();
  for (const [name, schema] of Object.entries(webhookTypes)) types.table.add(name, schema, at);
  const { guard: policy } = declared;
  const chain = hookChain(context, [{ policy, at: tree.at("webhooks", "guard") }], "webhooks");
  // A webhook outlives keys and delegations, so who manages one has a session of its own.
  const hooks = [
    ...(requiresAuthn(chain) ? [] : signedIn.hooks),
    ...chain,
    ...(chain.some(({ id }) => id === sessionHook.id) ? [] : [sessionHook]),
  ];
  const former = events.flatMap((name): readonly (readonly [string, string])[] => {
    const was = outbox[name]?.was;
    return was === undefined ? [] : [[name, was]];
  });
  const model: WebhooksModel = {
    events,
    ...(former.length === 0 ? {} : { was: Object.fromEntries(former) }),
    most: declared.max ?? usualMost,
    asked: askedAgain(hooks),
    guards: Object.fromEntries(
      events.flatMap((name) => {
        const event = outbox[name];
        return event === undefined
          ? []
          : [[name, eventGuard(context, name, event, { documents, usual: policy })]];
      }),
    ),
  };
  const spec = ofGenerated("webhooks", "webhooksSpec");
  const place = {
    family: "webhooks",
    handlers: "webhooks",
    namespace: "webhooks",
    at,
    guard: { policy, hooks },
    spec,
  } as const;
  return {
    model,
    namespaces: builtInNamespace(
      { name: "webhooks", description: "Addresses that hear of events." },
      at,
      expandBuiltIn(context, place, webhookVerbs(model)),
      {
        path: ["webhooks", "mount"],
        declared: declared.mount,
        usual: "/webhooks",
      },
    ),
  };
}
