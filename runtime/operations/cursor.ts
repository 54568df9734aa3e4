// Cursors: a position in one query, signed and bound to it (decisions.md "Query language").
import { createHash } from "node:crypto";
import { fail } from "../contract/errors.js";
import { canonicalJson } from "../contract/canonical-json.js";
import { isObject } from "../contract/json-pointer.js";
import type { FieldReference } from "../query/fields.js";
import type { ExecutionContext } from "./context.js";
import type { Position } from "../query/ast.js";

const version = 1;
/** How long a cursor may be, in characters, which bounds the sort values that it carries. */
const maxLength = 256 * 1024;

/**
 * Everything a cursor belongs to: operation, tenant, caller, and the query but for its size and
 * what comes along with a hit. A cursor of another binding is refused. Versions run side by side
 * and follow each other, and cursors go on: so fields count by name and type, and a new member of
 * queries stays out where nobody asks for it.
 */
export function cursorBinding(context: ExecutionContext, query: object): string {
  const { operationId, tenant, identity } = context;
  const {
    size: _size,
    cursor: _cursor,
    expand: _expand,
    ...asked
  } = query as { readonly size?: unknown; readonly cursor?: unknown; readonly expand?: unknown };
  const caller = identity?.principalId ?? null;
  const text = canonicalJson([version, operationId, tenant, caller, asAsked(asked)]);
  return createHash("sha256").update(text).digest("base64url");
}

/**
 * A query without what only a version knows of its fields: where rows have them, and which values
 * they may have.
 */
function asAsked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asAsked);
  if (!isObject(value)) return value;
  if (isField(value)) {
    const { stored: _stored, values: _values, ...known } = value;
    return known;
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asAsked(part)]));
}

/** Nothing else in a query can be a column. */
function isField(value: object): value is FieldReference {
  return "isColumn" in value;
}

/** The text of a cursor: `<position>.<signature>`, both base64url without padding. */
export function encodeCursor(
  context: ExecutionContext,
  binding: string,
  position: Position,
): string {
  const payload = Buffer.from(JSON.stringify(position)).toString("base64url");
  if (payload.length > maxLength - 64) throw fail("query_too_complex", { path: "/sorts" });
  return `${payload}.${context.resources.signer.sign("cursor", `${binding}.${payload}`).toString("base64url")}`;
}

/** The position of a cursor. Any fault is the same `invalid_cursor`. */
export function decodeCursor(context: ExecutionContext, binding: string, text: string): Position {
  const [payload, signature, ...rest] = text.length > maxLength ? [] : text.split(".");
  if (payload === undefined || signature === undefined || rest.length > 0)
    throw fail("invalid_cursor");
  const mac = Buffer.from(signature, "base64url");
  // A second spelling of the same bytes is refused as well.
  if (mac.toString("base64url") !== signature) throw fail("invalid_cursor");
  if (!context.resources.signer.verify("cursor", `${binding}.${payload}`, mac))
    throw fail("invalid_cursor");
  // The signature proves that this text was printed by encodeCursor for this very query.
  return JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Position;
}
