// The keywords `anyOf` and `oneOf`: a branch is chosen by the types and members that tell it from
// the others, and only then checked, so that nested unions take time linear in their bytes.
import { _, type Ajv2020, type Code, type KeywordCxt, type Name } from "ajv/dist/2020.js";
import { and, getProperty, not, or } from "ajv/dist/compile/codegen/index.js";
import { alwaysValidSchema } from "ajv/dist/compile/util.js";
import type { JsonSchema } from "../model/json-schema.js";
import { branchesOf, type Guard, type MemberGuard } from "../model/union-branches.js";
import { printFault, variable } from "./ajv-errors.js";

type UnionKeyword = "anyOf" | "oneOf";

/** The compiler, with unions whose branches are chosen before they are checked. */
export function withChosenBranches<Compiler extends Ajv2020>(ajv: Compiler): Compiler {
  for (const keyword of ["anyOf", "oneOf"] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      schemaType: "array",
      trackErrors: true,
      before: "allOf",
      code: (context) => printUnion(context, keyword),
    });
  }
  return ajv;
}

/** One branch, with the condition under which it is checked: undefined if there is none. */
interface Branch {
  readonly index: number;
  readonly guard: Guard;
  readonly condition: Code | undefined;
}

function printUnion(context: KeywordCxt, keyword: UnionKeyword): void {
  const options = context.schema as readonly JsonSchema[];
  const { schemas } = context.it.self;
  const { guards, undecided } = branchesOf(
    options,
    (name) => schemas[name]?.schema as JsonSchema | undefined,
  );
  const branches = guards.flatMap((guard, index): readonly Branch[] =>
    guard.types?.length === 0
      ? []
      : [{ index, guard, condition: conditionOf(guard, context.data) }],
  );
  if (undecided.length === 0) printChoice(context, keyword, branches);
  else printTrials(context, keyword, branches);
}

/**
 * Every value passes one guard at most: only that branch is checked, and its errors are those of
 * the union.
 */
function printChoice(
  context: KeywordCxt,
  keyword: UnionKeyword,
  branches: readonly Branch[],
): void {
  const { gen } = context;
  const [first, ...others] = branches;
  if (first === undefined) return printFault(context, noneFits(keyword));
  gen.if(first.condition ?? _`true`);
  checkBranch(context, keyword, first, gen.name("valid"));
  for (const branch of others) {
    gen.elseIf(branch.condition ?? _`true`);
    checkBranch(context, keyword, branch, gen.name("valid"));
  }
  gen.else();
  printNoneChosen(context, keyword, branches);
  gen.endIf();
}

/**
 * Branches that no guard excludes are tried. Errors of those that fail only count if none passes.
 */
function printTrials(
  context: KeywordCxt,
  keyword: UnionKeyword,
  branches: readonly Branch[],
): void {
  const { gen, errsCount = _`0` } = context;
  const passing = gen.let("passing", 0);
  const failed = gen.let("failed", null);
  const tried = gen.let("tried", 0);
  const enough = keyword === "anyOf" ? 1 : 2;
  for (const branch of branches) {
    gen.if(and(_`${passing} < ${enough}`, branch.condition ?? _`true`), () => {
      const valid = gen.name("valid");
      gen.code(_`${tried}++`);
      if (!checkBranch(context, keyword, branch, valid)) gen.code(_`${passing}++`);
      else
        gen
          .if(valid)
          .code(_`${passing}++`)
          .else()
          .code(_`(${failed} ??= []).push(...${variable.all}.splice(${errsCount}))`)
          .code(_`${variable.errors} = ${errsCount}`)
          .endIf();
    });
  }
  gen.if(_`${tried} === 0`);
  printNoneChosen(context, keyword, branches);
  gen.elseIf(_`${passing} !== 1`);
  gen.if(_`${failed} !== null && ${passing} === 0`, () => {
    gen.code(_`(${variable.all} ??= []).push(...${failed})`);
    gen.code(_`${variable.errors} = ${variable.all}.length`);
  });
  gen.if(_`${tried} !== 1`, () => printFault(context, noneFits(keyword)));
  gen.endIf();
}

/** Prints the check of a branch. Returns whether there is anything to check. */
function checkBranch(
  context: KeywordCxt,
  keyword: UnionKeyword,
  { index }: Branch,
  valid: Name,
): boolean {
  const schema = (context.schema as readonly JsonSchema[])[index] ?? true;
  if (alwaysValidSchema(context.it, schema)) return false;
  context.subschema({ keyword, schemaProp: index, compositeRule: true }, valid);
  return true;
}

