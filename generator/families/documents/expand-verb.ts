// From a verb to one operation of a document, or of a view of it (service.md "Document routes").
import type { DocumentDeclaration } from "./format.js";
import { own } from "../../model/records.js";
import { ofGenerated } from "../../model/code.js";
import { pascalCase, specName } from "../../model/names.js";
import { nounOf } from "../../model/nouns.js";
import type { DocumentModel, ToldMembers } from "../../model/document-model.js";
import { documentOf } from "../../model/views.js";
import type { OperationModel } from "../../model/registry.js";
import {
  deadlineOf,
  deprecationOf,
  extensionsOf,
  type FamilyContext,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { guardText, hookChain } from "../../kernel/guards.js";
import { namedHooks } from "../../kernel/named-hooks.js";
import { operationOfVerb } from "../../kernel/verb.js";
import { guardsOf, operationName } from "./guard.js";
import { hooksOfVerb, twinArguments, writtenBy } from "./twin-hooks.js";
import { takeKey } from "./members/keys.js";
import { errorsOfMoves } from "./members/states.js";
import { errorsOfVisible } from "./members/visible.js";
import { profilesAsked } from "./members/set.js";
import { reachableFrom, type Documents } from "./queries/related.js";
import { deedsOf, originalsOf } from "./verbs/index.js";
import type { Deed, DocumentVerb } from "./verbs/verb.js";

/** Expands one verb of a document, or of a view of it. */
export function expandVerb(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
  documents: Documents,
): UnmountedOperation {
  const { tree } = context;
  const { view } = model;
  const document = documentOf(model.name);
  const name = operationName(verb, view);
  const hooked = { path: ["documents", document], hooks: declaration.hooks } as const;
  const guards = guardsOf(tree, document, declaration, verb, view);
  const hooks = hookChain(context, guards, document, namedHooks(context, hooked, name));
  const each = writtenBy(verb, model).flatMap((of) =>
    hooksOfVerb(context, document, declaration, of).map((hook) => ({ of: of.name, ...hook })),
  );
  const shaped = view === null ? verb : ofView(verb, view);
  return operationOfVerb(
    { ...shaped, input: (place) => takeKey(model, shaped.input(place)) },
    {
      namespace: document,
      name,
      family: "documents",
      source: model.source,
      guard: guardText(guards),
      hooks,
      at: tree.keyAt("documents", document, ...(view === null ? [] : ["views", view.name])),
      noun: nounOf(document, declaration.singular),
    },
    {
      model,
      spec: ofGenerated(`documents/${document}`, specName(model.name)),
      typeName: `${pascalCase(`${model.name}.${verb.name}`)}Input`,
      twins: twinArguments(model, verb),
    },
    {
      ...factsOfDeeds(model, verb),
      eachHooks: each.map(({ of, id, phase }) => ({ of, id, phase })),
      deadlineSeconds: deadlineOf(context, declaration.deadline),
      idempotencyKey: declaration.idempotency?.includes(name) ?? false,
      // The version is that of the whole document, which a view doesn't show.
      isConditional: view === null && verb.isConditional === true,
      isSensitive: model.sensitive,
      deprecated: deprecationOf(context, declaration.deprecated?.[name], [
        "documents",
        document,
        "deprecated",
        name,
      ]),
      isTool: true,
      errors: [
        ...uniqueErrors(context, model, verb),
        ...overlapErrors(model, verb),
        ...stateErrors(model, verb),
        ...visibleErrors(model, verb, documents),
        ...profileErrors(model, verb),
        ...each.flatMap(({ errors }) => errors),
      ],
      extensions: extensionsOf(declaration),
    },
  );
}

/** The facts that follow from a verb's effect on documents. */
function factsOfDeeds(
  model: DocumentModel,
  verb: DocumentVerb,
): Pick<OperationModel, "effect" | "transaction" | "lists" | "queries" | "adds" | "emits"> {
  const document = documentOf(model.name);
  const deeds = deedsOf(verb, model);
  const isRead = deeds.length === 0;
  const addsOnly = deeds.every((deed) => deed === "creates");
  const isFound = verb.about === "found";
  return {
    effect: isRead ? "reads" : addsOnly ? "adds" : "changes",
    transaction: isRead ? "read" : "write",
    lists: isFound ? document : null,
    queries: isFound && isRead ? model.name : null,
    adds: deeds.includes("creates") ? document : null,
    emits: emittedBy(model, verb),
  };
}

/** The signals that a verb sends: its own, or those of the verbs that it is a twin of. */
function emittedBy(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  const originals = originalsOf(verb, model);
  const sending = (originals.length === 0 ? [verb] : originals).map(({ name }) => name);
  const sent = model.emits.flatMap(({ on, event }) => (sending.includes(on) ? [event] : []));
  return [...new Set(sent)];
}

/** The verb as a view has it: below the view's name, which its summary says. */
function ofView(verb: DocumentVerb, view: ToldMembers): DocumentVerb {
  const { summary, rest, rpc = rest } = verb;
  return {
    ...verb,
    summary: (noun) => `${summary(noun)} (${view.name})`,
    rest: [rest[0], `/views/${view.name}${rest[1]}`],
    rpc: [rpc[0], `/${operationName(verb, view)}`],
  };
}

/**
 * Whether a verb does one of these to one document. Verbs about many refuse each document by
 * itself.
 */
function doesToOne(model: DocumentModel, verb: DocumentVerb, asked: readonly Deed[]): boolean {
  return verb.about === "one" && deedsOf(verb, model).some((deed) => asked.includes(deed));
}

/** A rule that is no longer declared holds until it is purged. */
function uniqueErrors(
  { stored }: FamilyContext,
  model: DocumentModel,
  verb: DocumentVerb,
): readonly string[] {
  const { indexes = {} } = own(stored.tables, model.table) ?? {};
  const isHeld =
    (model.takesIds && doesToOne(model, verb, ["creates"])) ||
    model.unique.length > 0 ||
    Object.values(indexes).some((index) => index.unique);
  const occupies = doesToOne(model, verb, ["creates", "updates", "restores"]);
  return isHeld && occupies ? ["unique_violation"] : [];
}

function overlapErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  const occupies = doesToOne(model, verb, ["creates", "updates", "restores"]);
  return model.overlaps.length > 0 && occupies ? ["overlap_violation"] : [];
}

function stateErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  const isChange = doesToOne(model, verb, ["updates"]);
  return isChange || doesToOne(model, verb, ["creates"]) ? errorsOfMoves(model, isChange) : [];
}

/** Who may not see a field can neither write it nor ask about it. */
function visibleErrors(
  model: DocumentModel,
  verb: DocumentVerb,
  documents: Documents,
): readonly string[] {
  if (verb.about === "found") return reachableFrom(model, documents).flatMap(errorsOfVisible);
  return doesToOne(model, verb, ["creates", "updates"]) ? errorsOfVisible(model) : [];
}

/** Values that the service sets from the caller's profile need one. */
function profileErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  const isAsked = profilesAsked(model).some(({ on }) =>
    doesToOne(model, verb, on !== "write" ? ["creates"] : ["creates", "updates"]),
  );
  return isAsked ? ["profile_required"] : [];
}
