// Fields that the service sets by itself, from the caller, the clock, or the document, and those
// that handlers alone write.
import { baseFields, type FieldType } from "../../../../runtime/contract/fields.js";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import { referenceOf } from "../../../load/document-references.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { Resolve } from "../../../kernel/resolve.js";
import type { DocumentDeclaration, SetDeclaration } from "../format.js";
import { functionReference } from "../../../model/code.js";
import type { DocumentModel, SetModel } from "../../../model/document-model.js";
import {
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { pascalCase } from "../../../model/names.js";
import { listLayout, literal, propertyKey } from "../../../print/layout.js";
import { freeName } from "../../../print/printed-names.js";
import type { ModuleScope } from "../../../print/module-scope.js";
import { nameLater } from "../name-later.js";
import { fieldType, memberPaths } from "./fields.js";
import { fieldsOfSome } from "./union.js";
import {
  checkNumber,
  numberFaults,
  numberFields,
  numberOf,
  numbersMember,
  refuseCountedNumbers,
} from "./numbers.js";

/**
 * The rules that take the caller's profile and must find one: who writes without a profile is
 * refused.
 */
export function profilesAsked({ set, nullable }: DocumentModel): readonly SetModel[] {
  return set.filter(({ field, from }) => from.kind === "profile" && !nullable.includes(field));
}

/**
 * The rules of a document. Reports fields that are not there, or cannot have what they are set to.
 */
export function setRules(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  body: SchemaObject,
  resolve: Resolve,
  begins: DocumentModel["defaults"],
): readonly SetModel[] {
  const { report, tree, declarations } = context;
  const { set = {}, create = [], update = [], defaults = {}, read_only: isReadOnly } = declaration;
  const properties = propertiesOf(body);
  const members = new Map(memberPaths(body, resolve).map(({ path, schema }) => [path, schema]));
  const ofSome = fieldsOfSome(body);
  const profiles = declarations.identity?.sign_up?.profile ?? null;
  const typeOf = (path: string): FieldType | undefined => {
    const schema = members.get(path);
    return schema === undefined ? undefined : fieldType(schema, resolve);
  };
  const rules: SetModel[] = [];
  for (const [field, given] of Object.entries(set)) {
    const at = tree.at("documents", name, "set", field);
    if (!Object.hasOwn(properties, field)) {
      const suggestion = didYouMean(field, Object.keys(properties));
      report({ code: "OPW030", message: `${name} has no field ${field}`, at, suggestion });
      continue;
    }
    const rule = ruleOf(field, given);
    const isOfHandlers = isHandled(rule);
    const begin = isOfHandlers ? [] : Object.keys(defaults);
    const isUnset = requiredOf(body).includes(field) && !Object.hasOwn(begins, field);
    const faults = [
      ...(rule.on === "absent" && ["handler", "number"].includes(rule.from.kind)
        ? [`${field} is never left to callers`]
        : []),
      ...[
        ["create", rule.on === "absent" ? [] : create],
        ["update", rule.on === "absent" ? [] : update],
        ["defaults", begin],
      ].flatMap(([key, fields]) =>
        fields?.includes(field) === true
          ? [`${field} is set by the service, and in ${String(key)}`]
          : [],
      ),
      ...(rule.from.kind === "profile"
        ? profileFaults(field, properties[field], profiles)
        : faultsOf(rule, typeOf)),
      ...(ofSome.includes(field) && !isOfHandlers
        ? [`not every branch of the type has ${field}`]
        : []),
    ];
    for (const message of faults) report({ code: "OPW090", message, at });
    if (rule.from.kind === "number") checkNumber(report, rule, at);
    const message = `${field} is required, and callers who create have nothing for it`;
    if (isOfHandlers && isUnset && isReadOnly !== true) report({ code: "OPW032", message, at });
    rules.push(rule);
  }
  refuseCountedNumbers(context, name, rules);
  refuseUnmade(context, name, rules);
  return rules;
}

/** The fields that a sum or a count is made of. */
function partsOf({ from }: SetModel): readonly string[] {
  const paths = from.kind === "sum" ? from.paths : from.kind === "count" ? [from.path] : [];
  return paths.map((path) => path.split(/[.[]/)[0] ?? path);
}

/** The rules with sums and counts behind what they are made of, and those that go in circles. */
function orderRules(rules: readonly SetModel[]): {
  readonly ordered: readonly SetModel[];
  readonly circular: readonly SetModel[];
} {
  const ordered: SetModel[] = [];
  let left = rules;
  for (;;) {
    const isLeft = new Set(left.map(({ field }) => field));
    const ready = left.filter((rule) => !partsOf(rule).some((part) => isLeft.has(part)));
    if (ready.length === 0) return { ordered, circular: left };
    ordered.push(...ready);
    left = left.filter((rule) => !ready.includes(rule));
  }
}

/** Reports sums and counts of themselves, and of numbers, which are given after them. */
function refuseUnmade(
  { report, tree }: FamilyContext,
  name: string,
  rules: readonly SetModel[],
): void {
  const numbers = numberFields(rules);
  const { circular } = orderRules(rules);
  for (const rule of rules) {
    const number = partsOf(rule).find((part) => numbers.includes(part));
    const at = tree.at("documents", name, "set", rule.field);
    if (number !== undefined)
      report({
        code: "OPW090",
        message: `${rule.field} cannot be made of ${number}, a number`,
        at,
      });
    else if (circular.includes(rule))
      report({ code: "OPW090", message: `${rule.field} cannot be made of itself`, at });
  }
}

function ruleOf(field: string, declaration: SetDeclaration): SetModel {
  const given = typeof declaration === "string" ? { from: declaration } : declaration;
  const from = fromOf(given);
  // The writer and the time are set once; values computed from the document follow it.
  const usual = isOfDocument(from) && from.kind !== "number" ? "write" : "create";
  return { field, on: given.on ?? usual, from };
}

/** Whether handlers write it, and nobody else. */
function isHandled({ from }: SetModel): boolean {
  return from.kind === "handler";
}

function fromOf({
  from = "",
  $sum,
  $count,
  $number,
}: Exclude<SetDeclaration, string>): SetModel["from"] {
  if ($number !== undefined) return numberOf($number);
  if ($sum !== undefined) return { kind: "sum", paths: [$sum].flat() };
  if ($count !== undefined) return { kind: "count", path: $count };
  if (from === "$caller") return { kind: "caller" };
  if (from === "$profile") return { kind: "profile" };
  if (from === "$now") return { kind: "now" };
  if (from === "$handler") return { kind: "handler" };
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
    case "number":
      return numberFaults(field, from, typeOf);
    case "profile":
    case "by":
    case "handler":
      return [];
  }
}

/** A profile is the member's target. */
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
  return !["caller", "profile", "now", "handler"].includes(kind);
}

