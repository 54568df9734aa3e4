// The error codes that each operation may answer with, and groups of codes that many operations
// share.
import { errorKinds, errors, type ErrorCode } from "../../runtime/contract/errors.js";
import { authoredIn } from "./code.js";
import { own } from "./records.js";
import type { OperationModel, RegistryModel } from "./registry.js";

const always: readonly ErrorCode[] = [
  "http_malformed",
  "deadline_malformed",
  "core.internal",
  "core.configuration",
  "core.timeout",
  "core.infrastructure",
  "core.unavailable",
  "service_draining",
  "deadline_exceeded",
];

const ofParameters: readonly ErrorCode[] = [
  "path_malformed",
  "parameter_malformed",
  "core.validation",
];

/** Codes of every operation with a JSON body. */
export const ofBody: readonly ErrorCode[] = [
  "request_timeout",
  "json_malformed",
  "json_duplicate_key",
  "json_too_deep",
  "json_too_complex",
  "number_not_exact",
  "body_too_large",
  "media_type_unsupported",
  "core.validation",
];

/** Codes of every operation that takes bytes as they are. */
const ofBytes: readonly ErrorCode[] = ["request_timeout", "body_too_large", "core.validation"];

/** Codes of every operation with a form. */
const ofForm: readonly ErrorCode[] = ["request_timeout"];

const ofIdempotency: readonly ErrorCode[] = [
  "idempotency_key_malformed",
  "idempotency_key_reused",
  "idempotency_in_flight",
];

/** Codes that handlers may throw themselves, or get from any document that they write. */
const ofHandlers: readonly ErrorCode[] = [
  "core.malformed",
  "revision_ambiguous",
  "core.domain",
  "document_deleted",
  "core.not_found",
  "core.validation",
  "core.conflict",
  "revision_mismatch",
  "reference_in_use",
  "bulk_refused",
  "unique_violation",
  "historical_consistency_violation",
  "core.concurrency",
  "core.precondition",
  "history_not_found_retry",
  "revision_required",
];

/** Codes that many operations share. Documents list each group once, under its name. */
const groups = {
  every: [...new Set([...always, ...ofParameters])],
  json_body: ofBody.filter((code) => !ofParameters.includes(code)),
  idempotency_key: ofIdempotency,
  query: [
    "query_invalid",
    "field_not_queryable",
    "query_operator_type_mismatch",
    "query_too_complex",
  ],
  revision: [
    "core.not_found",
    "precondition_failed",
    "revision_mismatch",
    "revision_ambiguous",
    "core.concurrency",
  ],
  handler: ofHandlers,
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>;

export type ErrorGroup = keyof typeof groups;

/** Every group, by its name. */
export const errorGroups: Readonly<Record<ErrorGroup, readonly ErrorCode[]>> = groups;

interface GroupedCodes {
  readonly groups: readonly ErrorGroup[];
  readonly own: readonly string[];
}

const knownGroups = new WeakMap<readonly string[], GroupedCodes>();

/** The codes of an operation: the groups that it has completely, and its codes outside of them. */
export function groupedCodesOf(operation: OperationModel): GroupedCodes {
  const codes = errorCodesOf(operation);
  const grouped = knownGroups.get(codes) ?? inGroups(codes);
  knownGroups.set(codes, grouped);
  return grouped;
}

function inGroups(codes: readonly string[]): GroupedCodes {
  const has: ReadonlySet<string> = new Set(codes);
  const whole = (Object.keys(groups) as ErrorGroup[]).filter((name) =>
    groups[name].every((code) => has.has(code)),
  );
  const named = new Set<string>(whole.flatMap((name) => groups[name]));
  return { groups: whole, own: codes.filter((code) => !named.has(code)) };
}

/** Cached lists: documents, catalog and client all need them. */
const known = new WeakMap<OperationModel, readonly string[]>();

/** Every code that an operation may answer with. */
export function errorCodesOf(operation: OperationModel): readonly string[] {
  const codes = known.get(operation) ?? inOrder(codesOf(operation));
  known.set(operation, codes);
  return codes;
}

function codesOf(operation: OperationModel): ReadonlySet<string> {
  return new Set<string>([
    ...always,
    ...ofParameters,
    ...(operation.isConditional ? ["precondition_failed"] : []),
    ...bodyCodesOf(operation.input.body),
    ...(operation.idempotencyKey ? ofIdempotency : []),
    ...(authoredIn(operation.run).length > 0 ? groups.handler : []),
    ...operation.hooks.flatMap((hook) => hook.errors),
    ...operation.errors,
  ]);
}

/** The codes of a body's form, before anything looks at what it says. */
function bodyCodesOf(body: OperationModel["input"]["body"]): readonly ErrorCode[] {
  if (body === null) return [];
  if (body.isForm) return ofForm;
  if (body.media === null) return ofBody;
  return body.media === "*/*" ? ofBytes : [...ofBytes, "media_type_unsupported"];
}

/** Lists by their codes: many operations have the same. */
const lists = new Map<string, readonly string[]>();

/**
 * Codes in the order of opwright's table, then the registry's; the same array for the same codes.
 */
function inOrder(codes: ReadonlySet<string>): readonly string[] {
  const key = [...codes].join(" ");
  const list = lists.get(key) ?? [
    ...Object.keys(errors).filter((code) => codes.has(code)),
    ...[...codes].filter((code) => !Object.hasOwn(errors, code)).sort(),
  ];
  lists.set(key, list);
  return list;
}

/** The codes that the registry declares, not opwright. */
export function ownCodesOf(operation: OperationModel): readonly string[] {
  return errorCodesOf(operation).filter((code) => !Object.hasOwn(errors, code));
}

/** The HTTP status of a code, of opwright's table or of the registry. */
export function statusOf(
  code: string,
  { errors: declared }: Pick<RegistryModel, "errors">,
): number {
  const kind = own(declared, code)?.kind;
  return kind === undefined ? errors[code as ErrorCode].status : errorKinds[kind];
}
