// validators/<namespace>.ts: Ajv standalone code, compiled at build; the server compiles no schema.
import { createHash } from "node:crypto";
import {
  mapSchema,
  referredType,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { bodyValidatorName, camelCase } from "../model/names.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import type { TextCache } from "../output/text-cache.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements, sortedUnique } from "../print/layout.js";
import { namespacesOf, type Namespace } from "./namespaces.js";
import { print } from "../print/templates.js";
import { typeModules } from "../print/type-modules.js";

/** One validator: its export, its schema, the type it proves. */
interface ValidatorPlan {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly typeName: string;
}

/** The validator that checks an operation's body or input, or undefined where the runtime's own checks do. */
export function validatorOf(operation: OperationModel): ValidatorPlan | undefined {
  const { body, schema, typeName, parameters, read } = operation.input;
  const name = camelCase(operation.key);
  if (read === "whole")
    return body === null && parameters.length === 0 ? undefined : { name, schema, typeName };
  return read !== "parts" || body === null
    ? undefined
    : { name, schema: body.schema, typeName: body.typeName };
}

/** Compiles the validators of every namespace; texts that the cache holds are not compiled again. */
export async function emitValidators(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  const files: EmittedFile[] = [];
  for (const namespace of namespacesOf(model)) {
    const plans = plansOf(namespace);
    if (plans.length === 0) continue;
    const code = await compiled(plans, model, cache);
    files.push({
      path: `validators/${namespace.name}.ts`,
      text: printNamespace(namespace, plans, code, modules),
    });
  }
  const { realtime } = model;
  if (realtime !== null) {
    const plans = Object.entries(realtime.events).map(([name, { typeName }]) => ({
      name: camelCase(name),
      schema: refTo(typeName),
      typeName,
    }));
    const namespace = { name: "realtime", source: "registry", operations: [], document: undefined };
    const text = printNamespace(namespace, plans, await compiled(plans, model, cache), modules);
    files.push({ path: "validators/realtime.ts", text });
  }
  return files;
}

function plansOf(namespace: Namespace): readonly ValidatorPlan[] {
  const plans = namespace.operations.map(validatorOf).filter((plan) => plan !== undefined);
  const { document } = namespace;
  if (document?.checksBody !== true) return plans;
  return [
    ...plans,
    { name: bodyValidatorName(document), schema: document.bodySchema, typeName: "unknown" },
  ];
}

async function compiled(
  plans: readonly ValidatorPlan[],
  model: RegistryModel,
  cache: TextCache,
): Promise<string> {
  const schemas = Object.fromEntries(
    plans.map(({ name, schema }) => [name, bundled(schema, model)]),
  );
  const key = createHash("sha256").update(JSON.stringify(schemas)).digest("base64url");
  return cache.get(key, async () => {
    const { compileStandalone } = await import("./ajv-standalone.js");
    return compileStandalone(schemas);
  });
}

/** The schema with the types that it refers to as definitions of its own. */
export function bundled(schema: JsonSchema, model: Pick<RegistryModel, "types">): SchemaObject {
  const definitions: Record<string, JsonSchema> = {};
  const local = (part: JsonSchema): JsonSchema =>
    mapSchema(part, (inner) => {
      const type = referredType(inner);
      if (type === undefined) return inner;
      if (!Object.hasOwn(definitions, type)) {
        definitions[type] = true;
        definitions[type] = local(model.types[type] ?? true);
      }
      return { ...inner, $ref: `#/$defs/${type}` };
    });
  const root = local(schema);
  const object = typeof root === "boolean" ? (root ? {} : { not: {} }) : root;
  if (Object.keys(definitions).length === 0) return object;
  return {
    ...object,
    $defs: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function printNamespace(
  namespace: Namespace,
  plans: readonly ValidatorPlan[],
  code: string,
  modules: ReadonlyMap<string, string>,
): string {
  const helpers = ["codePointLength", "formats", "jsonEqual"].filter((name) => code.includes(name));
  const types = sortedUnique(plans.map(({ typeName }) => typeName)).filter(
    (name) => name !== "unknown",
  );
  return print("validators.ts", {
    header: header(namespace.source),
    imports: importStatements([
      ...[...helpers, "validator"].map((name) => importOf(name, "opwright/runtime", false)),
      ...types.map((name) =>
        importOf(name, `../types/${modules.get(name) ?? namespace.name}.js`, true),
      ),
    ]),
    code,
    plans,
  });
}
