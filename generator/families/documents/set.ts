// Fields that the service sets by itself, from the caller, the clock, or the document.
import { didYouMean } from "../../did-you-mean.js";
import type { FamilyContext } from "../../kernel/family.js";
import type { Resolve } from "../../kernel/resolve.js";
import type { DocumentDeclaration, SetDeclaration } from "../../load/declarations.js";
import { functionReference, ofAuthor } from "../../model/code.js";
import type { DocumentModel, SetModel } from "../../model/document-model.js";
import { propertiesOf, type SchemaObject } from "../../model/json-schema.js";
import { literal } from "../../print/layout.js";
import type { ModuleScope } from "../../print/module-scope.js";
import { fieldType, memberPaths } from "./fields.js";

/** The rules of a document. Reports fields that are not there, or cannot have what they are set to. */
export function setRules(
  context: FamilyContext,
  name: string,
  { set = {}, create = [], update = [], defaults = {} }: DocumentDeclaration,
  body: SchemaObject,
  resolve: Resolve,
): readonly SetModel[] {
  const { report, tree } = context;
  const properties = propertiesOf(body);
  const paths = memberPaths(body, resolve).map(({ path }) => path);
  const rules: SetModel[] = [];
  for (const [field, declaration] of Object.entries(set)) {
    const at = tree.at("documents", name, "set", field);
    const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (schema === undefined) {
      const suggestion = didYouMean(field, Object.keys(properties));
      report({ code: "OPW030", message: `${name} has no field ${field}`, at, suggestion });
      continue;
    }
    const rule = ruleOf(field, declaration);
    const type = fieldType(schema, resolve);
    const faults = [
      ...[
        ["create", create],
        ["update", update],
        ["defaults", Object.keys(defaults)],
      ].flatMap(([key, fields]) =>
        fields?.includes(field) === true
          ? [`${field} is set by the service, and in ${String(key)}`]
          : [],
      ),
      ...faultsOfType(rule, type, paths),
    ];
    for (const message of faults) report({ code: "OPW090", message, at });
    rules.push(rule);
  }
  return rules;
}

function ruleOf(field: string, declaration: SetDeclaration): SetModel {
  const given = typeof declaration === "string" ? { from: declaration } : declaration;
  const from = fromOf(given);
  // Who and when are told once, what follows from the document follows it.
  const usual = from.kind === "caller" || from.kind === "now" ? "create" : "write";
  return { field, on: given.on ?? usual, from };
}

function fromOf({ from = "", $sum, $count }: Exclude<SetDeclaration, string>): SetModel["from"] {
  if ($sum !== undefined) return { kind: "sum", paths: [$sum].flat() };
  if ($count !== undefined) return { kind: "count", path: $count };
  if (from === "$caller") return { kind: "caller" };
  if (from === "$now") return { kind: "now" };
  return { kind: "by", function: from };
}

function faultsOfType(
  { field, from }: SetModel,
  type: string | undefined,
  paths: readonly string[],
): readonly string[] {
  const isOneOf = (...types: readonly string[]): boolean =>
    type !== undefined && types.includes(type);
  const unknown = (path: string): readonly string[] =>
    paths.includes(path) ? [] : [`there is no ${path} to make ${field} of`];
  switch (from.kind) {
    case "caller":
      return isOneOf("uuid", "string") ? [] : [`${field} cannot be the id of a caller`];
    case "now":
      return isOneOf("date-time", "string") ? [] : [`${field} is no date-time`];
    case "sum":
      return [
        ...(isOneOf("number", "integer") ? [] : [`${field} is no number`]),
        ...from.paths.flatMap(unknown),
      ];
    case "count":
      return [
        ...(isOneOf("number", "integer") ? [] : [`${field} is no number`]),
        ...(unknown(`${from.path}[]`).length === 0 || paths.includes(from.path)
          ? []
          : unknown(from.path)),
      ];
    case "by":
      return [];
  }
}

/** The rules as a spec has them. Functions are held to what they are given and to the field. */
export function setMember(
  { set, typeName, softDelete }: Pick<DocumentModel, "set" | "typeName" | "softDelete">,
  scope: ModuleScope,
): readonly string[] {
  if (set.length === 0) return [];
  const hidden = [
    "id",
    "rev",
    "created_at",
    "last_update_at",
    ...(softDelete ? ["is_deleted"] : []),
    ...set.filter(({ from }) => !["caller", "now"].includes(from.kind)).map(({ field }) => field),
  ];
  const given = `Omit<${typeName}, ${hidden.map(literal).join(" | ")}>`;
  const lines = set.map(({ field, on, from }) => {
    const head = `${scope.runtime("setting")}.${from.kind}`;
    const before = [literal(field), literal(on)];
    return `    ${head}(${[...before, ...argumentsOf(from, typeName, field, given, scope)].join(", ")}),`;
  });
  return ["  set: [", ...lines, "  ],"];
}

function argumentsOf(
  from: SetModel["from"],
  typeName: string,
  field: string,
  given: string,
  scope: ModuleScope,
): readonly string[] {
  switch (from.kind) {
    case "by": {
      const run = scope.code(ofAuthor(functionReference(from.function)));
      return [`${run} satisfies (document: ${given}) => ${typeName}[${literal(field)}]`];
    }
    case "sum":
      return [`[${from.paths.map(literal).join(", ")}]`];
    case "count":
      return [literal(from.path)];
    default:
      return [];
  }
}

/** Files of the author's that rules name. */
export function setFiles({ set }: Pick<DocumentModel, "set">): readonly string[] {
  return set.flatMap(({ from }) =>
    from.kind === "by" ? [functionReference(from.function).file] : [],
  );
}