function noneFits(keyword: UnionKeyword) {
  const message =
    keyword === "anyOf" ? "must match a schema in anyOf" : "must match exactly one schema in oneOf";
  return { keyword, message };
}

/** What is wrong with a value that passes no guard: its type, or the first member that decides. */
function printNoneChosen(
  context: KeywordCxt,
  keyword: UnionKeyword,
  branches: readonly Branch[],
): void {
  const { gen, data } = context;
  const fault = noneFits(keyword);
  const types = [...new Set(branches.flatMap(({ guard }) => guard.types ?? []))];
  const ofObjects = branches.filter(({ guard }) => guard.types?.includes("object") !== false);
  const members = [...(ofObjects[0]?.guard.members.keys() ?? [])].flatMap((name) => {
    const guards = ofObjects.map(({ guard }) => guard.members.get(name));
    const isKnown = guards.every((guard) => guard !== undefined && guard.values !== null);
    if (!isKnown) return [];
    const values = [...new Set(guards.flatMap((guard) => guard?.values ?? []))];
    return [{ name, values, canLack: guards.some((guard) => guard?.canLack === true) }];
  });
  const cases: { readonly condition: Code; readonly print: () => void }[] = [];
  if (branches.every(({ guard }) => guard.types !== null))
    cases.push({
      condition: not(anyType(types, data)),
      print: () => printFault(context, { keyword: "type", message: `must be ${joinWords(types)}` }),
    });
  for (const { name, ...guard } of members) {
    cases.push({
      condition: and(isType("object", data), not(passes(name, guard, data))),
      print: () => printWrongMember(context, name, guard),
    });
  }
  const [first, ...others] = cases;
  if (first === undefined) return printFault(context, fault);
  gen.if(first.condition);
  first.print();
  for (const { condition, print } of others) {
    gen.elseIf(condition);
    print();
  }
  gen.else();
  printFault(context, fault);
  gen.endIf();
}

/** The fault of a member that decides and has none of its values, or is absent. */
function printWrongMember(
  context: KeywordCxt,
  name: string,
  { values, canLack }: MemberGuard,
): void {
  const { gen, data } = context;
  const allowed = (values ?? []).map((value) => JSON.stringify(value)).join(", ");
  const message = `must be equal to one of the allowed values: ${allowed}`;
  const ofValue = { member: name, keyword: "enum", message };
  if (canLack) return printFault(context, ofValue);
  gen.if(_`${data}${getProperty(name)} === undefined`);
  const missing = `must have required property '${name}'`;
  printFault(context, { member: name, keyword: "required", message: missing });
  gen.else();
  printFault(context, ofValue);
  gen.endIf();
}

function joinWords(types: readonly string[]): string {
  const [last = "", ...others] = [...types].reverse();
  return others.length === 0 ? last : `${others.reverse().join(", ")} or ${last}`;
}

function conditionOf({ types, members }: Guard, data: Name): Code | undefined {
  const ofMembers = [...members].map(([name, guard]) => passes(name, guard, data));
  if (types === null) {
    if (ofMembers.length === 0) return undefined;
    return or(not(isType("object", data)), and(...ofMembers));
  }
  if (ofMembers.length === 0) return anyType(types, data);
  const ofObjects = and(isType("object", data), ...ofMembers);
  const others = types.filter((type) => type !== "object");
  return others.length === 0 ? ofObjects : or(anyType(others, data), ofObjects);
}

function anyType(types: readonly string[], data: Name): Code {
  return types.length === 0 ? _`false` : or(...types.map((type) => isType(type, data)));
}

/** As Ajv checks a type, so that the same values pass. */
function isType(type: string, data: Name): Code {
  if (type === "null") return _`${data} === null`;
  if (type === "array") return _`Array.isArray(${data})`;
  if (type === "object")
    return _`(${data} && typeof ${data} == "object" && !Array.isArray(${data}))`;
  return _`typeof ${data} == ${type}`;
}

function passes(name: string, { values, canLack }: MemberGuard, data: Name): Code {
  const member = _`${data}${getProperty(name)}`;
  if (values === null) return _`${member} !== undefined`;
  const each = values.map((value) => _`${member} === ${value}`);
  if (canLack) each.push(_`${member} === undefined`);
  return each.length === 0 ? _`false` : or(...each);
}
