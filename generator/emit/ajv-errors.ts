// How a check tells a fault. Ajv prints seven lines for each, with members that nobody reads; ours is one line, which is less to
// print, to rewrite and to review.
import errors from "ajv/dist/compile/errors.js";
import { _, Name, strConcat, type Code, type SafeExpr } from "ajv/dist/compile/codegen/index.js";
import { str } from "ajv/dist/compile/codegen/code.js";
import names from "ajv/dist/compile/names.js";
import { getErrorPath, Type } from "ajv/dist/compile/util.js";
import type { KeywordErrorCxt, KeywordErrorDefinition } from "ajv/dist/types/index.js";

const member = {
  keyword: new Name("keyword"),
  params: new Name("params"),
  message: new Name("message"),
  propertyName: new Name("propertyName"),
} as const;

/** Keywords whose parameters only repeat the schema. */
const repeating = new Set(["type", "enum"]);

/** Has Ajv print faults as we do. All faults are collected, so none of them ends a check. */
export function printFaultsShortly(): void {
  Object.assign(errors, { reportError: printFault, reportExtraError: printFault });
}

function printFault(
  cxt: KeywordErrorCxt,
  error: KeywordErrorDefinition = errors.keywordError,
  paths: errors.ErrorPaths = {},
): void {
  const { gen, it } = cxt;
  const fault = it.createErrors === false ? _`{}` : faultOf(cxt, error, paths);
  gen.code(_`(${names.default.vErrors} ??= []).push(${fault})`);
  gen.code(_`${names.default.errors}++`);
}

function faultOf(
  cxt: KeywordErrorCxt,
  { params, message }: KeywordErrorDefinition,
  { instancePath }: errors.ErrorPaths,
): Code {
  const { gen, it, keyword } = cxt;
  const path =
    instancePath === undefined
      ? it.errorPath
      : str`${it.errorPath}${getErrorPath(instancePath, Type.Str)}`;
  const members: [Name, SafeExpr | string][] = [
    [names.default.instancePath, strConcat(names.default.instancePath, path)],
    [member.keyword, keyword],
    [member.params, repeating.has(keyword) ? _`{}` : valueFor(params ?? _`{}`, cxt)],
    [member.message, valueFor(message, cxt)],
  ];
  if (it.propertyName !== undefined) members.push([member.propertyName, it.propertyName]);
  return gen.object(...members);
}

function valueFor<T>(value: T | ((cxt: KeywordErrorCxt) => T), cxt: KeywordErrorCxt): T {
  return typeof value === "function" ? (value as (cxt: KeywordErrorCxt) => T)(cxt) : value;
}
