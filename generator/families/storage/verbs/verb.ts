// A verb of storages: everything that is said of it, in one value.
import type { Verb } from "../../../kernel/verb.js";
import { ofRuntime, type Code } from "../../../model/code.js";
import type { SchemaObject } from "../../../model/json-schema.js";
import { bodyInput, usualBody, type Effect, type InputModel } from "../../../model/registry.js";
import type { StorageModel } from "../model.js";
import type { StorageDeclaration } from "../format.js";
import { keyInput, keySchema, uploadForm } from "../schemas.js";

/** What the parts of a verb are made from. */
export interface StoragePlace {
  readonly model: StorageModel;
  /** The storage as generated code names it. */
  readonly spec: Code;
  readonly typeName: string;
}

export interface StorageVerb extends Verb<StoragePlace> {
  /** Whether the storage registers it. */
  readonly when: (declaration: StorageDeclaration) => boolean;
  /** The policy that guards it unless it is named: that of all that read, or write. */
  readonly group: "read" | "write";
  /**
   * The verbs by which a caller could do the same one by one (decisions.md "A twin takes the rule
   * of its original"); none for those that are nobody's twin.
   */
  readonly twinOf?: readonly StorageVerb[];
  readonly effect: Effect;
  /** Whether agents can call it; false where bytes come or go. */
  readonly isTool?: false;
  /** Set where it has no deadline unless the registry declares one. */
  readonly usualDeadline?: "none";
}

/** Makes a verb, whose name is a type. */
export function verb<Name extends string>(facts: StorageVerb & { readonly name: Name }) {
  return facts;
}

export const always = (): boolean => true;
export const withPresign = ({ presign }: StorageDeclaration): boolean => presign === true;
export const withMultipart = ({ multipart }: StorageDeclaration): boolean => multipart === true;

/** Errors of all whose bytes do not pass through the service. */
export const direct = ["encryption_forbids_direct_transfer"];

/** Errors of uploads by signed addresses. */
export const signedUpload = [...direct, "presigned_upload_unsafe"];

/** A JSON body of a schema. */
export function bodyOf(schema: SchemaObject): (place: StoragePlace) => InputModel {
  return ({ typeName }) => bodyInput(schema, typeName, "parts");
}

/** A form with a file. */
export function uploadInput({ typeName }: StoragePlace): InputModel {
  const body = {
    as: "input",
    ...usualBody,
    isForm: true,
    schema: uploadForm,
    typeName,
  } as const;
  const read = ofRuntime("storageInput.upload");
  return { schema: uploadForm, typeName, parameters: [], body, read };
}

/** The key of an object in the path; `reader` is its reader in the runtime. */
export function keyInputOf(reader: string): (place: StoragePlace) => InputModel {
  const parameter = {
    name: "key",
    in: "path",
    type: "string",
    required: true,
    schema: keySchema,
  } as const;
  return ({ typeName }) => ({
    schema: keyInput,
    typeName,
    parameters: [parameter],
    body: null,
    read: ofRuntime(`storageInput.${reader}`),
  });
}
