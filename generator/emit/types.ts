// types/models.ts and types/<namespace>.ts: TypeScript types of the registry, of inputs and
// outputs, and of handlers.
import type { JsonSchema } from "../model/json-schema.js";
import { objectSchema, propertiesOf, referredType, requiredOf } from "../model/json-schema.js";
import { filledMembers, filledTypeName, handledTypeName } from "../model/filled-input.js";
import { pascalCase } from "../model/names.js";
import type { OperationModel, RegistryModel, ReplyDeclaration } from "../model/registry.js";
import { header, type EmittedFile } from "../print/file.js";
import {
  importOf,
  importStatements,
  listLayout,
  literal,
  sortedUnique,
  width,
} from "../print/layout.js";
import { typeModules, typesByModule } from "../print/type-modules.js";
import { namespacesOf, type Namespace } from "../model/namespaces.js";
import { print } from "../print/templates.js";
import { referredTypes } from "../model/referred-types.js";
import { bytesInMemory, extendingDeclaration, typeDeclaration } from "../print/type-text.js";
import {
  hasOwnHooks,
  hookedTypes,
  hookTypeName,
  typesOfHooks,
  bindingOf,
} from "../model/hook-types.js";
import { outputTypeName } from "../model/operation-types.js";

/** A module for each namespace that declares types, and `models` for all other types. */
export function emitTypes(model: RegistryModel): readonly EmittedFile[] {
  const modules = typeModules(model);
  const owned = typesByModule(modules);
  const shared = owned.get("models") ?? [];
  const files: EmittedFile[] = [];
  if (shared.length > 0) {
    const declarations = shared.map((name) => typeDeclaration(name, model.types[name] ?? true));
    files.push({
      path: "types/models.ts",
      text: print("types.ts", { header: header("registry"), imports: [], declarations }),
    });
  }
  for (const namespace of namespacesOf(model)) {
    const declared = declarationsOf(model, namespace, owned.get(namespace.name) ?? []);
    if (declared.length === 0) continue;
    files.push({
      path: `types/${namespace.name}.ts`,
      text: printNamespace(namespace, declared, modules),
    });
  }
  return files;
}

interface Declared {
  readonly text: string;
  readonly refers: readonly string[];
  /** What it names of the runtime. */
  readonly uses: readonly string[];
}

function declarationsOf(
  model: RegistryModel,
  namespace: Namespace,
  types: readonly string[],
): readonly Declared[] {
  const own = types.map((name) => declareType(name, model.types[name] ?? true));
  const inputs = namespace.operations
    .filter(({ declares }) => declares === "input")
    .map(({ input }) => declareType(input.typeName, input.schema));
  const custom = namespace.operations
    .filter(isCustom)
    .flatMap((operation) => customTypes(operation, model.types));
  const hooked = namespace.operations
    .filter(hasOwnHooks)
    .flatMap((operation) => hookTypes(operation, model.types));
  return [...own, ...inputs, ...custom, ...hooked];
}

function isCustom(operation: OperationModel): boolean {
  return operation.declares === "handler";
}

/** Input, output and handler types of a custom operation. */
function customTypes(
  operation: OperationModel,
  known: RegistryModel["types"],
): readonly Declared[] {
  const { input, output, key } = operation;
  const types: Declared[] = [];
  if (referredType(input.schema) === undefined)
    types.push(declareType(input.typeName, asHeld(input)));
  const result = outputTypeName(operation);
  if (output.schema !== null && referredType(output.schema) === undefined) {
    types.push(declareType(result, output.schema));
  }
  const handled = handledTypeName(operation, known);
  if (handled !== input.typeName) types.push(filledInput(operation, known));
  const made =
    output.isStream === true ? "ItemStream" : output.mediaType !== null ? "MediaAnswer" : null;
  const plain = output.schema === null ? "void" : result;
  const given = [handled, made === "ItemStream" ? `ItemStream<${result}>` : (made ?? plain)];
  const reply = operation.route?.reply ?? null;
  types.push({
    text: `/** Handles ${key}. */\n${handlerDeclaration(`${pascalCase(key)}Handler`, given, reply)}`,
    refers: [...referredTypes(input.schema), ...referredTypes(output.schema ?? true)],
    uses: [reply === null ? "Handler" : "ReplyingHandler", ...(made === null ? [] : [made])],
  });
  return types;
}

