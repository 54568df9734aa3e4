// documents/<name>.ts: the spec of each document type, as the runtime reads it.
import {
  conversionsIn,
  declaredMembers,
  firstShape,
  type Shape,
} from "../../../runtime/contract/shapes.js";
import type { Stored, StoredTable } from "../../model/stored-tables.js";
import { targetOfEmission } from "./members/emissions.js";
import { own } from "../../model/records.js";
import { authoredIn, functionReference } from "../../model/code.js";
import type { ModulePaths } from "../../print/module-path.js";
import { ModuleScope } from "../../print/module-scope.js";
import { camelCase, specName } from "../../model/names.js";
import { bodyValidatorName } from "./body-validators.js";
import { referrersOf } from "./members/references.js";
import { handledType, setFiles, setMember } from "./members/set.js";
import type { DocumentModel } from "../../model/document-model.js";
import { ledTo, documentOf, readName, applyView } from "../../model/views.js";
import { carriedTypes, readTypes, typesLayout, withHandled } from "./carried-types.js";
import { readingMember, viewLines } from "./emit-views.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  importOf,
  importStatements,
  listLayout,
  literal,
  mapMember,
  width,
} from "../../print/layout.js";
import { nameLater } from "./name-later.js";
import { scopesMember } from "./scopes.js";
import { personalMember } from "./members/personal.js";
import { statesMember } from "./members/states.js";
import { visibleMember } from "./members/visible.js";
import { overlapsMember } from "./members/overlaps.js";
import { remindersMember } from "./members/reminders.js";
import { retentionMembers } from "./members/retention.js";
import { print } from "../../print/templates.js";
import { typeModules } from "../../print/type-modules.js";

const runtimePackage = "opwright/runtime";

export function emitDocuments(
  model: RegistryModel,
  paths: ModulePaths,
  stored: Stored,
): readonly EmittedFile[] {
  const modules = typeModules(model);
  return Object.values(model.documents).map((document) => ({
    path: `documents/${document.name}.ts`,
    text: printDocument(document, model, modules, paths, stored),
  }));
}

/** What stored bodies look like, and how older ones become so. */
function shapeMember({ members, stored = {}, kept, nested, steps }: Shape): readonly string[] {
  const known = members?.map(literal);
  const lines = steps.map((step) => `      ${literal(step)},`);
  return [
    "  shape: {",
    known === undefined
      ? "    members: null,"
      : listLayout("    ", "members: ", known, ["[", "]"], ","),
    ...(Object.keys(stored).length === 0 ? [] : [mapMember("    ", "stored", stored)]),
    ...(kept === undefined ? [] : [mapMember("    ", "kept", kept)]),
    ...(nested === undefined ? [] : [mapMember("    ", "nested", { ...nested })]),
    ...(lines.length === 0 ? ["    steps: [],"] : ["    steps: [", ...lines, "    ],"]),
    "  },",
  ];
}

/** The author's functions that make members of older rows, each held to its input and output. */
function convertersMember(
  { typeName }: DocumentModel,
  shape: Shape,
  scope: ModuleScope,
): readonly string[] {
  const declared = declaredMembers(shape);
  const lines = Object.entries(conversionsIn(shape)).map(([member, { by, takes }]) => {
    const at = shape.members?.indexOf(member) ?? -1;
    // Intermediate values have no type any more.
    const isKept = Object.hasOwn(shape.kept ?? {}, member);
    const makes =
      declared[at] === undefined || isKept ? "unknown" : `${typeName}[${literal(declared[at])}]`;
    return `    ${literal(member)}: ${nameLater(by, `(value: ${takes}) => ${makes}`, scope)},`;
  });
  return lines.length === 0 ? [] : ["  converters: {", ...lines, "  },"];
}

/** Fields of indexes: the cost of a query depends on them. */
function indexesMember({ indexes, unique }: DocumentModel): readonly string[] {
  if (indexes.length + unique.length === 0) return [];
  // One that is about some documents serves no query about all.
  const whole = unique.filter(({ where }) => where === undefined);
  const lines = [...indexes, ...whole].map(({ fields }) => `[${fields.map(literal).join(", ")}]`);
  return [listLayout("  ", "indexes: ", lines, ["[", "]"], ",")];
}

/** What no two documents have the same of, by the index that sees to it. */
function uniqueMember(uniques: StoredTable["uniques"]): readonly string[] {
  if (uniques.length === 0) return [];
  const lines = uniques.map(literal);
  return [listLayout("  ", "unique: ", lines, ["[", "]"], ",")];
}

