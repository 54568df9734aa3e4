// The storage family: a declaration becomes a storage model and its operations (service.md "Storage
// routes").
import type { StorageDeclaration } from "./format.js";
import { byteCount } from "../../load/quantities.js";
import { pascalCase, specName } from "../../model/names.js";
import type { StorageModel } from "./model.js";
import { ofGenerated } from "../../model/code.js";
import { nounOf } from "../../model/nouns.js";
import { storageVerbs, streamingVerbs } from "./verbs/index.js";
import type { StorageVerb } from "./verbs/verb.js";
import {
  deadlineOf,
  extensionsOf,
  type FamilyContext,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { checkGuardNames } from "../../kernel/guard-by-operation.js";
import { guardText, hookChain } from "../../kernel/guards.js";
import { checkHookNames, namedHooks, type HookedDeclaration } from "../../kernel/named-hooks.js";
import { operationOfVerb } from "../../kernel/verb.js";
import { guardsOf } from "./guard.js";
import { directTypes, storageTypes } from "./schemas.js";

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
  const verbs = storageVerbs.filter(({ when }) => when(declaration));
  const { guard, mount } = declaration;
  const placed = { tree, path: ["storage", name, "guard"], guard } as const;
  const names = verbs.map(({ name: verb }) => verb);
  checkGuardNames(context, name, placed, { names, groups: ["read", "write"] });
  checkHookNames(context, hookedOf(name, declaration), names);
  const included = mount === false ? undefined : mount?.include;
  const streams = streamingVerbs.every((verb) => included?.includes(verb.name) !== false);
  const model: StorageModel = {
    name,
    was: declaration.was ?? declaration.former ?? null,
    source: at.file,
    maxUploadBytes: sizeOf(declaration.max_upload, 64 * mebibyte),
    maxRangeBytes: sizeOf(declaration.max_range, 16 * mebibyte) ?? Number.MAX_SAFE_INTEGER,
    accept: declaration.accept ?? null,
    // Without accept, there is nothing that bytes would have to fit.
    detect: declaration.accept === undefined ? "name" : (declaration.detect ?? "bytes"),
    scan: declaration.scan ?? null,
    countUpTo: declaration.count?.up_to ?? null,
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

function hookedOf(name: string, { hooks }: StorageDeclaration): HookedDeclaration {
  return { path: ["storage", name], hooks };
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
  const guards = guardsOf(tree, model.name, declaration, verb);
  // In a composite, who may read or write the documents may do so with their files.
  const resource = declaration.resource ?? model.name;
  const spec = ofGenerated(`storage/${model.name}`, specName(model.name));
  const hooked = hookedOf(model.name, declaration);
  const hasNoDeadline = verb.usualDeadline === "none" && declaration.deadline === undefined;
  return operationOfVerb(
    verb,
    {
      namespace: model.name,
      family: "storage",
      source: model.source,
      guard: guardText(guards),
      hooks: hookChain(context, guards, resource, namedHooks(context, hooked, verb.name)),
      at: tree.keyAt("storage", model.name),
      noun: nounOf(model.name),
    },
    { model, spec, typeName: `${pascalCase(`${model.name}.${verb.name}`)}Input` },
    {
      description: declaration.description ?? null,
      deadlineSeconds: hasNoDeadline ? null : deadlineOf(context, declaration.deadline),
      transaction: "read",
      isSensitive: declaration.sensitive ?? false,
      effect: verb.effect,
      isTool: verb.isTool ?? true,
      errors: [],
      extensions: extensionsOf(declaration),
    },
  );
}
