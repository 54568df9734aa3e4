// The storage family: a declaration becomes a storage model and its operations (service.md "Storage routes").
import { didYouMean } from "../../did-you-mean.js";
import type { StorageDeclaration } from "../../load/declarations.js";
import { byteCount } from "../../load/quantities.js";
import { refTo, type JsonSchema, type SchemaObject } from "../../model/json-schema.js";
import { camelCase, pascalCase, specName, summaryOf } from "../../model/names.js";
import { own } from "../../model/records.js";
import {
  bodyInput,
  type Effect,
  type InputModel,
  type OperationModel,
  type StorageModel,
} from "../../model/registry.js";
import { callOf, ofGenerated, ofRuntime, type Code, type CodeName } from "../../model/code.js";
import { isDirect, multipartVerbs, presignVerbs, storageVerbs, type StorageVerb } from "./verbs.js";
import {
  deadlineOf,
  extensionsOf,
  type FamilyContext,
  type RouteMethod,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { hookChain, requiresAuthn } from "../../kernel/guards.js";
import {
  beginUploadBody,
  completeBody,
  directTypes,
  keyInput,
  keySchema,
  listBody,
  presignDownloadBody,
  presignPartBody,
  presignPostBody,
  presignUploadBody,
  sessionBody,
  storageTypes,
  uploadForm,
} from "./schemas.js";

interface StorageVerbShape {
  /** Routes by style, null where the operation has none of its own. */
  readonly rest: readonly [RouteMethod, string] | null;
  /** The steps that go on with what it answers. */
  readonly leadsTo?: readonly StorageVerb[];
  /** Where it differs from rest. */
  readonly rpc?: readonly [RouteMethod, string];
  readonly status?: number;
  readonly body?: SchemaObject;
  /** What it answers: a type, or bytes. */
  readonly output: JsonSchema | "bytes" | null;
  readonly isReading: boolean;
  readonly effect: Effect;
  readonly errors: readonly string[];
}

const direct = ["encryption_forbids_direct_transfer"];
const ofSession = [...direct, "upload_session_invalid", "core.not_found"];
const post = (path: string): readonly [RouteMethod, string] => ["POST", path];

const shapes: Readonly<Record<StorageVerb, StorageVerbShape>> = {
  upload: {
    rest: post("/files"),
    rpc: post("/files/upload"),
    status: 201,
    output: refTo("StoredObject"),
    isReading: false,
    effect: "changes",
    errors: [
      "media_type_unsupported",
      "upload_malformed",
      "upload_too_large",
      "upload_type_unsupported",
      "request_timeout",
      "core.concurrency",
    ],
  },
  list: {
    rest: post("/files/list"),
    body: listBody,
    output: refTo("ObjectPage"),
    isReading: true,
    effect: "reads",
    errors: ["invalid_cursor"],
  },
  download: {
    rest: ["GET", "/files/{+key}"],
    rpc: ["GET", "/files/download/{+key}"],
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found", "range_not_satisfiable", "core.concurrency"],
  },
  head: {
    rest: ["HEAD", "/files/{+key}"],
    rpc: ["HEAD", "/files/download/{+key}"],
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found"],
  },
  download_stream: {
    rest: null,
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found"],
  },
  download_range: {
    rest: null,
    output: "bytes",
    isReading: true,
    effect: "reads",
    errors: ["core.not_found", "range_not_satisfiable", "core.concurrency"],
  },
  delete: {
    rest: ["DELETE", "/files/{+key}"],
    rpc: ["DELETE", "/files/delete/{+key}"],
    status: 204,
    output: null,
    isReading: false,
    effect: "changes",
    errors: ["core.not_found", "core.concurrency"],
  },
  presign_download: {
    rest: post("/files/presign/download"),
    body: presignDownloadBody,
    output: refTo("SignedRequest"),
    isReading: true,
    effect: "repeats",
    errors: [...direct, "core.not_found"],
  },
  presign_upload: {
    rest: post("/files/presign/upload"),
    body: presignUploadBody,
    output: refTo("SignedRequest"),
    isReading: false,
    effect: "repeats",
    errors: [...direct, "upload_type_unsupported"],
  },
  presign_post: {
    rest: post("/files/presign/post"),
    body: presignPostBody,
    output: refTo("SignedForm"),
    isReading: false,
    effect: "repeats",
    errors: [...direct, "upload_type_unsupported"],
  },
  begin_upload: {
    rest: post("/files/uploads"),
    status: 201,
    body: beginUploadBody,
    output: refTo("UploadSession"),
    leadsTo: ["presign_part", "list_parts", "complete_upload", "abort_upload"],
    isReading: false,
    effect: "changes",
    errors: [...direct, "upload_type_unsupported"],
  },
  presign_part: {
    rest: post("/files/uploads/parts/url"),
    body: presignPartBody,
    output: refTo("SignedRequest"),
    leadsTo: ["complete_upload"],
    isReading: false,
    effect: "repeats",
    errors: [...ofSession, "upload_too_large"],
  },
  list_parts: {
    rest: post("/files/uploads/parts"),
    body: sessionBody,
    output: refTo("UploadPartList"),
    leadsTo: ["presign_part", "complete_upload"],
    isReading: false,
    effect: "reads",
    errors: ofSession,
  },
  complete_upload: {
    rest: post("/files/uploads/complete"),
    body: completeBody,
    output: refTo("ObjectHead"),
    isReading: false,
    effect: "changes",
    errors: [...ofSession, "upload_parts_invalid", "upload_too_large", "core.conflict"],
  },
  abort_upload: {
    rest: post("/files/uploads/abort"),
    status: 204,
    body: sessionBody,
    output: null,
    isReading: false,
    effect: "repeats",
    errors: [...direct, "upload_session_invalid"],
  },
};

/** What each does, `*` being what the storage is called. */
const summaries: Readonly<Record<StorageVerb, string>> = {
  upload: "Upload into *",
  list: "List the objects of *",
  download: "Download from *",
  head: "Look at an object of * without its bytes",
  download_stream: "Download a whole object of *",
  download_range: "Download a range of an object of *",
  delete: "Delete an object of *",
  presign_download: "Sign an address to download from *",
  presign_upload: "Sign an address to upload into *",
  presign_post: "Sign a form to upload into *",
  begin_upload: "Begin an upload into * in parts",
  presign_part: "Sign an address for a part of an upload into *",
  list_parts: "List the parts of an upload into *",
  complete_upload: "Complete an upload into * in parts",
  abort_upload: "Give up an upload into * in parts",
};

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
  const { tree, types, report } = context;
  const at = tree.keyAt("storage", name);
  const left: readonly StorageVerb[] = [
    ...(declaration.presign === true ? [] : presignVerbs),
    ...(declaration.multipart === true ? [] : multipartVerbs),
  ];
  const verbs = storageVerbs.filter((verb) => !left.includes(verb));
  const { guard, mount } = declaration;
  for (const verb of typeof guard === "string" ? [] : Object.keys(guard)) {
    if (verb === "read" || verb === "write" || (verbs as readonly string[]).includes(verb))
      continue;
    const message = `${name} registers no operation ${verb}`;
    const suggestion = didYouMean(verb, verbs);
    report({ code: "OPW062", message, at: tree.keyAt("storage", name, "guard", verb), suggestion });
  }
  const included = mount === false ? undefined : mount?.include;
  const streams = streamingVerbs.every((verb) => included?.includes(verb) !== false);
  const model: StorageModel = {
    name,
    source: at.file,
    maxUploadBytes: sizeOf(declaration.max_upload, 64 * mebibyte),
    maxRangeBytes: sizeOf(declaration.max_range, 16 * mebibyte) ?? Number.MAX_SAFE_INTEGER,
    accept: declaration.accept ?? null,
    encryption: declaration.encryption ?? "none",
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
  const { guard } = declaration;
  const group = shape.isReading ? "read" : "write";
  const policy = typeof guard === "string" ? guard : (own(guard, verb) ?? own(guard, group) ?? "");
  // In a composite, who may read or write the documents may do so with their files.
  const resource = declaration.resource ?? model.name;
  const hooks = hookChain(
    context,
    { policy, at: tree.at("storage", model.name, "guard") },
    resource,
  );
  const spec = ofGenerated(`storage/${model.name}`, specName(model.name));
  const operation: OperationModel = {
    key,
    namespace: model.name,
    name: verb,
    family: "storage",
    source: model.source,
    summary: summaryOf(summaries[verb], model.name),
    description: declaration.description ?? null,
    input: inputOf(key, verb, shape),
    output:
      shape.output === "bytes"
        ? { schema: null, hasEntityTag: false, isBytes: true }
        : { schema: shape.output, hasEntityTag: false, isBytes: false },
    guard: policy,
    hooks,
    // An upload has as long as its bytes keep coming.
    deadlineSeconds:
      verb === "upload" && declaration.deadline === undefined
        ? null
        : deadlineOf(context, declaration.deadline),
    transaction: "read",
    idempotencyKey: false,
    isConditional: shape.output === "bytes" || verb === "delete",
    leadsTo: shape.leadsTo ?? [],
    isSensitive: declaration.sensitive ?? false,
    deprecated: null,
    requiresAuthn: requiresAuthn(hooks),
    ignoresCredentials: false,
    route: null,
    audit: null,
    run: callOf(handlerOf(verb, model), spec),
    effect: shape.effect,
    isTool: shape.output !== "bytes" && verb !== "upload",
    declares: "nothing",
    lists: null,
    queries: null,
    errors: shape.errors,
    extensions: extensionsOf(declaration),
  };
  const { rest } = shape;
  const rpc = shape.rpc ?? rest;
  return {
    operation,
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
