// How validators report errors. Ajv prints seven lines for each, with members that nobody reads;
// ours is one line, which is less to print, to rewrite and to review.
import errors from "ajv/dist/compile/errors.js";
import { _, Name, strConcat, type Code, type SafeExpr } from "ajv/dist/compile/codegen/index.js";
import { str } from "ajv/dist/compile/codegen/code.js";
import { getErrorPath, Type } from "ajv/dist/compile/util.js";
import type { KeywordCxt } from "ajv/dist/2020.js";
import type { KeywordErrorCxt, KeywordErrorDefinition } from "ajv/dist/types/index.js";

/** Variables of a validator, which Ajv declares. */
export const variable = {
  errors: new Name("errors"),
  all: new Name("vErrors"),
  instancePath: new Name("instancePath"),
} as const;

const member = {
  keyword: new Name("keyword"),
  params: new Name("params"),
  message: new Name("message"),
  propertyName: new Name("propertyName"),
} as const;

/** Prints an error with a fixed text, of a value or of one of its members. */
export function printFault(
  { gen, it }: KeywordCxt,
  fault: { readonly keyword: string; readonly message: string; readonly member?: string },
): void {
  const path =
    fault.member === undefined
      ? it.errorPath
      : str`${it.errorPath}${getErrorPath(fault.member, Type.Str)}`;
  const printed =
    it.createErrors === false
      ? _`{}`
      : gen.object(
          [variable.instancePath, strConcat(variable.instancePath, path)],
          [member.keyword, fault.keyword],
          [member.params, _`{}`],
          [member.message, fault.message],
        );
  gen.code(_`(${variable.all} ??= []).push(${printed})`);
  gen.code(_`${variable.errors}++`);
}

/** Keywords whose error parameters only repeat the schema. */
const repeating = new Set(["type", "enum"]);

/**
 * Makes every Ajv of this thread print errors this way. All errors are collected, so none of them
 * ends a validator.
 */
export function printErrorsShortly(): void {
  Object.assign(errors, { reportError: printError, reportExtraError: printError });
}

function printError(
  cxt: KeywordErrorCxt,
  error: KeywordErrorDefinition = errors.keywordError,
  paths: errors.ErrorPaths = {},
): void {
  const { gen, it } = cxt;
  // What the branch says has been reported by then.
  if (cxt.keyword === "if") return;
  const printed = it.createErrors === false ? _`{}` : errorOf(cxt, error, paths);
  gen.code(_`(${variable.all} ??= []).push(${printed})`);
  gen.code(_`${variable.errors}++`);
}

function errorOf(
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
    [variable.instancePath, strConcat(variable.instancePath, path)],
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