/** An input as a handler gets it: the bytes of a body are in memory. */
function asHeld({ schema, body }: OperationModel["input"]): JsonSchema {
  if (body?.media !== "*/*" || typeof body.as !== "object") return schema;
  const properties = { ...propertiesOf(schema), [body.as.member]: bytesInMemory };
  return objectSchema(properties, requiredOf(schema));
}

/** The type of the hooks that an operation names, with what of it is not declared yet. */
function hookTypes(operation: OperationModel, known: RegistryModel["types"]): readonly Declared[] {
  const { key, input, output } = operation;
  const types = typesOfHooks(operation).map(({ name, schema }) => declareType(name, schema));
  const given = hookedTypes(operation, known);
  const binding = bindingOf(operation);
  const name = hookTypeName(key);
  const declaration = listLayout(
    "",
    `export type ${name} = HookFunctions`,
    [given.input, given.output],
    ["<", ">"],
    ";",
  );
  const hooks = {
    text: `/** Hooks of ${key}, by their phases: \`${name}["before"]\`. */\n${declaration}`,
    refers: [...referredTypes(input.schema), ...referredTypes(output.schema ?? true)],
    uses: [
      "HookFunctions",
      ...(given.output === "ByteReply" ? ["ByteReply"] : []),
      ...(binding === null ? [] : ["BoundInput", binding.split(".")[0] ?? binding]),
    ],
  };
  return [...types, hooks];
}

/** The input of an operation with its defaults filled in. */
function filledInput({ key, input }: OperationModel, known: RegistryModel["types"]): Declared {
  const filled = filledMembers(input.schema, (name) => known[name]);
  const schema = objectSchema(filled, Object.keys(filled));
  return {
    text: `/** The input of ${key} as its handler gets it. */\n${extendingDeclaration(filledTypeName(key), input.typeName, schema)}`,
    refers: referredTypes(schema),
    uses: [],
  };
}

function handlerDeclaration(
  name: string,
  given: readonly string[],
  reply: ReplyDeclaration | null,
): string {
  if (reply === null)
    return listLayout("", `export type ${name} = Handler`, given, ["<", ">"], ";");
  const { reads, statuses, headers, cookies, redirects } = reply;
  const member = (of: string, values: readonly (string | number)[]): string => {
    const options = values.length === 0 ? ["never"] : values.map(literal);
    const line = `    ${of}: ${options.join(" | ")};`;
    return line.length <= width
      ? line
      : `    ${of}:\n${options.map((one) => `      | ${one}`).join("\n")};`;
  };
  const names = [
    member("reads", reads),
    member("statuses", statuses),
    member("headers", headers),
    member("cookies", Object.keys(cookies)),
    member("redirects", redirects),
  ];
  const lines = [...given.map((type) => `  ${type},`), "  {", ...names, "  }"];
  return `export type ${name} = ReplyingHandler<\n${lines.join("\n")}\n>;`;
}

function declareType(name: string, schema: JsonSchema): Declared {
  return { text: typeDeclaration(name, schema), refers: referredTypes(schema), uses: [] };
}

function printNamespace(
  namespace: Namespace,
  declarations: readonly Declared[],
  modules: ReadonlyMap<string, string>,
): string {
  const foreign = sortedUnique(declarations.flatMap(({ refers }) => refers)).filter(
    (name) => modules.get(name) !== namespace.name,
  );
  const imports = [
    ...sortedUnique(declarations.flatMap(({ uses }) => uses)).map((name) =>
      importOf(name, "opwright/runtime", true),
    ),
    ...foreign.map((name) => importOf(name, `./${modules.get(name) ?? "models"}.js`, true)),
  ];
  return print("types.ts", {
    header: header(namespace.source),
    imports: importStatements(imports),
    declarations: declarations.map(({ text }) => text),
  });
}
