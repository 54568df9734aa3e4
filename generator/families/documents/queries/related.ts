// What callers may reach from one document: those that its references name, and those that name it.
import { limits } from "../../../../runtime/contract/limits.js";
import { isScalarType } from "../../../../runtime/contract/query-operators.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { hookChain, isAuthorsSay, isRate } from "../../../kernel/guards.js";
import type { DocumentModel, ReadModel } from "../../../model/document-model.js";
import {
  objectSchema,
  propertiesOf,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { pascalCase } from "../../../model/names.js";
import { queryableFields } from "../../../model/query-fields.js";
import { ledTo, documentOf, readBy, applyView } from "../../../model/views.js";
import type { DocumentDeclaration } from "../format.js";
import { constraintsOf, enumConstraints, type RelatedQueries } from "./query-schemas.js";
import { referrersOf } from "../members/references.js";
import { guardsOf } from "../guard.js";
import { get } from "../verbs/get.js";

export type Documents = Readonly<Record<string, DocumentModel>>;

/**
 * What lets a caller see documents, or a view of them, by way of others: the guard of reading one.
 * Null where nobody may: where the documents are on no mount, and where the author's own code has a
 * say, which judges requests.
 */
export function readingOf(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
): DocumentModel["reading"] {
  if (model.sensitive) return null;
  // The operation itself reports a faulty policy.
  const quiet = { ...context, report: () => undefined };
  const document = documentOf(model.name);
  const guards = guardsOf(context.tree, document, declaration, get, model.view);
  const hooks = hookChain(quiet, guards, document);
  if (hooks.some(isAuthorsSay)) return null;
  // The operation that asks has a rate of its own.
  return hooks.filter((hook) => !isRate(hook)).map(({ run }) => run);
}

/**
 * The models, with who may see them, and views of them, by way of others; null if there is no
 * such way.
 */
export function withReading(
  models: Documents,
  whoReads: (model: DocumentModel) => DocumentModel["reading"],
): Documents {
  const all = Object.values(models);
  const led = new Set(all.flatMap(({ references }) => references.map(ledTo)));
  const isRelated = (model: DocumentModel): boolean =>
    model.references.length > 0 || referrersOf({ documents: models }, model.name).length > 0;
  const read = byName(
    all.map((model) => ({
      ...model,
      reading: isRelated(model) ? whoReads(model) : null,
      views: model.views.map((view) => {
        const seen = applyView(model, view);
        return led.has(seen.name) ? { ...view, reading: whoReads(seen) } : view;
      }),
    })),
  );
  return byName(
    Object.values(read).map((model) => ({
      ...model,
      ...pathsOf(model, read),
      views: model.views.map((view) => ({ ...view, ...pathsOf(applyView(model, view), read) })),
    })),
  );
}

function byName(models: readonly DocumentModel[]): Documents {
  return Object.fromEntries(models.map((model) => [model.name, model]));
}

/** Expansions of documents or of a view, and the name of the type that has them. */
function pathsOf(
  model: DocumentModel,
  models: Documents,
): Pick<ReadModel, "expandable" | "readTypeName"> {
  const expandable = pathsFrom(model, models, limits.maxExpansionDepth);
  return {
    expandable,
    readTypeName: expandable.length === 0 ? model.typeName : `${pascalCase(model.name)}Expanded`,
  };
}

/** An expanded document has a name of its own in every document. */
export function refuseExpanded({ tree, report }: FamilyContext, documents: Documents): void {
  for (const { name, fields, expandable } of Object.values(documents))
    if (expandable.length > 0 && Object.hasOwn(fields, "expanded"))
      report({
        code: "OPW025",
        message: "expanded is where what the document names comes along",
        at: tree.keyAt("documents", name),
      });
}

/** The references of a document that callers may follow. */
function leadsOf(
  { references }: DocumentModel,
  models: Documents,
): readonly { readonly field: string; readonly target: DocumentModel; readonly many: boolean }[] {
  return references.flatMap((reference) => {
    const { field, many = false } = reference;
    const target = readBy(models, ledTo(reference));
    return target === undefined || target.reading === null ? [] : [{ field, target, many }];
  });
}

/** The documents that queries of one may be about: itself, and others in any number of steps. */
export function reachableFrom(
  model: DocumentModel,
  documents: Documents,
): readonly DocumentModel[] {
  const found = new Map([[documentOf(model.name), model]]);
  // A map that grows while it is walked is walked to its end.
  for (const one of found.values()) {
    const names = [
      ...one.references.map(({ document }) => document),
      ...referrersOf({ documents }, documentOf(one.name)).map(({ by }) => by.name),
    ];
    for (const name of names) {
      const other = documents[name];
      if (other !== undefined && !found.has(name)) found.set(name, other);
    }
  }
  return [...found.values()];
}

function pathsFrom(model: DocumentModel, models: Documents, depth: number): readonly string[] {
  if (depth === 0) return [];
  return leadsOf(model, models).flatMap(({ field, target }) => [
    field,
    ...pathsFrom(target, models, depth - 1).map((path) => `${field}.${path}`),
  ]);
}

/**
 * The types of a document with what it names, by their names: `TasksExpanded` and
 * `TasksExpansions`.
 */
export function expandedTypes(
  model: DocumentModel,
  models: Documents,
  document: SchemaObject,
): Readonly<Record<string, JsonSchema>> {
  if (model.expandable.length === 0) return {};
  const members = leadsOf(model, models).map(({ field, target, many }): [string, JsonSchema] => [
    field,
    many
      ? { type: "array", items: refTo(target.readTypeName) }
      : { anyOf: [refTo(target.readTypeName), { type: "null" }] },
  ]);
  const name = expansionsName(model);
  return {
    [model.readTypeName]: {
      ...document,
      properties: {
        ...propertiesOf(document),
        expanded: {
          ...refTo(name),
          description:
            "What members name, where `expand` asks for it; null is not there or not visible, and lists leave that out.",
        },
      },
    },
    [name]: objectSchema(Object.fromEntries(members), []),
  };
}

export function expansionsName({ name }: DocumentModel): string {
  return `${pascalCase(name)}Expansions`;
}

/** What queries of a document may ask of others. */
export function relatedQueries(
  model: DocumentModel,
  models: Documents,
  filterName: (document: string) => string,
): RelatedQueries {
  const through: Record<string, JsonSchema> = {};
  const sortable: string[] = [];
  const naming: Record<string, JsonSchema> = {};
  const addNaming = (of: DocumentModel, before: string): void => {
    for (const { by, field, many } of referrersOf({ documents: models }, documentOf(of.name)))
      if (by.reading !== null && many !== true)
        naming[`${before}${by.name}.${field}`] = refTo(filterName(by.name));
  };
  addNaming(model, "");
  for (const { field, target, many } of leadsOf(model, models)) {
    // Of a list, filters ask for the ids.
    if (many) continue;
    const fields = queryableFields(target);
    const enums = enumConstraints(target.name, fields, target.enums);
    const constraints = constraintsOf(fields, target.elements, enums);
    for (const [path, schema] of Object.entries(constraints)) through[`${field}.${path}`] = schema;
    for (const [path, type] of Object.entries(fields))
      if (isScalarType(type)) sortable.push(`${field}.${path}`);
    addNaming(target, `${field}.`);
  }
  return { through, sortable, naming };
}
