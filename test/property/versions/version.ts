// A version of a service: generated from its registry over an earlier one, with its documents and the verdict of `diff`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import { databasePath } from "../../../generator/database/schema.js";
import { rolloutOf, type Rollout } from "../../../generator/diff/rollout.js";
import type { RolloutSide } from "../../../generator/compare/rollout.js";
import { modelParts } from "../../../generator/families/index.js";
import { thawRegistry } from "../../../generator/model/frozen.js";
import type { DatabaseSchema } from "../../../generator/model/stored-tables.js";
import { formats } from "../../../runtime/contract/validation.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { OpenApiDocument } from "../document/open-api.js";
import { SchemaValues } from "../document/schema-values.js";
import { codeOf, type Json } from "./base.js";

export interface Version extends RolloutSide {
  readonly registry: Json;
  readonly project: TestProject;
  readonly openapi: OpenApiDocument;
  readonly values: SchemaValues;
  /** Why a value is none of a type of the registry; undefined where it is one. */
  faultOf(type: string, value: unknown): string | undefined;
  /** Why a value is none of what the AsyncAPI document says of an event's frame; undefined where it is one. */
  frameFault(event: string, value: unknown): string | undefined;
}

/** Generates a version on top of an earlier one. Fails where the registry has findings. */
export async function versionOf(registry: Json, earlier?: Version): Promise<Version> {
  const files = {
    "registry/service.yaml": stringify(registry),
    "registry/handlers.ts": codeOf(registry),
  };
  const project = await testProject(files, earlier?.project);
  const read = (path: string): unknown =>
    JSON.parse(readFileSync(join(project.root, "generated", path), "utf8"));
  const model = thawRegistry(read("registry.json") as object, modelParts);
  const openapi = new OpenApiDocument(project.openapi);
  const frames = model.realtime === null ? {} : (read("asyncapi.json") as object);
  const faults = faultsOf({ types: model.types, frames });
  return {
    registry,
    project,
    model,
    database: read(databasePath) as DatabaseSchema,
    openapi,
    values: new SchemaValues(openapi),
    faultOf: (type, value) => faults(`#/types/${type}`, value),
    frameFault: (event, value) => {
      const payload = payloadOf(frames, event);
      return payload === undefined
        ? `${event} is in no message of asyncapi.json`
        : faults(`#/frames${payload}`, value);
    },
  };
}

/** What rolling one version out over another takes. */
export function rolloutBetween(before: Version, after: Version): Rollout {
  return rolloutOf(before, after);
}

interface Messages {
  readonly components?: {
    readonly messages?: Readonly<Record<string, { readonly payload?: { readonly $ref: string } }>>;
  };
}

/** Where the payload of an event's message is, below the document. */
function payloadOf(frames: object, event: string): string | undefined {
  const message = (frames as Messages).components?.messages?.[event];
  return message?.payload?.$ref.slice(1);
}

/** Checks by places of schemas, which refer to each other by places in their own document. */
function faultsOf(documents: { readonly types: object; readonly frames: object }) {
  const ajv = new Ajv2020({ strict: false, formats: { ...formats, binary: true } });
  const root = {
    types: documents.types,
    frames: moved(documents.frames),
  };
  ajv.addSchema(root, "version");
  return (place: string, value: unknown): string | undefined => {
    const check = ajv.getSchema(`version${place}`) ?? ajv.compile({ $ref: `version${place}` });
    return check(value) === true ? undefined : ajv.errorsText(check.errors);
  };
}

/** A document whose references are those of a document that has it below `frames`. */
function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === "$ref" && typeof one === "string" ? one.replace(/^#\//, "#/frames/") : moved(one),
    ]),
  );
}
