// client/: the typed client of the service, one function an operation, over a core that is the same for every service.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { referredType, refTo, requiredOf, type JsonSchema } from "../model/json-schema.js";
import { camelCase, pascalCase } from "../model/names.js";
import { own } from "../model/records.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { packageRoot } from "../package-root.js";
import { header, type EmittedFile } from "./file.js";
import { docComment, importLine, listLayout, literal, sortedUnique, width } from "./layout.js";
import { namespacesOf, type Namespace } from "./namespaces.js";
import { errorCodesOf, ofBody } from "./openapi.js";
import { print } from "./templates.js";
import { referredTypes, typeDeclaration } from "./type-text.js";
import { typeModules } from "./types.js";

/** Words that cannot name a function. */
const reserved = new Set(
  "await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
);

export function emitClient(model: RegistryModel): readonly EmittedFile[] {
  const modules = typeModules(model);
  const owned = new Map<string, string[]>();
  for (const [type, module] of modules) {
    const types = owned.get(module);
    if (types === undefined) owned.set(module, [type]);
    else types.push(type);
  }
  const shared = owned.get("models") ?? [];
  const common = commonCodes(model);
  const hasUploads = Object.values(model.operations).some(
    ({ run }) => run.kind === "storage" && run.verb === "begin_upload",
  );
  const namespaces = namespacesOf(model)
    .map((namespace) => ({ namespace, operations: namespace.operations.filter(isAttached) }))
    .filter(({ namespace, operations }) => operations.length > 0 || owned.has(namespace.name));
  return [
    ownFile("core.ts"),
    ...(hasUploads ? [ownFile("upload.ts")] : []),
    {
      path: "client/models.ts",
      text: print("types.ts", {
        header: header("registry"),
        imports: [],
        declarations: [
          ...shared.map((name) => typeDeclaration(name, model.types[name] ?? true)),
          ...common.map(({ type, schema }) => typeDeclaration(type, schema)),
        ],
      }),
    },
    ...namespaces.map(({ namespace, operations }) => ({
      path: `client/api/${namespace.name}.ts`,
      text: printNamespace(namespace, operations, {
        model,
        modules,
        common,
        types: owned.get(namespace.name) ?? [],
      }),
    })),
    {
      path: "client/index.ts",
      text: print("client-index.ts", {
        header: header("registry"),
        title: model.service.title,
        hasUploads,
        refreshPath: literal(own(model.operations, "authn.refresh_tokens")?.route?.path ?? ""),
        namespaces: namespaces
          .filter(({ operations }) => operations.length > 0)
          .map(({ namespace }) => ({ name: camelCase(namespace.name), file: namespace.name })),
      }),
    },
  ];
}

/** A file of opwright's own, which goes along unchanged. */
function ownFile(name: string): EmittedFile {
  const text = readFileSync(join(packageRoot(), "client", name), "utf8");
  return { path: `client/${name}`, text: `${header("opwright")}\n${text}` };
}

function isAttached({ route }: OperationModel): boolean {
  return route !== null;
}

interface NamespaceView {
  readonly model: RegistryModel;
  /** The module of each type. */
  readonly modules: ReadonlyMap<string, string>;
  /** Codes that many operations have. */
  readonly common: readonly DeclaredType[];
  /** The types of the namespace's own document. */
  readonly types: readonly string[];
}

function printNamespace(
  { name, source }: Namespace,
  operations: readonly OperationModel[],
  { model, modules, common, types }: NamespaceView,
): string {
  const ofNamespace = namespaceCodes(name, operations, common);
  const groups = [...common, ...ofNamespace];
  const declared = [
    ...types.map((type) => ({ type, schema: model.types[type] ?? true })),
    ...ofNamespace,
    ...operations.flatMap((operation) => typesOf(operation, groups)),
  ];
  const foreign = sortedUnique([
    ...declared.flatMap(({ schema }) => referredTypes(schema)),
    ...operations.flatMap(({ input, output }) => [
      ...referredTypes(input.schema),
      ...referredTypes(output.schema ?? true),
    ]),
  ]).filter(
    (type) => modules.get(type) !== name && ofNamespace.every((group) => group.type !== type),
  );
  return print("client.ts", {
    header: header(source),
    isCalling: operations.length > 0,
    imports: foreign.map((type) => importLine(type, moduleOf(modules.get(type)), true)),
    declarations: declared.map(({ type, schema }) => typeDeclaration(type, schema)),
    functions: operations.map((operation) => printFunction(operation, model)),
  });
}

/** Namespaces have a folder of their own, where no file of the client can have their name. */
function moduleOf(module = "models"): string {
  return module === "models" ? "../models.js" : `./${module}.js`;
}

interface DeclaredType {
  readonly type: string;
  readonly schema: JsonSchema;
}

/** Codes that many operations have, as types of their own: those of all, and those of all with a body. */
function commonCodes(model: RegistryModel): readonly DeclaredType[] {
  const ofAll = sharedBy(Object.values(model.operations).filter(isAttached));
  const named = (wanted: string): string =>
    Object.hasOwn(model.types, wanted) ? `${wanted}_` : wanted;
  return [
    { type: named("CommonCode"), schema: { enum: ofAll } },
    { type: named("BodyCode"), schema: { enum: ofBody.filter((code) => !ofAll.includes(code)) } },
  ];
}

