// oasdiff's other rules that it calls errors: the registries before and after, or why nothing in a registry leads to them.
// Facts of its list of rules (oasdiff/oasdiff, checker/rules.go); the cases are our own.

/** A registry's operations and documents before and after. */
export type Change = readonly [before: string, after: string];

const operation = (rest: string): string =>
  `operations: {shop.find: {${rest}, run: registry/code.ts#first, guard: open}}`;
const operations = (...all: readonly string[]): string =>
  `operations:\n${all.map((one, at) => `  shop.find${at}: {${one}, run: registry/code.ts#first, guard: open}`).join("\n")}`;

const early = "{since: 2025-01-01, sunset: 2099-01-01}";
const webhooks = (...events: readonly string[]): string =>
  `outbox: {events: {${events.map((name) => `${name}: {destination: shop, data: {id: uuid}}`).join(", ")}}}\nwebhooks: {guard: staff}`;

/** Changes that lead to a rule. */
export const otherRules: Readonly<Record<string, Change>> = {
  "api-path-removed-without-deprecation": [
    operations("get: /a, out: {id: uuid}", "get: /b, out: {id: uuid}"),
    operations("get: /a, out: {id: uuid}"),
  ],
  "api-removed-without-deprecation": [
    operations("get: /a, out: {id: uuid}", "delete: /a, in: {id: uuid}"),
    operations("get: /a, out: {id: uuid}"),
  ],
  "api-path-removed-before-sunset": [
    operations("get: /a, out: {id: uuid}", `get: /b, out: {id: uuid}, deprecated: ${early}`),
    operations("get: /a, out: {id: uuid}"),
  ],
  "api-removed-before-sunset": [
    operations("get: /a, out: {id: uuid}", `delete: /a, in: {id: uuid}, deprecated: ${early}`),
    operations("get: /a, out: {id: uuid}"),
  ],
  "api-security-removed": [
    `identity: {methods: [token, api_key], ingress: [{bearer: Authorization}, {api_key: X-Key}]}\n${operation("get: /a").replace("open", "staff")}`,
    `identity: {methods: [token, api_key], ingress: [{bearer: Authorization}]}\n${operation("get: /a").replace("open", "staff")}`,
  ],
  "api-security-scope-added": [
    operation("get: /a").replace("open", "staff"),
    operation("get: /a").replace("open", "boss"),
  ],
  "added-required-request-body": [operation("post: /a"), operation("post: /a, in: {name: string}")],
  "request-body-became-required": [
    operation("post: /a, in: {type: object, properties: {name: {type: string}}}"),
    operation("post: /a, in: {type: object, properties: {name: {type: string}}, required: [name]}"),
  ],
  "request-body-removed": [operation("post: /a, in: {name: string}"), operation("post: /a")],
  "new-required-request-parameter": [
    operation("get: /a, in: {name: string?}"),
    operation("get: /a, in: {name: string?, kind: string}"),
  ],
  "new-request-path-parameter": [
    operation("get: /a, in: {name: string?}"),
    operation("get: '/a/{id}', in: {name: string?, id: uuid}"),
  ],
  "request-parameter-become-required": [
    operation("get: /a, in: {name: {type: string, default: a}}"),
    operation("get: /a, in: {name: {type: string}}"),
  ],
  "new-required-request-property": [
    operation("post: /a, in: {name: string}"),
    operation("post: /a, in: {name: string, kind: string}"),
  ],
  "request-property-became-required": [
    operation("post: /a, in: {type: object, properties: {name: {type: string}}}"),
    operation("post: /a, in: {type: object, properties: {name: {type: string}}, required: [name]}"),
  ],
  "response-required-property-removed": [
    operation("get: /a, out: {name: string, kind: string}"),
    operation("get: /a, out: {name: string}"),
  ],
  "response-property-became-optional": [
    operation("get: /a, out: {type: object, properties: {name: {type: string}}, required: [name]}"),
    operation("get: /a, out: {type: object, properties: {name: {type: string}}}"),
  ],
  "response-success-status-removed": [
    operation("post: /a, in: {name: string}, out: {id: uuid}, status: 201"),
    operation("post: /a, in: {name: string}, out: {id: uuid}, status: 202"),
  ],
  "response-media-type-removed": [operation("get: /a, out: {id: uuid}"), operation("get: /a")],
  "required-response-header-removed": [
    operation("get: /a, out: {id: uuid}, reply: {headers: [X-Total]}"),
    operation("get: /a, out: {id: uuid}"),
  ],
  "webhook-removed": [webhooks("shop.sold", "shop.lost"), webhooks("shop.sold")],
};

/** Rules that nothing in a registry leads to, and why; several may have one reason. */
export const reasons: Readonly<Record<string, readonly string[]>> = {
  "A member with a default is one that callers may leave out: it is never required.": [
    "new-required-request-property-with-default",
    "request-property-became-required-with-default",
  ],
  "Dates of a deprecation are checked as the registry is read, `since` is always there, and no notice is asked for in days.":
    [
      "api-deprecated-sunset-parse",
      "api-deprecated-sunset-missing",
      "api-path-sunset-parse",
      "api-sunset-date-too-small",
      "request-parameter-sunset-parse",
      "request-parameter-deprecated-sunset-missing",
      "request-parameter-sunset-date-too-small",
      "request-property-deprecated-sunset-missing",
      "request-property-deprecated-invalid",
      "request-property-sunset-date-too-small",
      "response-property-deprecated-sunset-missing",
      "response-property-deprecated-invalid",
      "response-property-sunset-date-too-small",
    ],
  "A sunset that goes or comes earlier breaks nobody: the removal itself counts the day that the base branch says.":
    [
      "api-sunset-deleted",
      "api-sunset-date-changed-too-small",
      "request-parameter-sunset-deleted",
      "request-parameter-sunset-date-changed-too-small",
    ],
  "Parameters of an operation are deprecated with it.": ["parameter-removed-before-sunset"],
  "A registry has no levels of stability.": [
    "api-stability-decreased",
    "api-invalid-stability-level",
    "request-property-stability-decreased",
    "response-property-stability-decreased",
  ],
  "Each operation says who may call it; a document has no security of all its operations.": [
    "api-global-security-removed",
    "api-global-security-scope-added",
  ],
  "Parameters belong to an operation, not to a path.": [
    "new-required-request-default-parameter-to-existing-path",
  ],
  "Headers of a request and of an answer are texts without a schema, and may be missing.": [
    "new-required-request-header-property",
    "request-header-property-became-enum",
    "request-header-property-became-required",
    "response-header-became-optional",
    "response-header-type-changed",
    "response-header-type-generalized",
    "response-header-became-nullable",
  ],
  "Bodies are JSON with a schema, and files are forms: neither is said in a registry.": [
    "request-body-media-type-removed",
    "request-body-media-type-schema-added",
    "request-body-media-type-item-schema-added",
    "response-body-media-type-schema-removed",
    "response-body-media-type-item-schema-removed",
    "response-body-media-type-item-schema-removed-untyped",
    "response-media-type-name-generalized",
  ],
  "Parameters of a URL are scalars of one type, and have no members (OPW045).": [
    "request-parameter-max-items-decreased",
    "request-parameter-min-items-set",
    "request-parameter-min-items-increased",
    "request-parameter-property-became-not-nullable",
    "request-parameter-property-enum-value-removed",
    "request-parameter-property-list-of-types-narrowed",
    "request-parameter-property-type-specialized",
    "request-parameter-list-of-types-narrowed",
  ],
  "No document has x-extensible-enum.": [
    "request-parameter-x-extensible-enum-value-removed",
    "request-property-x-extensible-enum-value-removed",
  ],
};
