// documents/<name>.ts: the spec of each document type, as the runtime reads it.
import {
  conversionsIn,
  declaredMembers,
  firstShape,
  type Shape,
} from "../../../runtime/contract/shapes.js";
import type { StoredTables } from "../../kernel/family.js";
import { own } from "../../model/records.js";
import { functionReference } from "../../model/code.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { camelCase, indexName, specName } from "../../model/names.js";
import { bodyValidatorName } from "./body-validators.js";
import { queryTypeNames } from "./model.js";
import { referrersOf } from "./references.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  importOf,
  importStatements,
  listLayout,
  literal,
  mapMember,
  sortedUnique,
  width,
} from "../../print/layout.js";
import { print } from "../../print/templates.js";
import { typeModules } from "../../print/type-modules.js";

export function emitDocuments(
  model: RegistryModel,
  paths: ModulePaths,
  tables: StoredTables,
): readonly EmittedFile[] {
  const modules = typeModules(model);
  return Object.values(model.documents).map((document) => ({
    path: `documents/${document.name}.ts`,
    text: printDocument(
      document,
      model,
      modules,
      paths,
      own(tables, document.table) ?? { shape: firstShape, uniques: [] },
    ),
  }));
}

/** What stored bodies look like, and how older ones become so. */
function shapeMember({ members, stored = {}, steps }: Shape): readonly string[] {
  const known = members?.map(literal);
  const lines = steps.map((step) => `      ${literal(step)},`);
  return [
    "  shape: {",
    known === undefined
      ? "    members: null,"
      : listLayout("    ", "members: ", known, ["[", "]"], ","),
    ...(Object.keys(stored).length === 0 ? [] : [mapMember("    ", "stored", stored)]),
    ...(lines.length === 0 ? ["    steps: [],"] : ["    steps: [", ...lines, "    ],"]),
    "  },",
  ];
}

/** The author's functions that make members of older rows, each held to what it takes and makes. */
function convertersOf({ name, typeName }: DocumentModel, shape: Shape, paths: ModulePaths) {
  const functions = Object.entries(conversionsIn(shape)).map(([member, { by, takes }]) => ({
    member,
    takes,
    of: functionReference(by),
  }));
  const modules = moduleNames(
    paths,
    functions.map(({ of: { file } }) => file),
    (local) => local === specName(name),
  );
  const declared = declaredMembers(shape);
  const lines = functions.map(({ member, takes, of }) => {
    const at = shape.members?.indexOf(member) ?? -1;
    // What was made on the way has no type any more.
    const makes = declared[at] === undefined ? "unknown" : `${typeName}[${literal(declared[at])}]`;
    const satisfied = `satisfies (value: ${takes}) => ${makes}`;
    return `    ${literal(member)}: ${modules.get(of.file)}.${of.name} ${satisfied},`;
  });
  return {
    imports: [...modules].map(([file, local]) =>
      importOf(`* as ${local}`, importPath(paths, `documents/${name}.ts`, file), false),
    ),
    lines: lines.length === 0 ? [] : ["  converters: {", ...lines, "  },"],
  };
}

/** Fields of indexes: what a query costs depends on them. */
function indexesMember({ indexes, unique }: DocumentModel): readonly string[] {
  if (indexes.length + unique.length === 0) return [];
  const lines = [...indexes, ...unique].map(({ fields }) => `[${fields.map(literal).join(", ")}]`);
  return [listLayout("  ", "indexes: ", lines, ["[", "]"], ",")];
}

/** What no two documents have the same of, by the index that sees to it. */
function uniqueMember(uniques: StoredTables[string]["uniques"]): readonly string[] {
  if (uniques.length === 0) return [];
  const lines = uniques.map(literal);
  return [listLayout("  ", "unique: ", lines, ["[", "]"], ",")];
}

/** What members name, and who names these documents. Documents may name each other, so each spec is asked for when it is needed. */
function referenceMembers(document: DocumentModel, model: RegistryModel): readonly string[] {
  const referrers = referrersOf(model, document.name);
  return [
    ...(document.references.length === 0
      ? []
      : [
          "  references: {",
          ...document.references.map(
            ({ field, document: target }) => `    ${field}: () => ${specName(target)},`,
          ),
          "  },",
        ]),
    ...(referrers.length === 0
      ? []
      : [
          "  referredBy: [",
          ...referrers.map(
            ({ by, field, onDelete }) =>
              `    { by: () => ${specName(by.name)}, member: ${literal(field)}, onDelete: ${literal(onDelete)} },`,
          ),
          "  ],",
        ]),
  ];
}

/** Other documents whose specs a spec needs. */
function neighboursOf(document: DocumentModel, model: RegistryModel): readonly string[] {
  const names = [
    ...document.references.map(({ document: target }) => target),
    ...referrersOf(model, document.name).map(({ by }) => by.name),
  ];
  return sortedUnique(names.filter((name) => name !== document.name));
}

