// What the console works with: the operations of the service, called as its client calls them, and
// what the user would be refused.
import { call, createClient } from "../../client/core.js";
import type { Operation as ClientOperation } from "../../client/options.js";
import type { Catalog } from "../openapi/catalog.js";
import { clientOperationOf } from "../openapi/client-operation.js";
import type { OpenApi, Schema } from "../openapi/document.js";
import { resolveReference } from "../openapi/document.js";
import { operationsOf, type Operation } from "../openapi/operations.js";
import { mediaTypeOf } from "../openapi/first-call.js";
import { config } from "../shell/config.js";
import { credentials } from "../shell/tokens.js";

export type Json = Readonly<Record<string, unknown>>;

/** What the console asks for beside the service's operations (runtime/server/console-routes.ts). */
const ownOperations = {
  "console.access": { method: "GET", path: "/console/access" },
  "console.state": { method: "GET", path: "/console/state" },
  "console.log": { method: "GET", path: "/console/log", query: ["after"] },
  "console.mails": { method: "GET", path: "/console/mails" },
  "console.run": { method: "POST", path: "/console/commands", body: "input" },
} as const satisfies Record<string, ClientOperation>;

export type OwnOperation = keyof typeof ownOperations;

/** Operations that the caller would be refused, with the codes. */
export interface Access {
  readonly refused: Readonly<Record<string, string>>;
  /** The console's own operations that the service has. */
  readonly own: readonly string[];
}

/** Asks what the caller may do. */
export function readAccess(): Promise<Access> {
  return send<Access>(ownOperations["console.access"], {});
}

export interface Api {
  readonly openapi: OpenApi;
  readonly catalog: Catalog;
  /** The operation of a key; undefined if there is none with a route. */
  operation(key: string): Operation | undefined;
  /** Whether there is such an operation, and its guards would let the caller pass. */
  can(key: string): boolean;
  /** Calls an operation. Rejects with the client's `ApiError`. */
  call<Result = Json>(key: string, input?: Json): Promise<Result>;
}

export function apiOf(openapi: OpenApi, catalog: Catalog, { refused, own }: Access): Api {
  const operations = operationsOf(openapi);
  return {
    openapi,
    catalog,
    operation: (key) => operations.get(key),
    can: (key) => (operations.has(key) || own.includes(key)) && !Object.hasOwn(refused, key),
    call<Result>(key: string, input: Json = {}) {
      const operation = operations.get(key);
      const sent =
        operation === undefined
          ? ownOperations[key as OwnOperation]
          : clientOperationOf(operation, catalog);
      return send<Result>(sent, input);
    },
  };
}

function send<Result>(operation: ClientOperation, input: Json): Promise<Result> {
  const client = createClient({
    baseUrl: location.origin,
    headers: credentials(),
    tokenHeader: config.tokenHeader,
    tokenScheme: config.tokenScheme,
  });
  return call<Result, string>(client, operation, input);
}

/** The schema of an operation's body; one without members if it takes none. */
export function bodySchema({ openapi }: Api, operation: Operation): Schema {
  const media = operation.body?.content?.[mediaTypeOf(operation) ?? ""];
  return resolveReference<Schema>(openapi, media?.schema ?? {});
}

/** The schema of what an operation answers. */
export function answerSchema({ openapi }: Api, operation: Operation): Schema {
  const good = operation.responses.find(({ status }) => status.startsWith("2"));
  const media = Object.values(good?.response.content ?? {})[0];
  return resolveReference<Schema>(openapi, media?.schema ?? {});
}

/** A member of a schema, resolved; one that takes anything if there is none. */
export function memberSchema(openapi: OpenApi, schema: Schema, ...path: readonly string[]): Schema {
  let inner = schema;
  for (const name of path) {
    const next = name === "[]" ? inner.items : inner.properties?.[name];
    inner = typeof next === "object" ? resolveReference<Schema>(openapi, next) : {};
  }
  return inner;
}
