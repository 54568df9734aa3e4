// Documents for author handlers: typed, inside the running transaction and the scope of the invocation.
import { fail, type ServiceError } from "../../contract/errors.js";
import { serviceFields } from "../../contract/fields.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import type { ValidationFault, Validator } from "../../contract/validation.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ExpectedRevision } from "../../operations/input.js";
import { cut } from "../../operations/plain-json.js";
import { everything } from "../../query/ast.js";
import { readListQuery } from "../../query/list-request.js";
import type { StoredDocument } from "../../ports/documents.js";
import { renderDocument } from "./render.js";
import { readDocument, scoped } from "./scoped.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import { createDocument, patchDocument } from "./write.js";
import { documentStore } from "../../ports/documents.js";

/** What `find` takes: filters and sorts as the types `<Name>Filter` and `<Name>Sorts` of the generated code have them. */
export interface FindQuery {
  readonly filters?: object;
  readonly sorts?: object;
  /** Documents at most. */
  readonly size?: number;
}

/** Typed access to documents for author handlers, inside the running transaction. */
export interface Collection<Document, Create, Patch> {
  /** The live document. Throws `core.not_found`. */
  get(id: string): Promise<Document>;
  /**
   * The live documents that a filter finds, in order of the sorts, as the query language has both. Without a size they
   * are as many as the deployment's read limit: where there are more, throws `query_too_complex`.
   */
  find(query?: FindQuery): Promise<readonly Document[]>;
  /**
   * Creates what callers could create: the payload is held to the document's own validator. Throws `core.validation`, also
   * for what only the service sets (`id`, `rev`, dates, owner).
   */
  create(payload: Create): Promise<Document>;
  /** How many live documents there are. */
  count(): Promise<number>;
  /** Patches at a revision with what callers could patch with, as `create` does; see `documents.update` for the errors. */
  update(id: string, rev: ExpectedRevision, patch: Patch): Promise<Document>;
}

/** The documents of a spec as this invocation may see them. */
export function collection<Document, Create, Patch>(
  spec: DocumentSpec<Document, Create, Patch>,
  context: ExecutionContext,
): Collection<Document, Create, Patch> {
  return {
    async get(id) {
      return renderDocument<Document>(spec, await readDocument(spec, context, id)).parse();
    },
    async find(query = {}) {
      const rows = await findRows(spec, context, query);
      return rows.map((row) => renderDocument<Document>(spec, row).parse());
    },
    count: () =>
      context.transaction
        .of(documentStore)
        .count(
          spec,
          context.tenant,
          scoped(spec, context, { filter: everything, sorts: [], withDeleted: false }),
        ),
    async create(payload) {
      const given = checkedPayload(payload, spec.validateCreate);
      const stored = await createDocument(spec, context, given);
      return renderDocument<Document>(spec, stored).parse();
    },
    async update(id, rev, patch) {
      const change = checkedPayload(patch, spec.validatePatch);
      const { stored } = await patchDocument(spec, context, id, rev, change);
      return renderDocument<Document>(spec, stored).parse();
    },
  };
}

/**
 * What a handler passes on, as JSON has it: held to what callers may send, and without what only the service sets. Throws
 * `core.validation` with the pointers.
 */
function checkedPayload(
  payload: unknown,
  validate: Validator<unknown> | undefined,
): Readonly<Record<string, unknown>> {
  // Checked is what is stored: a copy, without what is undefined.
  const given = cut.plain(payload);
  if (!isObject(given)) throw invalid([{ path: "", keyword: "type", message: "must be object" }]);
  const taken = serviceFields.filter((name) => Object.hasOwn(given, name));
  if (taken.length > 0)
    throw invalid(
      taken.map((name) => ({
        path: pointer("", name),
        keyword: "readOnly",
        message: "is set by the service",
      })),
    );
  const faults = validate?.(given) ?? null;
  if (faults !== null) throw invalid(faults);
  return given;
}

function invalid(faults: readonly ValidationFault[]): ServiceError {
  return fail("core.validation", { errors: faults });
}

async function findRows(
  spec: DocumentSpec<unknown>,
  context: ExecutionContext,
  { filters, sorts, size }: FindQuery,
): Promise<readonly StoredDocument[]> {
  const rules = { fields: spec.scopeFields, mayListDeleted: false, isRaw: false };
  const query = scoped(spec, context, readListQuery({ filters, sorts }, rules));
  const most = context.resources.readLimits.documents ?? Number.MAX_SAFE_INTEGER - 1;
  // One more tells that there are more than may be read.
  const window = { limit: size ?? most + 1, offset: 0, after: undefined };
  const rows = await context.transaction
    .of(documentStore)
    .select(spec, context.tenant, query, window);
  if (size === undefined && rows.length > most) throw fail("query_too_complex", { limit: most });
  return rows;
}