/** The indexes that are kept with the documents. */
function searchesMember({ name }: DocumentModel, { searches }: RegistryModel): readonly string[] {
  const own = Object.values(searches).filter(({ document }) => document === name);
  if (own.length === 0) return [];
  const lines = own.map((search) => {
    const fields = Object.keys(search.text).map(literal).join(", ");
    const language = search.language === null ? "" : `, language: ${literal(search.language)}`;
    return `{ index: ${literal(indexName(search.name))}, fields: [${fields}]${language} }`;
  });
  return [listLayout("  ", "searches: ", lines, ["[", "]"], ",")];
}

/** The signals that changes send. */
function emitsMember({ emits }: DocumentModel, { realtime }: RegistryModel): readonly string[] {
  const entries = emits.flatMap(({ on, event, ifChanged }) => {
    const signal = realtime?.events[event];
    if (signal?.to === undefined || signal.to === null) return [];
    const { delivery, to } = signal;
    const members = { on, event, delivery, ...to, ...(ifChanged === null ? {} : { ifChanged }) };
    return [Object.entries(members).map(([key, value]) => `${key}: ${literal(value)}`)];
  });
  if (entries.length === 0) return [];
  const [first = []] = entries;
  const line = `  emits: [{ ${first.join(", ")} }],`;
  if (entries.length === 1 && line.length <= width) return [line];
  const lines = entries.map((members) => listLayout("    ", "", members, ["{", "}"], ","));
  return ["  emits: [", ...lines, "  ],"];
}

function printDocument(
  document: DocumentModel,
  model: RegistryModel,
  modules: ReadonlyMap<string, string>,
  paths: ModulePaths,
  { shape, uniques }: StoredTables[string],
): string {
  const { typeName, createTypeName, patchTypeName } = document;
  const isWritable = Object.hasOwn(model.types, createTypeName);
  const { filter, sorts } = queryTypeNames(document.name);
  const payloads = isWritable ? [createTypeName, patchTypeName] : [];
  const named = [typeName, ...payloads, filter, sorts];
  const types = [typeName, ...(isWritable ? payloads : ["unknown", "unknown"]), filter, sorts];
  const converters = convertersOf(document, shape, paths);
  const neighbours = neighboursOf(document, model);
  // What refers in a circle has types that cannot be inferred.
  const isAnnotated =
    document.references.length > 0 || referrersOf(model, document.name).length > 0;
  const imports = [
    importOf("document", "opwright/runtime", false),
    ...[...named]
      .sort()
      .map((name) => importOf(name, `../types/${modules.get(name) ?? "models"}.js`, true)),
    ...converters.imports,
    ...neighbours.map((name) => importOf(specName(name), `./${name}.js`, false)),
    ...(isAnnotated ? [importOf("DocumentSpec", "opwright/runtime", true)] : []),
    ...(document.checksBody || isWritable
      ? [importOf("* as validate", `../validators/${document.name}.js`, false)]
      : []),
  ];
  return print("document.ts", {
    header: header(document.source),
    imports: importStatements(imports),
    name: specName(document.name),
    open: listLayout(
      "",
      `export const ${specName(document.name)}${isAnnotated ? ": DocumentSpec" : " = document"}`,
      types,
      ["<", ">"],
      isAnnotated ? " = document({" : "({",
    ),
    lines: [
      `  name: ${literal(document.name)},`,
      `  table: ${literal(document.table)},`,
      `  tenant: ${document.tenant},`,
      `  softDelete: ${document.softDelete},`,
      `  listDeleted: ${document.listDeleted},`,
      `  history: ${literal(document.history)},`,
      mapMember("  ", "defaults", document.defaults),
      listLayout("  ", "nullable: ", document.nullable.map(literal), ["[", "]"], ","),
      mapMember("  ", "canonical", document.canonical),
      mapMember("  ", "fields", document.fields),
      ...shapeMember(shape),
      ...converters.lines,
      ...(Object.keys(document.elements).length === 0
        ? []
        : [mapMember("  ", "elements", document.elements)]),
      ...(Object.keys(document.enums).length === 0
        ? []
        : [mapMember("  ", "enums", document.enums)]),
      ...indexesMember(document),
      ...uniqueMember(uniques),
      ...referenceMembers(document, model),
      ...searchesMember(document, model),
      ...emitsMember(document, model),
      ...validatorMembers(document, model, isWritable),
    ],
  });
}

/** What checks payloads, and whole bodies where the parts do not prove the whole. */
function validatorMembers(
  document: DocumentModel,
  model: RegistryModel,
  isWritable: boolean,
): readonly string[] {
  const { name, checksBody } = document;
  return [
    ...(isWritable
      ? [
          `  validateCreate: validate.${camelCase(`${name}.create`)},`,
          `  validatePatch: validate.${camelCase(`${name}.update`)},`,
        ]
      : []),
    ...(checksBody ? [`  validateBody: validate.${bodyValidatorName(document, model)},`] : []),
  ];
}