/** The primary key, where clients choose ids. PostgreSQL shortens the table in its name. */
function idRule({ takesIds, table }: DocumentModel): StoredTable["uniques"] {
  return takesIds ? [{ index: `${table.slice(0, 58)}_pkey`, members: ["id"] }] : [];
}

/** The spec of documents, or of a view of them. */
function specOf(read: string, scope: ModuleScope): string {
  return scope.generated(`documents/${documentOf(read)}`, specName(read));
}

/**
 * What members name, and who names these documents. Documents may name each other, so each spec is
 * asked for when it is needed.
 */
function referenceMembers(
  document: DocumentModel,
  model: RegistryModel,
  scope: ModuleScope,
): readonly string[] {
  const referrers = referrersOf(model, document.name);
  return [
    ...(document.references.length === 0
      ? []
      : [
          "  references: {",
          ...document.references.map(
            (reference) => `    ${reference.field}: () => ${specOf(ledTo(reference), scope)},`,
          ),
          "  },",
        ]),
    ...(referrers.length === 0
      ? []
      : [
          ...(document.softDelete ? ["  undoes: true,"] : []),
          "  referredBy: [",
          ...referrers.map(
            ({ by, field, onDelete }) =>
              `    { by: () => ${specOf(by.name, scope)}, member: ${literal(field)}, onDelete: ${literal(onDelete)} },`,
          ),
          "  ],",
        ]),
  ];
}

/** The indexes that are kept with the documents. */
function searchesMember(
  { name }: DocumentModel,
  { search: searches }: RegistryModel,
  indexes: Stored["searches"],
): readonly string[] {
  const declared = Object.values(searches).filter(({ document }) => document === name);
  if (declared.length === 0) return [];
  const lines = declared.map((search) => {
    const fields = Object.keys(search.text).map(literal).join(", ");
    const language = search.language === null ? "" : `, language: ${literal(search.language)}`;
    return `{ index: ${literal(own(indexes, search.name))}, fields: [${fields}]${language} }`;
  });
  return [listLayout("  ", "searches: ", lines, ["[", "]"], ",")];
}

/** The signals that changes send. */
function emitsMember({ emits }: DocumentModel, { realtime }: RegistryModel): readonly string[] {
  const entries = emits.flatMap((emission) => {
    const { on, event, ifChanged, data } = emission;
    const signal = realtime?.events[event];
    const to = signal === undefined ? null : targetOfEmission(emission, signal);
    if (signal === undefined || to === null) return [];
    const { delivery, was } = signal;
    const stored = was === undefined ? {} : { storedAs: was };
    const members = {
      on,
      event,
      delivery,
      ...stored,
      ...to,
      ...(data === undefined ? {} : { data }),
      ...(ifChanged === null ? {} : { ifChanged }),
    };
    return [Object.entries(members).map(([key, value]) => `${key}: ${literal(value)}`)];
  });
  if (entries.length === 0) return [];
  const [first = []] = entries;
  const line = `  emits: [{ ${first.join(", ")} }],`;
  if (entries.length === 1 && line.length <= width) return [line];
  const lines = entries.map((members) => listLayout("    ", "", members, ["{", "}"], ","));
  return ["  emits: [", ...lines, "  ],"];
}

/** The declarations and imports of a document's module. */
function scopeOf(
  { name, reading, scopes, set, views, visible }: DocumentModel,
  shape: Shape,
  types: readonly string[],
  paths: ModulePaths,
): ModuleScope {
  return new ModuleScope({
    paths,
    path: `documents/${name}.ts`,
    declares: [
      specName(name),
      ...views.map((view) => specName(readName(name, view.name))),
      ...types,
    ],
    authored: [
      ...Object.values(conversionsIn(shape)).map(({ by }) => functionReference(by).file),
      ...[reading, ...views.map((view) => view.reading)]
        .flatMap((steps) => steps ?? [])
        .concat([scopes, ...views.map((view) => view.scopes)].flatMap(Object.values).flat())
        .concat(visible.flatMap(({ to }) => to.flatMap(({ asks }) => asks.map(({ run }) => run))))
        .flatMap(authoredIn)
        .map(({ file }) => file),
      ...setFiles({ set }),
    ],
  });
}

/** What documents are called, how they are kept, and which members they have. */
function identityMembers(document: DocumentModel, model: RegistryModel): readonly string[] {
  return [
    `  name: ${literal(document.name)},`,
    `  table: ${literal(document.table)},`,
    `  tenant: ${document.tenant},`,
    `  softDelete: ${document.softDelete},`,
    `  listDeleted: ${document.listDeleted},`,
    `  history: ${literal(document.history)},`,
    ...(document.key === null ? [] : [`  key: ${literal(document.key)},`]),
    ...(document.takesIds ? ["  takesIds: true,"] : []),
    ...(document.countUpTo === null ? [] : [`  countUpTo: ${document.countUpTo},`]),
    ...(document.takesReplica ? ["  takesReplica: true,"] : []),
    ...retentionMembers(document, model),
    mapMember("  ", "defaults", document.defaults),
    listLayout("  ", "nullable: ", document.nullable.map(literal), ["[", "]"], ","),
    mapMember("  ", "canonical", document.canonical),
    mapMember("  ", "fields", document.fields),
  ];
}

