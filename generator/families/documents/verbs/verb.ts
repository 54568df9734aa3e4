// A verb of documents: everything that is said of it, in one value (docs/design/architecture.md "A
// verb is one value").
import type { Verb, VerbRoute } from "../../../kernel/verb.js";
import { objectSchema, revisionSchema } from "../../../model/json-schema.js";
import type { Code } from "../../../model/code.js";
import type { DocumentModel } from "../../../model/document-model.js";
import type { InputModel, ParameterModel } from "../../../model/registry.js";
import type { DocumentDeclaration } from "../format.js";

/** The effect of a verb on the documents that it is about. A verb without one reads. */
export type Deed = "creates" | "updates" | "deletes" | "restores" | "removes";

/** The sources for the parts of a verb. */
export interface DocumentPlace {
  readonly model: DocumentModel;
  /** The document as generated code names it. */
  readonly spec: Code;
  readonly typeName: string;
  /** The hooks of the verbs that this one is a twin of, which run for each document. */
  readonly twins: readonly Code[];
}

/** The facts of a document that decide whether it registers a verb. */
export interface Condition {
  /** As the registry writes it; null where every document does. */
  readonly says: string | null;
  readonly holds: (model: DocumentModel, declaration: DocumentDeclaration) => boolean;
}

interface VerbFacts extends Verb<DocumentPlace> {
  readonly rest: VerbRoute;
  /**
   * About one document; about the documents that its items name, each with an outcome of its own;
   * or about those that a filter finds, whose number nobody knows before.
   */
  readonly about: "one" | "items" | "found";
  /**
   * Whether the document registers it. Verbs that write aren't registered for documents that are
   * read only, whatever this says.
   */
  readonly when: Condition;
  /** Whether views have it. */
  readonly ofViews?: boolean;
}

/** A verb that names its effect itself. */
interface OriginalVerb extends VerbFacts {
  readonly does: readonly Deed[];
  readonly twinOf?: never;
}

/**
 * A verb that does what others do about one document: nobody does by it what these refuse
 * (decisions.md "A twin takes the rule of its original").
 */
interface TwinVerb extends VerbFacts {
  readonly twinOf: (model: Pick<DocumentModel, "softDelete">) => readonly DocumentVerb[];
  readonly does?: never;
}

export type DocumentVerb = OriginalVerb | TwinVerb;

/** Makes a verb, whose name is a type. */
export function verb<Name extends string>(facts: DocumentVerb & { readonly name: Name }) {
  return facts;
}

export const always: Condition = { says: null, holds: () => true };
export const withSoftDelete: Condition = {
  says: "soft_delete: true",
  holds: ({ softDelete }) => softDelete,
};
export const withReadableDeleted: Condition = {
  says: "soft_delete: {read: …}",
  holds: ({ readsDeleted }) => readsDeleted !== null,
};
export const withRevisions: Condition = {
  says: "history: {revisions: true}",
  holds: ({ revisions }) => revisions,
};
export const withBulk: Condition = { says: "bulk: {max: …}", holds: ({ bulk }) => bulk !== null };

/** An input of parameters without a body. */
export function parametersInput(
  typeName: string,
  parameters: readonly ParameterModel[],
): InputModel {
  const schemas = parameters.map(({ name, schema }) => [name, schema] as const);
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  return {
    schema: objectSchema(Object.fromEntries(schemas), required),
    typeName,
    parameters,
    body: null,
    read: "parts",
  };
}

/** The expected revision. */
export function revisionParameter(required: boolean): ParameterModel {
  return { name: "rev", in: "revision", type: "integer", required, schema: revisionSchema };
}

/** Errors of writes to a version that the caller names. */
export const revisionErrors = [
  "core.not_found",
  "revision_mismatch",
  "revision_ambiguous",
  "core.concurrency",
];