/** The rules as a spec has them. Functions are held to their arguments and to the field. */
export function setMember(
  {
    set,
    typeName,
    softDelete,
    visible,
    bodySchema,
  }: Pick<DocumentModel, "set" | "typeName" | "softDelete" | "visible" | "bodySchema">,
  scope: ModuleScope,
): readonly string[] {
  const handled = set.filter(isHandled).map(({ field }) => literal(field));
  const ofHandlers =
    handled.length === 0 ? [] : [listLayout("  ", "handled: ", handled, ["[", "]"], ",")];
  const others = [...numbersMember(set, scope), ...ofHandlers];
  const { ordered, circular } = orderRules(set);
  const own = [...ordered, ...circular].filter(
    (rule) => !isHandled(rule) && rule.from.kind !== "number",
  );
  if (own.length === 0) return others;
  const hidden = [
    ...Object.keys(baseFields),
    ...(softDelete ? ["is_deleted"] : []),
    ...set.filter(({ from }) => isOfDocument(from)).map(({ field }) => field),
  ];
  // A function gets the whole document, whoever may see it.
  const always = visible
    .flatMap(({ fields }) => fields)
    .filter((field) => requiredOf(bodySchema).includes(field));
  const shown = always.filter((field) => !hidden.includes(field)).map(literal);
  const whole = shown.length === 0 ? "" : ` & Required<Pick<${typeName}, ${shown.join(" | ")}>>`;
  const given = `Omit<${typeName}, ${hidden.map(literal).join(" | ")}>${whole}`;
  const madeOf = (field: string): string => {
    const value = `${typeName}[${literal(field)}]`;
    return always.includes(field) ? `Exclude<${value}, undefined>` : value;
  };
  const lines = own.map(({ field, on, from }) => {
    const head = `${scope.runtime("setting")}.${from.kind}`;
    const before = [literal(field), literal(on)];
    return `    ${head}(${[...before, ...argumentsOf(from, madeOf(field), given, scope)].join(", ")}),`;
  });
  return ["  set: [", ...lines, "  ],", ...others];
}

function argumentsOf(
  from: SetModel["from"],
  makes: string,
  given: string,
  scope: ModuleScope,
): readonly string[] {
  switch (from.kind) {
    case "by": {
      const moment = scope.runtimeType("SetMoment");
      const type = `(document: ${given}, moment: ${moment}) => ${makes}`;
      return [nameLater(from.function, type, scope)];
    }
    case "sum":
      return [`[${from.paths.map(literal).join(", ")}]`];
    case "count":
      return [literal(from.path)];
    default:
      return [];
  }
}

/** What handlers alone write of documents, as a type; null if there is nothing. */
export function handledType(
  { set, typeName, name, bodySchema }: DocumentModel,
  isTaken: (type: string) => boolean,
): { readonly name: string; readonly lines: readonly string[] } | null {
  const handled = set.filter(isHandled);
  if (handled.length === 0) return null;
  const type = freeName(`${pascalCase(name)}Handled`, isTaken);
  const members = handled.map(({ field }) => {
    // Null removes an optional member, as in any patch.
    const orNull = requiredOf(bodySchema).includes(field) ? "" : " | null";
    return `  readonly ${propertyKey(field)}?: ${typeName}[${literal(field)}]${orNull};`;
  });
  const lines = [
    `/** What handlers alone write of ${name}. */`,
    `export interface ${type} {`,
    ...members,
    "}",
    "",
  ];
  return { name: type, lines };
}

/** Files of the author's that rules name. */
export function setFiles({ set }: Pick<DocumentModel, "set">): readonly string[] {
  return set.flatMap(({ from }) =>
    from.kind === "by" ? [functionReference(from.function).file] : [],
  );
}
