// The storage family: a declaration becomes a storage model and its operations (service.md "Storage routes").
import type { StorageDeclaration } from "./format.js";
import { byteCount } from "../../load/quantities.js";
import { camelCase, pascalCase, specName, summaryOf } from "../../model/names.js";
import { own } from "../../model/records.js";
import { bodyInput, type InputModel } from "../../model/registry.js";
import type { StorageModel } from "../../model/storage-model.js";
import { callOf, ofGenerated, ofRuntime, type Code, type CodeName } from "../../model/code.js";
import { shapes, summaries, type StorageVerbShape } from "./shapes.js";
import { isDirect, multipartVerbs, presignVerbs, storageVerbs, type StorageVerb } from "./verbs.js";
import {
  deadlineOf,
  extensionsOf,
  type FamilyContext,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { checkGuardNames } from "../../kernel/guard-by-operation.js";
import { guardText, hookChain } from "../../kernel/guards.js";
import { bytesOutput, jsonOutput, operation } from "../../kernel/operation.js";
import { guardsOf } from "./guard.js";
import { directTypes, keyInput, keySchema, storageTypes, uploadForm } from "./schemas.js";

/** Operations that a streamed download is made of; without one of them it is buffered. */
const streamingVerbs: readonly StorageVerb[] = ["head", "download_stream", "download_range"];

const mebibyte = 1024 * 1024;

/** One storage declaration, expanded. */
export interface ExpandedStorage {
  readonly model: StorageModel;
  readonly operations: readonly UnmountedOperation[];
}

/** Expands `storage.<name>`. */
export function expandStorage(
  context: FamilyContext,
  name: string,
  declaration: StorageDeclaration,
): ExpandedStorage {
  const { tree, types } = context;
  const at = tree.keyAt("storage", name);
  const left: readonly StorageVerb[] = [
    ...(declaration.presign === true ? [] : presignVerbs),
    ...(declaration.multipart === true ? [] : multipartVerbs),
  ];
  const verbs = storageVerbs.filter((verb) => !left.includes(verb));
  const { guard, mount } = declaration;
  const placed = { tree, path: ["storage", name, "guard"], guard } as const;
  checkGuardNames(context, name, placed, { names: verbs, groups: ["read", "write"] });
  const included = mount === false ? undefined : mount?.include;
  const streams = streamingVerbs.every((verb) => included?.includes(verb) !== false);
  const model: StorageModel = {
    name,
    was: declaration.was ?? declaration.former ?? null,
    source: at.file,
    maxUploadBytes: sizeOf(declaration.max_upload, 64 * mebibyte),
    maxRangeBytes: sizeOf(declaration.max_range, 16 * mebibyte) ?? Number.MAX_SAFE_INTEGER,
    accept: declaration.accept ?? null,
    // Without accept, there is nothing that bytes would have to fit.
    detect: declaration.accept === undefined ? "name" : (declaration.detect ?? "bytes"),
    encryption: declaration.encryption ?? "none",
    alsoReads: declaration.also_reads ?? [],
    isStreamed: streams && declaration.stream !== false,
  };
  for (const [type, schema] of Object.entries(storageTypes))
    types.table.addShared(type, schema, at);
  if (declaration.presign === true || declaration.multipart === true)
    for (const [type, schema] of Object.entries(directTypes))
      types.table.addShared(type, schema, at);
  return {
    model,
    operations: verbs.map((verb) => expandVerb(context, model, declaration, verb)),
  };
}

function sizeOf(declared: string | false | undefined, usual: number): number | null {
  if (declared === false) return null;
  return declared === undefined ? usual : byteCount(declared);
}

function expandVerb(
  context: FamilyContext,
  model: StorageModel,
  declaration: StorageDeclaration,
  verb: StorageVerb,
): UnmountedOperation {
  const { tree } = context;
  const shape = shapes[verb];
  const key = `${model.name}.${verb}`;
  const guards = guardsOf(tree, model.name, declaration, verb);
  // In a composite, who may read or write the documents may do so with their files.
  const resource = declaration.resource ?? model.name;
  const hooks = hookChain(context, guards, resource);
  const spec = ofGenerated(`storage/${model.name}`, specName(model.name));
  const made = operation(
    {
      namespace: model.name,
      name: verb,
      family: "storage",
      source: model.source,
      guard: guardText(guards),
      hooks,
    },
    {
      summary: summaryOf(summaries[verb], model.name),
      description: declaration.description ?? null,
      input: inputOf(key, verb, shape),
      output: shape.output === "bytes" ? bytesOutput : jsonOutput(shape.output),
      // An upload has as long as its bytes keep coming.
      deadlineSeconds:
        verb === "upload" && declaration.deadline === undefined
          ? null
          : deadlineOf(context, declaration.deadline),
      transaction: "read",
      isConditional: shape.output === "bytes" || verb === "delete",
      leadsTo: shape.leadsTo ?? [],
      isSensitive: declaration.sensitive ?? false,
      run: callOf(handlerOf(verb, model), spec),
      effect: shape.effect,
      isTool: shape.output !== "bytes" && verb !== "upload",
      errors: shape.errors,
      extensions: extensionsOf(declaration),
    },
  );
  const { rest } = shape;
  const rpc = shape.rpc ?? rest;
  return {
    operation: made,
    routes:
      rest === null || rpc === null
        ? null
        : {
            rest: { method: rest[0], path: rest[1] },
            rpc: { method: rpc[0], path: rpc[1] },
          },
    status: shape.status ?? 200,
    at: tree.keyAt("storage", model.name),
  };
}

function inputOf(key: string, verb: StorageVerb, { body }: StorageVerbShape): InputModel {
  const typeName = `${pascalCase(key)}Input`;
  if (body !== undefined) return bodyInput(body, typeName, "parts");
  if (verb === "upload") {
    const form = {
      as: "input",
      isOptional: false,
      isForm: true,
      schema: uploadForm,
      typeName,
    } as const;
    return { schema: uploadForm, typeName, parameters: [], body: form, read: readerOf(verb) };
  }
  const parameter = {
    name: "key",
    in: "path",
    type: "string",
    required: true,
    schema: keySchema,
  } as const;
  return { schema: keyInput, typeName, parameters: [parameter], body: null, read: readerOf(verb) };
}

/** What reads an input that is no JSON body alone. */
function readerOf(verb: StorageVerb): Code {
  return ofRuntime(`storageInput.${own(readers, verb) ?? "key"}`);
}

const readers: Partial<Record<StorageVerb, string>> = {
  upload: "upload",
  download: "download",
  head: "download",
  download_range: "range",
};

/** The function of the runtime that runs a verb. */
function handlerOf(verb: StorageVerb, { isStreamed }: StorageModel): CodeName {
  if (isDirect(verb)) return ofRuntime(`direct.${camelCase(verb)}`);
  const isBuffered = ["download", "head", "delete"].includes(verb) && !isStreamed;
  return ofRuntime(`storage.${camelCase(verb)}${isBuffered ? "Buffered" : ""}`);
}
