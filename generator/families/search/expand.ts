// The search family: a declaration becomes a search model and four operations (service.md "Search
// routes").
import { errorsOfVisible } from "../documents/members/visible.js";
import { reachableFrom } from "../documents/queries/related.js";
import { isStemmed, type StemmedLanguage } from "../../../runtime/contract/search-languages.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { SearchDeclaration } from "./format.js";
import { ofGenerated } from "../../model/code.js";
import { pascalCase, specName } from "../../model/names.js";
import { nounOf } from "../../model/nouns.js";
import { own } from "../../model/records.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { SearchModel } from "./model.js";
import { guardsOf } from "../documents/guard.js";
import { get } from "../documents/verbs/get.js";
import {
  deadlineOf,
  extensionsOf,
  type FamilyContext,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { checkGuardNames, policyNamed, policyOfGroup } from "../../kernel/guard-by-operation.js";
import { guardText, hookChain, type GuardUse } from "../../kernel/guards.js";
import { checkHookNames, namedHooks, type HookedDeclaration } from "../../kernel/named-hooks.js";
import { operationOfVerb } from "../../kernel/verb.js";
import { searchVerbs, type SearchVerb } from "./verbs.js";

/** Labels that a text index has, one a field. */
const maxTexts = 4;

/** One search declaration, expanded. */
export interface ExpandedSearch {
  readonly model: SearchModel;
  readonly operations: readonly UnmountedOperation[];
}

/** Reports a search that is of no document, and over no others. */
export function lacksMembers(
  { tree, report }: FamilyContext,
  name: string,
  { of, text }: Partial<Pick<SearchDeclaration, "of" | "text">>,
): boolean {
  const missing = of === undefined ? "of" : text === undefined ? "text" : null;
  if (missing === null) return false;
  const message = `\`${missing}\` is missing`;
  report({ code: "OPW012", message, at: tree.keyAt("search", name) });
  return true;
}

/** Expands `search.<name>`; undefined if what it searches is not there. */
export function expandSearch(
  context: FamilyContext,
  name: string,
  declaration: SearchDeclaration,
  documents: ReadonlyMap<string, DocumentModel>,
): ExpandedSearch | undefined {
  const { tree, report } = context;
  const document = documents.get(declaration.of);
  if (document === undefined) {
    // A document whose own declaration is faulty has been reported.
    if (!Object.hasOwn(tree.section("documents"), declaration.of)) {
      const suggestion = didYouMean(declaration.of, documents.keys());
      const at = tree.at("search", name, "of");
      report({ code: "OPW037", message: `there is no document ${declaration.of}`, at, suggestion });
    }
    return undefined;
  }
  const { guard } = declaration;
  const names = searchVerbs.map((verb) => verb.name);
  const placed = { tree, path: ["search", name, "guard"], guard } as const;
  checkGuardNames(context, name, placed, {
    names,
    groups: ["read"],
  });
  checkHookNames(context, hookedOf(name, declaration), names);
  const model: SearchModel = {
    name,
    was: declaration.was ?? declaration.former ?? null,
    source: tree.keyAt("search", name).file,
    document: document.name,
    text: textOf(context, name, declaration, document),
    language: languageOf(declaration),
    facets: facetsOf(context, name, declaration, document),
  };
  return {
    model,
    operations: searchVerbs.map((verb) =>
      expandVerb(context, model, declaration, document, verb, documents),
    ),
  };
}

/** Weights by field; 1 where the registry gives none. */
function textOf(
  { tree, report }: FamilyContext,
  name: string,
  { text }: SearchDeclaration,
  { fields, visible }: DocumentModel,
): Readonly<Record<string, number>> {
  const isList = Array.isArray(text);
  const entries: readonly (readonly [string, unknown])[] = isList
    ? (text as readonly string[]).map((field) => [field, 1])
    : Object.entries(text);
  for (const [index, [field, weight]] of entries.entries()) {
    const at = isList
      ? tree.at("search", name, "text", index)
      : tree.keyAt("search", name, "text", field);
    const type = own(fields, field);
    if (type === undefined) {
      const suggestion = didYouMean(field, Object.keys(fields));
      report({ code: "OPW037", message: `there is no field ${field}`, at, suggestion });
    } else if (type !== "string" && type !== "string[]" && type !== "enum") {
      report({ code: "OPW037", message: `${field} is ${type}, not text`, at });
    } else if (visible.some(({ fields: hidden }) => hidden.includes(field))) {
      report({
        code: "OPW113",
        message: `a search in ${field} would find it for those who may not see it`,
        at,
      });
    }
    if (typeof weight !== "number" || weight <= 0 || weight > 1_000)
      report({ code: "OPW037", message: "a weight is a number above 0, up to 1000", at });
  }
  if (entries.length > maxTexts) {
    const message = `a search has ${maxTexts} fields of text at most`;
    report({ code: "OPW037", message, at: tree.at("search", name, "text") });
  }
  return Object.fromEntries(entries.map(([field, weight]) => [field, Number(weight)]));
}

/** Chinese, Japanese and Korean are found by their characters, whatever a search says. */
function languageOf({ language }: SearchDeclaration): StemmedLanguage | null {
  return language !== undefined && isStemmed(language) ? language : null;
}

function facetsOf(
  { tree, report }: FamilyContext,
  name: string,
  { facets = [] }: SearchDeclaration,
  { fields }: DocumentModel,
): readonly string[] {
  for (const [index, field] of facets.entries()) {
    const at = tree.at("search", name, "facets", index);
    const type = own(fields, field);
    if (type === undefined) {
      const suggestion = didYouMean(field, Object.keys(fields));
      report({ code: "OPW037", message: `there is no field ${field}`, at, suggestion });
    } else if (type.startsWith("object")) {
      report({ code: "OPW037", message: `${field} is ${type}, which has no values to count`, at });
    }
  }
  return facets;
}

function hookedOf(name: string, { hooks }: SearchDeclaration): HookedDeclaration {
  return { path: ["search", name], hooks };
}

/**
 * What guards an operation of a search. A hit is the document: nobody finds what `get` refuses. The
 * resource is the document as well.
 */
export function guardsOfSearch(
  { tree, declarations }: FamilyContext,
  name: string,
  guard: SearchDeclaration["guard"],
  document: DocumentModel,
  verb: string,
): readonly GuardUse[] {
  const placed = { tree, path: ["search", name, "guard"], guard } as const;
  const asked = policyNamed(placed, verb) ?? policyOfGroup(placed, "read");
  const searched = own(declarations.documents, document.name);
  const reading = searched === undefined ? [] : guardsOf(tree, document.name, searched, get, null);
  return [...reading.filter((one) => one.policy !== asked.policy), asked];
}

function expandVerb(
  context: FamilyContext,
  model: SearchModel,
  declaration: SearchDeclaration,
  document: DocumentModel,
  verb: SearchVerb,
  documents: ReadonlyMap<string, DocumentModel>,
): UnmountedOperation {
  const { tree } = context;
  const searched = own(context.declarations.documents, document.name);
  const guards = guardsOfSearch(context, model.name, declaration.guard, document, verb.name);
  const spec = ofGenerated(`search/${model.name}`, specName(model.name));
  const hooked = hookedOf(model.name, declaration);
  return operationOfVerb(
    verb,
    {
      namespace: model.name,
      family: "search",
      source: model.source,
      guard: guardText(guards),
      hooks: hookChain(context, guards, document.name, namedHooks(context, hooked, verb.name)),
      at: tree.keyAt("search", model.name),
      noun: nounOf(document.name, searched?.singular),
    },
    { model, document, spec, typeName: `${pascalCase(`${model.name}.${verb.name}`)}Input` },
    {
      description: declaration.description ?? null,
      deadlineSeconds: deadlineOf(context, declaration.deadline),
      transaction: "read",
      isSensitive: document.sensitive,
      effect: "reads",
      isTool: true,
      lists: document.name,
      errors: reachableFrom(document, Object.fromEntries(documents)).flatMap(errorsOfVisible),
      extensions: extensionsOf(declaration),
    },
  );
}
