// validators/<namespace>-answers.ts: functions that cut what authors' code answers to its declared
// members, and check it.
import { families } from "../families/index.js";
import { isAuthors } from "../model/code.js";
import { refTo } from "../model/json-schema.js";
import { camelCase } from "../model/names.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { mergeRecords } from "../model/records.js";
import { functionName, type ToldPlans, type ValidatorPlan } from "../model/validator-plan.js";
import type { TextCache } from "../compile/text-cache.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements } from "../print/layout.js";
import { freeName, printedNames } from "../print/printed-names.js";
import { print } from "../print/templates.js";
import { typeModules } from "../print/type-modules.js";
import { CutPrinter, withNamedOptions, withoutProven } from "./answer-cuts.js";
import { namespacesOf } from "../model/namespaces.js";
import { checkedSchemas, checkName } from "../compile/checked-schemas.js";
import { compileChecks } from "../compile/compiler.js";
import { exportOf, helpersOf, runtimeType, typeNamesOf } from "./validators.js";
import { outputTypeName } from "../model/operation-types.js";

/**
 * The function that checks an operation's answers: one of the runtime, or one compiled from the
 * declared output.
 */
export type AnswerPlan =
  | { readonly runtime: "noAnswer" | "byteAnswer" }
  | { readonly media: string; readonly status: number }
  | ValidatorPlan;

/**
 * The module with a namespace's answers. No namespace can have this name, because of the hyphen.
 */
export function answersModule(namespace: string): string {
  return `${namespace}-answers`;
}

/**
 * The function that checks an operation's answers if the author's code makes them; undefined if the
 * runtime does.
 */
export function answerOf(operation: OperationModel): AnswerPlan | undefined {
  const { key, output, run, hooks, declares } = operation;
  const isAuthored =
    isAuthors(run) || hooks.some(({ isAuthored, phase }) => isAuthored && phase === "wrap");
  if (!isAuthored) return undefined;
  // A handler of the runtime has its type already; only an author's hook around it is checked.
  const typeName = declares === "handler" ? outputTypeName(operation) : "unknown";
  if (output.schema !== null) return { name: camelCase(key), schema: output.schema, typeName };
  // An author's hook around a handler of the runtime passes on what that has made.
  if (output.mediaType !== null && isAuthors(run))
    return { media: output.mediaType, status: operation.route?.status ?? 200 };
  return { runtime: output.isBytes ? "byteAnswer" : "noAnswer" };
}

/** The module of errors' bodies; no namespace can have this name. */
export const envelopeModule = "error-envelope";

/**
 * A module of what authors' code may answer; `holds` is the function of the runtime that enforces
 * it.
 */
interface AnswersModule {
  readonly name: string;
  readonly source: string;
  /** The module of types that `typeModules` doesn't know. */
  readonly types: string;
  readonly holds: "answer" | ToldPlans["holds"];
  readonly plans: readonly ValidatorPlan[];
}

/**
 * Compiles the answer checks of every namespace with authors' code, and those that families add.
 * Cached texts are reused.
 */
export async function emitAnswers(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  const ofNamespaces = namespacesOf(model).map(({ name, source, operations }): AnswersModule => {
    const plans = operations
      .map(answerOf)
      .filter((plan): plan is ValidatorPlan => plan !== undefined && "schema" in plan);
    return { name: answersModule(name), source, types: name, holds: "answer", plans };
  });
  return Promise.all(
    [...ofNamespaces, ...bodiesOfErrors(model), ...ofFamilies(model)].flatMap((module) =>
      module.plans.length === 0 ? [] : [answersFile(module, model, modules, cache)],
    ),
  );
}

const ofRegistry = { source: "registry", types: "models" } as const;

/** The module for the bodies of errors. */
function bodiesOfErrors({ service }: RegistryModel): readonly AnswersModule[] {
  if (service.errors === null) return [];
  const { typeName } = service.errors;
  const plans = [{ name: "body", schema: refTo(typeName), typeName }];
  return [{ ...ofRegistry, name: envelopeModule, holds: "answer", plans }];
}

/** The modules of what authors' code tells others besides answers. */
function ofFamilies(model: RegistryModel): readonly AnswersModule[] {
  const told = mergeRecords(families.map((family) => family.told(model)));
  return Object.entries(told).map(([name, plans]) => ({ ...ofRegistry, name, ...plans }));
}

async function answersFile(
  module: AnswersModule,
  model: RegistryModel,
  modules: ReadonlyMap<string, string>,
  cache: TextCache,
): Promise<EmittedFile> {
  const schemas = withNamedOptions(checkedSchemas(module.plans, model));
  const code = await compileChecks(withoutProven(schemas), cache);
  const cuts = new CutPrinter(schemas, functionName);
  const types = typeNamesOf(module.plans);
  const names = printedNames(`${cuts.text}\n${code}`);
  const answer = freeName("Answer", (name) => types.includes(name) || names.has(name));
  const taken = new Set([...names, ...helpersOf(code), module.holds, "cut"]);
  const text = print("answers.ts", {
    header: header(module.source),
    imports: importsOf(module, code, modules, types, answer),
    lines: exportsOf(module, model, cuts, taken, answer),
    cuts: cuts.text,
    code,
  });
  return { path: `validators/${module.name}.ts`, text };
}

function exportsOf(
  { plans, holds }: AnswersModule,
  model: RegistryModel,
  cuts: CutPrinter,
  taken: ReadonlySet<string>,
  answer: string,
): readonly string[] {
  const values = plans.map((plan) => {
    const check = checkName(plan, model);
    return `${holds}(${cuts.cutOf(check)}, ${functionName(check)})`;
  });
  return plans.flatMap(({ name, typeName }, index) => {
    const local = freeName(name, (wanted) => wanted === answer || taken.has(wanted));
    const type =
      holds === "answer" ? `${answer}<${typeName}>` : `(context: unknown) => ${typeName}`;
    return exportOf(name, local, type, values[index] ?? "");
  });
}

function importsOf(
  { holds, types: home }: AnswersModule,
  code: string,
  modules: ReadonlyMap<string, string>,
  types: readonly string[],
  answer: string,
): readonly string[] {
  return importStatements([
    ...[holds, ...helpersOf(code), "cut"].map((name) => importOf(name, "opwright/runtime", false)),
    ...(holds === "answer" ? [runtimeType("Answer", answer)] : []),
    ...types.map((name) => importOf(name, `../types/${modules.get(name) ?? home}.js`, true)),
  ]);
}
