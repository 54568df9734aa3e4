// Fields that the service sets by itself, from the caller, the clock, or the document.
import { baseFields, type FieldType } from "../../../runtime/contract/fields.js";
import { didYouMean } from "../../did-you-mean.js";
import { referenceOf } from "../../load/document-references.js";
import type { FamilyContext } from "../../kernel/family.js";
import type { Resolve } from "../../kernel/resolve.js";
import type { DocumentDeclaration, SetDeclaration } from "./format.js";
import { functionReference, ofAuthor } from "../../model/code.js";
import type { DocumentModel, SetModel } from "../../model/document-model.js";
import { propertiesOf, type JsonSchema, type SchemaObject } from "../../model/json-schema.js";
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
  const { report, tree, declarations } = context;
  const properties = propertiesOf(body);
  const members = new Map(memberPaths(body, resolve).map(({ path, schema }) => [path, schema]));
  const profiles = declarations.identity?.sign_up?.profile ?? null;
  const typeOf = (path: string): FieldType | undefined => {
    const schema = members.get(path);
    return schema === undefined ? undefined : fieldType(schema, resolve);
  };
  const rules: SetModel[] = [];
  for (const [field, declaration] of Object.entries(set)) {
    const at = tree.at("documents", name, "set", field);
    if (!Object.hasOwn(properties, field)) {
      const suggestion = didYouMean(field, Object.keys(properties));
      report({ code: "OPW030", message: `${name} has no field ${field}`, at, suggestion });
      continue;
    }
    const rule = ruleOf(field, declaration);
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
      ...(rule.from.kind === "profile"
        ? profileFaults(field, properties[field], profiles)
        : faultsOf(rule, typeOf)),
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
  const usual = isOfDocument(from) ? "write" : "create";
  return { field, on: given.on ?? usual, from };
}

function fromOf({ from = "", $sum, $count }: Exclude<SetDeclaration, string>): SetModel["from"] {
  if ($sum !== undefined) return { kind: "sum", paths: [$sum].flat() };
  if ($count !== undefined) return { kind: "count", path: $count };
  if (from === "$caller") return { kind: "caller" };
  if (from === "$profile") return { kind: "profile" };
  if (from === "$now") return { kind: "now" };
  return { kind: "by", function: from };
}

function faultsOf(
  { field, from }: SetModel,
  typeOf: (path: string) => FieldType | undefined,
): readonly string[] {
  const type = typeOf(field);
  const isNumber = (one: FieldType): boolean => one === "number" || one === "integer";
  const isCounted = type !== undefined && isNumber(type) ? [] : [`${field} is no number`];
  const madeOf = (path: string, fits: (one: FieldType) => boolean): readonly string[] => {
    const one = typeOf(path);
    if (one === undefined) return [`there is no ${path} to make ${field} of`];
    return fits(one) ? [] : [`${field} cannot be made of ${path}`];
  };
  switch (from.kind) {
    case "caller":
      return type === "uuid" || type === "string" ? [] : [`${field} cannot be the id of a caller`];
    case "now":
      return type === "date-time" || type === "string" ? [] : [`${field} is no date-time`];
    case "sum":
      // A sum has a fraction where one of its parts has one.
      return [
        ...isCounted,
        ...from.paths.flatMap((path) =>
          madeOf(path, type === "integer" ? (one) => one === "integer" : isNumber),
        ),
      ];
    case "count":
      return [...isCounted, ...madeOf(from.path, (one) => one.endsWith("[]"))];
    case "profile":
    case "by":
      return [];
  }
}

/** A profile is what the member refers to. */
function profileFaults(
  field: string,
  schema: JsonSchema | undefined,
  profiles: string | null,
): readonly string[] {
  if (profiles === null) return [`${field} is set to a profile, and identity.sign_up names none`];
  const isOne = schema !== undefined && referenceOf(schema)?.document === profiles;
  return isOne ? [] : [`${field} must refer to ${profiles}, whose documents are profiles`];
}

/** Whether it is made of the document, so that functions do not see it; who and when are not. */
function isOfDocument({ kind }: SetModel["from"]): boolean {
  return kind !== "caller" && kind !== "profile" && kind !== "now";
}

/** The rules as a spec has them. Functions are held to what they are given and to the field. */
export function setMember(
  { set, typeName, softDelete }: Pick<DocumentModel, "set" | "typeName" | "softDelete">,
  scope: ModuleScope,
): readonly string[] {
  if (set.length === 0) return [];
  const hidden = [
    ...Object.keys(baseFields),
    ...(softDelete ? ["is_deleted"] : []),
    ...set.filter(({ from }) => isOfDocument(from)).map(({ field }) => field),
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