/** What is known of values: members of lists, values of enumerations, places of decimals. */
function valueMembers({ elements, enums, decimals }: DocumentModel): readonly string[] {
  return Object.entries({ elements, enums, decimals }).flatMap(([name, values]) =>
    Object.keys(values).length === 0 ? [] : [mapMember("  ", name, values)],
  );
}

function printDocument(
  document: DocumentModel,
  model: RegistryModel,
  modules: ReadonlyMap<string, string>,
  paths: ModulePaths,
  { tables, searches }: Stored,
): string {
  const first: StoredTable = { shape: firstShape, form: 1, uniques: [] };
  const { shape, form, hidesDeleted, uniques } = own(tables, document.table) ?? first;
  const isWritable = Object.hasOwn(model.types, document.createTypeName);
  const types = carriedTypes(document, isWritable);
  const views = document.views.map((view) => applyView(document, view));
  const named = [types, ...views.map(readTypes)].flatMap(Object.values);
  const handled = isWritable ? handledType(document, (name) => named.includes(name)) : null;
  const declared = [...named, ...(handled === null ? [] : [handled.name])];
  const scope = scopeOf(document, shape, declared, paths);
  // What refers in a circle, or to itself, has types that cannot be inferred.
  const isAnnotated =
    document.references.length > 0 ||
    referrersOf(model, document.name).length > 0 ||
    document.visible.length > 0 ||
    [document, ...document.views].some(({ scopes }) => Object.keys(scopes).length > 0);
  const validate = scope.module(`validators/${document.name}`, "validate");
  const converters = convertersMember(document, shape, scope);
  const related = [
    ...referenceMembers(document, model, scope),
    ...readingMember(document, scope),
    ...scopesMember(document, scope),
    ...statesMember(document, scope),
    ...visibleMember(document, scope),
  ];
  const set = setMember(document, scope);
  const annotation = isAnnotated ? scope.runtimeType("DocumentOf") : null;
  const printedViews = document.views.map((view) => viewLines(document, view, scope, annotation));
  const maker = scope.runtime("document");
  const imports = [
    ...scope.imports.filter(({ from }) => from === runtimePackage),
    ...[...named]
      .sort()
      .map((name) => importOf(name, `../types/${modules.get(name) ?? "models"}.js`, true)),
    ...scope.imports.filter(({ from }) => from !== runtimePackage),
  ];
  return print("document.ts", {
    header: header(document.source),
    imports: importStatements(imports),
    name: specName(document.name),
    before: handled?.lines ?? [],
    open: typesLayout(
      `export const ${specName(document.name)}${annotation === null ? ` = ${maker}` : `: ${annotation}`}`,
      handled === null ? types : withHandled(types, handled.name),
      annotation === null ? "({" : ` = ${maker}({`,
    ),
    lines: [
      ...identityMembers(document, model),
      ...(hidesDeleted === undefined ? [] : ["  hidesDeleted: true,"]),
      ...set,
      ...(form === 1 ? [] : [`  form: ${form},`]),
      ...shapeMember(shape),
      ...converters,
      ...valueMembers(document),
      ...indexesMember(document),
      ...uniqueMember([...uniques, ...idRule(document)]),
      ...overlapsMember(document),
      ...personalMember(document),
      ...related,
      ...searchesMember(document, model, searches),
      ...emitsMember(document, model),
      ...remindersMember(document),
      ...validatorMembers(document, model, isWritable, validate),
    ],
    views: printedViews,
  });
}

/** Validators of payloads and of whole bodies, and whether the parts prove the whole. */
function validatorMembers(
  document: DocumentModel,
  model: RegistryModel,
  isWritable: boolean,
  validate: string,
): readonly string[] {
  const { name, checksBody } = document;
  return [
    ...(isWritable
      ? [
          `  validateCreate: ${validate}.${camelCase(`${name}.create`)},`,
          `  validatePatch: ${validate}.${camelCase(`${name}.update`)},`,
        ]
      : []),
    `  validateBody: ${validate}.${bodyValidatorName(document, model)},`,
    ...(checksBody ? ["  checksBody: true,"] : []),
  ];
}