/** Codes that all operations of a namespace have besides. */
function namespaceCodes(
  name: string,
  operations: readonly OperationModel[],
  common: readonly DeclaredType[],
): readonly DeclaredType[] {
  const known = common.flatMap(codesOf);
  const codes = sharedBy(operations).filter((code) => !known.includes(code));
  return codes.length === 0 ? [] : [{ type: `${pascalCase(name)}Code`, schema: { enum: codes } }];
}

function sharedBy(operations: readonly OperationModel[]): readonly string[] {
  const [first, ...others] = operations;
  if (first === undefined) return [];
  let shared: readonly string[] = errorCodesOf(first);
  for (const operation of others) {
    const codes: ReadonlySet<string> = new Set(errorCodesOf(operation));
    shared = shared.filter((code) => codes.has(code));
  }
  return shared;
}

function codesOf({ schema }: DeclaredType): readonly unknown[] {
  return typeof schema === "object" && Array.isArray(schema["enum"]) ? schema["enum"] : [];
}

/** The types that an operation has of its own: its input, its output, the codes of its errors. */
function typesOf(
  operation: OperationModel,
  groups: readonly DeclaredType[],
): readonly DeclaredType[] {
  const { key, input, output } = operation;
  const codes: readonly string[] = errorCodesOf(operation);
  const whole = groups.filter((group) =>
    codesOf(group).every((code) => codes.includes(String(code))),
  );
  const named = whole.flatMap(codesOf);
  const rest = codes.filter((code) => !named.includes(code));
  return [
    ...(hasInput(operation) && referredType(input.schema) === undefined
      ? [{ type: input.typeName, schema: input.schema }]
      : []),
    ...(output.schema !== null && referredType(output.schema) === undefined
      ? [{ type: `${pascalCase(key)}Output`, schema: output.schema }]
      : []),
    {
      type: `${pascalCase(key)}Code`,
      schema: {
        anyOf: [
          ...whole.map(({ type }) => refTo(type)),
          ...(rest.length === 0 ? [] : [{ enum: rest }]),
        ],
      },
    },
  ];
}

function hasInput({ input }: OperationModel): boolean {
  return input.parameters.length > 0 || input.body !== null;
}

function printFunction(operation: OperationModel, model: RegistryModel): string {
  const { key, name, input, output, summary, route } = operation;
  const plain = camelCase(name);
  const function_ = reserved.has(plain) ? `${plain}_` : plain;
  const referred = referredType(input.schema);
  const inputType = referred ?? input.typeName;
  const schema = referred === undefined ? input.schema : (model.types[referred] ?? true);
  const isOptional =
    typeof schema === "object" && schema["type"] === "object" && requiredOf(schema).length === 0;
  const outputType =
    output.isBytes === true
      ? "Response"
      : output.schema === null
        ? "undefined"
        : (referredType(output.schema) ?? `${pascalCase(key)}Output`);
  const parameters = [
    "client: Client",
    ...(hasInput(operation) ? [`input: ${inputType}${isOptional ? " = {}" : ""}`] : []),
    "options?: CallOptions",
  ];
  const members = Object.entries(operationOf(operation)).map(
    ([member, value]) => `${member}: ${literal(value)}`,
  );
  const constant = `${function_}Operation`;
  return [
    listLayout("", `const ${constant}: Operation = `, members, ["{", "}"], ";"),
    "",
    docComment("", `${summary}. \`${route?.method} ${route?.path}\``),
    signature(function_, parameters, [outputType, `${pascalCase(key)}Code`]),
    `  return $call(client, ${constant}, ${hasInput(operation) ? "input" : "{}"}, options);`,
    "}",
    ...(function_ === plain ? [] : [`export { ${function_} as ${plain} };`]),
  ].join("\n");
}

/** Storage operations that may be repeated as they are, whatever their method. */
const repeatable: readonly string[] = [
  "list",
  "presign_download",
  "presign_upload",
  "presign_post",
  "presign_part",
  "list_parts",
  "abort_upload",
];

/** Whether an operation that is called twice does what one call does. */
function isSafe({ family, route, run, transaction }: OperationModel): boolean {
  if (route?.method === "GET" || route?.method === "HEAD") return true;
  if (run.kind === "storage") return repeatable.includes(run.verb);
  return (family === "documents" || family === "search") && transaction === "read";
}

/** The head of a function: on one line, or with a parameter a line, and then with its result broken as well. */
function signature(
  name: string,
  parameters: readonly string[],
  results: readonly string[],
): string {
  const line = `export function ${name}(${parameters.join(", ")}): Call<${results.join(", ")}> {`;
  if (line.length <= width) return line;
  const broken = parameters.map((parameter) => `  ${parameter},\n`).join("");
  return `export function ${name}(\n${broken}${listLayout("", "): Call", results, ["<", ">"], " {")}`;
}

/** What the core needs to know of an operation. */
function operationOf(operation: OperationModel): Readonly<Record<string, unknown>> {
  const { input, output, route, idempotencyKey } = operation;
  const query = input.parameters
    .filter((parameter) => parameter.in !== "path")
    .map(({ name }) => name);
  const { body } = input;
  const sends =
    body === null
      ? undefined
      : body.isForm === true
        ? "form"
        : body.as === "input"
          ? "input"
          : body.as === "members"
            ? "rest"
            : body.as;
  const repeats = idempotencyKey ? "keyed" : isSafe(operation) ? "safe" : undefined;
  return {
    method: route?.method,
    path: route?.path,
    ...(query.length === 0 ? {} : { query }),
    ...(sends === undefined ? {} : { body: sends }),
    ...(repeats === undefined ? {} : { repeats }),
    ...(output.isBytes === true ? { isBytes: true } : {}),
  };
}
