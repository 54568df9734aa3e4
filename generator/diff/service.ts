// What stands beside operations: how callers identify themselves, what documents, searches and storages do.
import { isDeepStrictEqual } from "node:util";
import { own } from "../model/records.js";
import type {
  DocumentModel,
  EmissionModel,
  IdentityModel,
  RegistryModel,
  SearchModel,
  ServiceModel,
  StorageModel,
} from "../model/registry.js";
import type { ChangeArea, Note, Subject } from "./change.js";
import {
  amount,
  authored,
  choices,
  compareMembers,
  ordered,
  tellOf,
  value,
  type Rules,
  type Tell,
} from "./rules.js";

const service: Rules<ServiceModel> = {
  name: value("breaking", (name) => `is named ${name}, and its client's package with it`),
  title: value("documentation", () => "has another title"),
  version: null,
  description: value("documentation", () => "is described otherwise"),
  // What follows from it is told of each operation.
  style: null,
  transaction: null,
  // Each operation tells of its own.
  deadlineSeconds: null,
  app: null,
  extensions: value("documentation", () => "has other extensions"),
};

const identity: Rules<IdentityModel> = {
  route: null,
  ingress: ordered((way) => `takes a ${way.kind} in ${"cookie" in way ? way.cookie : way.header}`),
  algorithm: value("breaking", (algorithm) => `signs with ${algorithm}`),
  accessTtlSeconds: amount((text) => `access tokens last ${text}`, " s"),
  refreshTtlSeconds: amount((text) => `refresh tokens last ${text}`, " s"),
  refreshGraceSeconds: amount((text) => `a refresh token may be used again for ${text}`, " s"),
  resetTtlSeconds: amount((text) => `reset tokens last ${text}`, " s"),
  jwks: (before, after) => {
    if (after === null) return [["breaking", "has no key set"]];
    if (before === null) return [["additive", `has its key set at ${after.path}`]];
    return before.path === after.path
      ? [["documentation", `lets its key set be kept for ${after.maxAgeSeconds} s`]]
      : [["breaking", `has its key set at ${after.path}`]];
  },
  tenantHints: (before, after) => {
    const hints = ({ header, host }: IdentityModel["tenantHints"]): readonly string[] => [
      ...(header ? ["a header"] : []),
      ...(host === null ? [] : [host]),
    ];
    return choices<string>(
      (hint) => `takes a tenant from ${hint}`,
      (hint) => `takes no tenant from ${hint}`,
    )(hints(before), hints(after));
  },
  trustForwardedHost: null,
  signer: null,
  verifier: authored("verifies tokens otherwise"),
  resolver: authored("resolves callers otherwise"),
  undocumented: null,
  override: choices(
    (permission) => `lets ${permission} do everything`,
    (permission) => `no longer lets ${permission} do everything`,
  ),
  decide: authored("decides permissions otherwise"),
};

const document: Rules<DocumentModel> = {
  name: null,
  source: null,
  description: value("documentation", () => "is described otherwise"),
  table: null,
  // Types are compared where they stand.
  typeName: null,
  createTypeName: null,
  patchTypeName: null,
  tenant: (_before, after) => [["breaking", after ? "is of a tenant" : "is of all tenants"]],
  sensitive: null,
  softDelete: null,
  listDeleted: (_before, after) => [
    ["breaking", after ? "lists what is deleted" : "does not list what is deleted"],
  ],
  history: amount((text) => `keeps ${text} revisions, with which edits are merged`, ""),
  defaults: (before, after) =>
    Object.keys({ ...before, ...after })
      .filter((field) => !isDeepStrictEqual(before[field], after[field]))
      .map((field) => {
        const begins = after[field] === undefined ? "nothing" : JSON.stringify(after[field]);
        return ["documentation", `begins with ${begins} in ${field}`] as const;
      }),
  nullable: null,
  canonical: null,
  fields: null,
  elements: null,
  indexes: null,
  emits: choices(
    (emission) => `sends ${emissionText(emission)}`,
    (emission) => `no longer sends ${emissionText(emission)}`,
  ),
  checksBody: null,
  bodySchema: null,
};

const search: Rules<SearchModel> = {
  name: null,
  source: null,
  document: value("breaking", (name) => `searches ${name}`),
  text: value("documentation", () => "ranks otherwise"),
  // They stand in the schemas of its operations.
  facets: null,
};

const storage: Rules<StorageModel> = {
  name: null,
  source: null,
  maxUploadBytes: amount((text) => `takes files of ${text}`, " bytes"),
  maxRangeBytes: amount((text) => `answers ranges of ${text}`, " bytes"),
  accept: (before, after) => {
    const takes = (one: string): boolean =>
      after === null || after.some((range) => range === one || isWithin(one, range));
    const isWider = after === null || (before !== null && before.every(takes));
    const types = after === null ? "any type" : after.join(", ");
    return [[isWider ? "additive" : "breaking", `takes ${types}`]];
  },
  encryption: value("breaking", (encryption) => `has encryption ${encryption}`),
  isStreamed: null,
};

/** Whether a media type is one of a range such as `image/*` (RFC 9110 §12.5.1). */
function isWithin(type: string, range: string): boolean {
  return range === "*/*" || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}

function emissionText({ on, event, ifChanged }: EmissionModel): string {
  const when = ifChanged === null ? "" : ` where ${ifChanged.join(" or ")} changes`;
  return `${event} on ${on}${when}`;
}

export function compareService(before: RegistryModel, after: RegistryModel, note: Note): void {
  const noteOf = (subject: Subject, area: ChangeArea): Tell => tellOf(note, subject, area);
  compareMembers(
    before.service,
    after.service,
    service,
    noteOf({ kind: "service", name: "service" }, "http"),
  );
  if (before.identity !== null && after.identity !== null)
    compareMembers(
      before.identity,
      after.identity,
      identity,
      noteOf({ kind: "service", name: "identity" }, "permission"),
    );
  compareAll(before.documents, after.documents, document, (name) =>
    noteOf({ kind: "document", name }, "http"),
  );
  compareAll(before.searches, after.searches, search, (name) =>
    noteOf({ kind: "document", name }, "http"),
  );
  compareAll(before.storages, after.storages, storage, (name) =>
    noteOf({ kind: "storage", name }, "storage"),
  );
}

/** Compares what both have; that the operations of what is gone are gone is told of each. */
function compareAll<Model>(
  before: Readonly<Record<string, Model>>,
  after: Readonly<Record<string, Model>>,
  rules: Rules<Model>,
  noteOf: (name: string) => Tell,
): void {
  for (const [name, old] of Object.entries(before)) {
    const next = own(after, name);
    if (next !== undefined) compareMembers(old, next, rules, noteOf(name));
  }
}
