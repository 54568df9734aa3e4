// validators/<namespace>.ts: Ajv standalone code, compiled at build; the server compiles no schema.
import { checkedSchemas, checkName } from "../compile/checked-schemas.js";
import { compileChecks } from "../compile/compiler.js";
import type { TextCache } from "../compile/text-cache.js";
import { families } from "../families/index.js";
import { handledTypeName } from "../model/filled-input.js";
import { withoutMember } from "../model/json-schema.js";
import { camelCase } from "../model/names.js";
import { mergeRecords, own } from "../model/records.js";
import { functionName, type ValidatorPlan } from "../model/validator-plan.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements, sortedUnique, type Import } from "../print/layout.js";
import { freeName, printedNames } from "../print/printed-names.js";
import { namespacesOf } from "../model/namespaces.js";
import { print } from "../print/templates.js";
import { typeModules } from "../print/type-modules.js";

/**
 * The name of the validator that checks an operation's body or input; undefined if the runtime's
 * own checks suffice.
 */
export function validatorName({ key, input }: OperationModel): string | undefined {
  const { body, parameters, read } = input;
  const isChecked =
    read === "whole" ? body !== null || parameters.length > 0 : read === "parts" && body !== null;
  return isChecked ? camelCase(key) : undefined;
}

function validatorOf(operation: OperationModel, { types }: RegistryModel): ValidatorPlan[] {
  const name = validatorName(operation);
  if (name === undefined) return [];
  const { schema: whole, body, read } = operation.input;
  if (read !== "whole" && body !== null)
    return [{ name, schema: body.schema, typeName: body.typeName }];
  const fillsDefaults = operation.declares === "handler";
  // Bytes have no schema: what is checked is the rest.
  const isRaw = body?.media === "*/*" && typeof body.as === "object";
  const schema = isRaw ? withoutMember(whole, body.as.member) : whole;
  return [{ name, schema, typeName: handledTypeName(operation, types), fillsDefaults }];
}

/** Compiles the validators of every module, except texts that are cached. */
export async function emitValidators(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  return Promise.all(
    validatorModules(model).map(async (module) => {
      const code = await compileChecks(checkedSchemas(module.plans, model), cache);
      return {
        path: `validators/${module.name}.ts`,
        text: printModule(module, model, code, modules),
      };
    }),
  );
}

interface ValidatorModule {
  readonly name: string;
  readonly source: string;
  readonly plans: readonly ValidatorPlan[];
}

/** The modules with validators: those of namespaces, and those that families add. */
function validatorModules(model: RegistryModel): readonly ValidatorModule[] {
  const further = mergeRecords(families.map((family) => family.validators(model)));
  const ofNamespaces = namespacesOf(model).map(({ name, source, operations }) => {
    const plans = operations.flatMap((operation) => validatorOf(operation, model));
    return { name, source, plans: [...plans, ...(own(further, name) ?? [])] };
  });
  const others = Object.entries(further)
    .filter(([name]) => ofNamespaces.every((module) => module.name !== name))
    .map(([name, plans]) => ({ name, source: "registry", plans }));
  // A family's module is printed even if it has no validators, because other modules import it.
  return [...ofNamespaces.filter(({ plans }) => plans.length > 0), ...others];
}

/** The helpers of the runtime that compiled functions use. */
export function helpersOf(code: string): readonly string[] {
  return [
    "codePointLength",
    "formats",
    "isMultipleOf",
    "joinErrors",
    "jsonEqual",
    "repeatedItems",
  ].filter((name) => code.includes(name));
}

function printModule(
  { name: module, source, plans }: ValidatorModule,
  model: RegistryModel,
  code: string,
  modules: ReadonlyMap<string, string>,
): string {
  const taken = printedNames(code);
  const helpers = helpersOf(code);
  const types = typeNamesOf(plans);
  const type = freeName("Validator", (name) => types.includes(name) || taken.has(name));
  return print("validators.ts", {
    header: header(source),
    imports: importStatements([
      ...[...helpers, "validator"].map((name) => importOf(name, "opwright/runtime", false)),
      runtimeType("Validator", type),
      ...types.map((name) => importOf(name, `../types/${modules.get(name) ?? module}.js`, true)),
    ]),
    code,
    lines: plans.flatMap((plan) => {
      const { name, typeName } = plan;
      const local = freeName(
        name,
        (wanted) => helpers.includes(wanted) || taken.has(wanted) || wanted === type,
      );
      const value = `validator(${functionName(checkName(plan, model))})`;
      return exportOf(name, local, `${type}<${typeName}>`, value);
    }),
  });
}

/**
 * An export with its type. TypeScript would infer it from the compiled functions, and if one of
 * those is too large for control flow analysis (TS2563), stop analysing the modules that import it.
 * `@ts-nocheck` hides that error alone.
 */
export function exportOf(
  name: string,
  local: string,
  type: string,
  value: string,
): readonly string[] {
  if (local === name) return [`export const ${name}: ${type} = ${value};`];
  return [`const ${local}: ${type} = ${value};`, `export { ${local} as ${name} };`];
}

/** The types of plans that have to be imported. */
export function typeNamesOf(plans: readonly ValidatorPlan[]): readonly string[] {
  return sortedUnique(plans.map(({ typeName }) => typeName)).filter((name) => name !== "unknown");
}

/** The import of a type of the runtime under its local name. */
export function runtimeType(name: string, local: string): Import {
  return importOf(local === name ? name : `${name} as ${local}`, "opwright/runtime", true);
}
