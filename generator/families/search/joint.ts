// A search over others: their hits in one ranking, each as far as its own document may be read
// (decisions.md "Search").
import { errorsOfVisible } from "../documents/members/visible.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import {
  deadlineOf,
  extensionsOf,
  type FamilyContext,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { checkGuardNames, policyNamed, policyOfGroup } from "../../kernel/guard-by-operation.js";
import { guardText, hookChain, isAuthorsSay, isLimited } from "../../kernel/guards.js";
import { checkHookNames, namedHooks } from "../../kernel/named-hooks.js";
import { operationOfVerb } from "../../kernel/verb.js";
import { ofGenerated } from "../../model/code.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { HookUse } from "../../model/registry.js";
import { pascalCase, specName } from "../../model/names.js";
import { nounOf } from "../../model/nouns.js";
import { own } from "../../model/records.js";
import type { JointSearchDeclaration } from "./format.js";
import { guardsOfSearch } from "./expand.js";
import { find } from "./joint-verb.js";
import type { JointSearchModel, SearchModel } from "./model.js";

/** Searches that one request asks. */
const maxOver = 8;

/** A declaration of a search over others, expanded. */
export interface ExpandedJointSearch {
  readonly model: JointSearchModel;
  readonly operation: UnmountedOperation;
}

/** The searches and documents that there are. */
interface Known {
  readonly searches: ReadonlyMap<string, SearchModel>;
  readonly documents: ReadonlyMap<string, DocumentModel>;
}

/** Expands `search.<name>` with `over`. Reports what can't be searched together. */
export function expandJointSearch(
  context: FamilyContext,
  name: string,
  declaration: JointSearchDeclaration,
  known: Known,
): ExpandedJointSearch {
  const { tree } = context;
  const { guard, hooks } = declaration;
  const placed = { tree, path: ["search", name, "guard"], guard } as const;
  checkGuardNames(context, name, placed, { names: [find.name], groups: ["read"] });
  const hooked = { path: ["search", name], hooks } as const;
  checkHookNames(context, hooked, [find.name]);
  refuseOwnMembers(context, name, declaration);
  const parts = partsOf(context, name, declaration, known);
  const model: JointSearchModel = {
    name,
    source: tree.keyAt("search", name).file,
    over: parts.map(({ hooks: chain, ...part }) => ({
      ...part,
      reading: chain.map(({ run }) => run),
    })),
  };
  const guards = [policyNamed(placed, find.name) ?? policyOfGroup(placed, "read")];
  const documents = model.over.flatMap(({ document }) => known.documents.get(document) ?? []);
  const operation = operationOfVerb(
    find,
    {
      namespace: name,
      family: "search",
      source: model.source,
      guard: guardText(guards),
      hooks: hookChain(context, guards, name, namedHooks(context, hooked, find.name)),
      at: tree.keyAt("search", name),
      noun: nounOf(documents.map((document) => nounOf(document.name).many).join(", ")),
    },
    {
      model,
      documents,
      searches: model.over.flatMap(({ search }) => known.searches.get(search) ?? []),
      spec: ofGenerated(`search/${name}`, specName(name)),
      typeName: `${pascalCase(`${name}.${find.name}`)}Input`,
    },
    {
      description: declaration.description ?? null,
      deadlineSeconds: deadlineOf(context, declaration.deadline),
      transaction: "read",
      // Sensitive documents can't be among them.
      isSensitive: false,
      effect: "reads",
      isTool: true,
      // What anybody may find without limit, so that `check` warns of it.
      lists: parts.find(({ hooks: chain }) => !isLimited(chain))?.document ?? null,
      errors: [
        ...new Set(parts.flatMap(({ hooks: chain }) => chain.flatMap(({ errors }) => errors))),
        ...documents.flatMap(errorsOfVisible),
      ],
      extensions: extensionsOf(declaration),
    },
  );
  return { model, operation };
}

/** What belongs to searches of one document. */
function refuseOwnMembers(
  { tree, report }: FamilyContext,
  name: string,
  declaration: JointSearchDeclaration,
): void {
  for (const key of ["of", "text", "language", "facets", "was"] as const)
    if (declaration[key] !== undefined)
      report({
        code: "OPW037",
        message: `a search over others takes no \`${key}\`: declare it in the searches that \`over\` names`,
        at: tree.keyAt("search", name, key),
      });
}

/** One of the searches, with what guards it. */
interface Part {
  readonly search: string;
  readonly document: string;
  readonly hooks: readonly HookUse[];
}

/** What guards a search and its documents; null if that judges requests. */
function guardOf(
  context: FamilyContext,
  search: string,
  document: DocumentModel,
): readonly HookUse[] | null {
  const declared = own(context.declarations.search, search);
  if (declared === undefined || document.sensitive) return null;
  // The search itself reports a faulty policy.
  const quiet = { ...context, report: () => undefined };
  const guards = guardsOfSearch(context, search, declared.guard, document, "typed");
  const chain = hookChain(quiet, guards, document.name);
  return chain.some(isAuthorsSay) ? null : chain;
}

function partsOf(
  context: FamilyContext,
  name: string,
  { over }: JointSearchDeclaration,
  { searches, documents }: Known,
): readonly Part[] {
  const { tree, report, declarations } = context;
  if (over.length > maxOver) {
    const message = `\`over\` names ${maxOver} searches at most`;
    report({ code: "OPW037", message, at: tree.at("search", name, "over") });
  }
  const seen = new Set<string>();
  return over.flatMap((search, index) => {
    const at = tree.at("search", name, "over", index);
    const model = searches.get(search);
    const document = documents.get(model?.document ?? "");
    if (model === undefined || document === undefined) {
      // A search whose own declaration is faulty has been reported.
      if (own(declarations.search, search)?.of === undefined) {
        const suggestion = didYouMean(search, searches.keys());
        const message = `there is no search ${search} of a document`;
        report({ code: "OPW037", message, at, suggestion });
      }
      return [];
    }
    if (seen.has(document.name)) {
      const message = `${search} searches ${document.name} again, so each hit would appear twice`;
      report({ code: "OPW037", message, at });
      return [];
    }
    seen.add(document.name);
    const hooks = guardOf(context, search, document);
    if (hooks !== null) return [{ search, document: document.name, hooks }];
    const message = `${search} can't be in \`over\`: its documents are sensitive, or its guard has hooks of your own that can refuse`;
    report({ code: "OPW037", message, at });
    return [];
  });
}
