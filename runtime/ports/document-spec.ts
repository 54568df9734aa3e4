// The document spec: everything that the runtime knows about a document type, printed by the
// generator.
import type { Canonical } from "../contract/canonical-values.js";
import {
  baseFields,
  ofMembers,
  type Decimals,
  type Elements,
  type Enums,
  type Fields,
} from "../contract/fields.js";
import type { StemmedLanguage } from "../contract/search-languages.js";
import type { Converters, Shape } from "../contract/shapes.js";
import type { Validator } from "../contract/validation.js";
import type { Filter } from "../query/ast.js";
import type { OverlapRule, SomeValues } from "./overlap-rules.js";
import type { NumberRule } from "./number-rules.js";
import type { SetRule } from "./set-rules.js";
import type { StateRules } from "./state-rules.js";
import { FieldSet, type FieldReference, type Relation, type Relations } from "../query/fields.js";

/** A job that runs for a document at the time of one of its fields, or before or behind it. */
export interface Reminder {
  readonly job: string;
  readonly field: string;
  readonly offsetMillis: number;
  /** Only for documents whose fields have one of these values; null is absent as well. */
  readonly where?: SomeValues;
}

/**
 * A signal that is sent when a document changes; it carries the document as it is after the change.
 */
export type Emission = {
  readonly on: "create" | "update" | "delete" | "restore" | "kill";
  readonly event: string;
  readonly delivery: "durable" | "ephemeral";
  /** The name under which mailboxes keep it, where that is another. */
  readonly storedAs?: string;
  /** The fields that members of the payload have; absent if it is the document. */
  readonly data?: Readonly<Record<string, string>>;
  /** Only sent if a patch changed one of these fields. */
  readonly ifChanged?: readonly string[];
} &
  /** The field with the id of the principal that receives it; if it is null, nobody does. */
  (
    | { readonly principal: string }
    /** The topic that receives it, with fields in braces; if one of them is null, nobody does. */
    | { readonly topic: string }
  );

/** A document type that refers to another one in a member. */
export interface Referrer {
  readonly by: () => DocumentSpec;
  readonly member: string;
  readonly onDelete: "restrict" | "cascade" | "set_null" | "remove";
}

/**
 * A step of the guard of `get`, which decides whether a caller may read documents of the type
 * through other documents. The type of its context belongs to the families, so here it is `never`.
 */
export interface Reading {
  /** What it asks of the caller; see `PhaseHook`. */
  readonly asks?: string;
  run(input: unknown, context: never): unknown;
  /** Of a scope: the filter that visible documents pass. */
  visible?(context: never): Promise<Filter>;
}

/** Members that only some may see, and who. */
export interface VisibleRule {
  readonly members: readonly string[];
  /**
   * The steps of each policy of which one has to let the caller pass; of one with a scope, the
   * documents within it.
   */
  readonly by: () => readonly (readonly Reading[])[];
}

/** The scopes of documents by what is done with them; what is left out has none. */
export type Scopes = {
  readonly [
    Access in "get" | "create" | "update" | "delete" | "restore" | "kill"
  ]?: () => readonly Reading[];
};

/** A view by its name, and the members of documents that it shows. */
export interface View {
  readonly name: string;
  readonly members: readonly string[];
  /** The documents themselves, whose scopes hold for the view. */
  readonly of: AnyDocumentSpec;
}

/** A document type without its TypeScript types, as generated code declares it. */
export interface AnyDocumentSpec {
  /** The document's name, which is the namespace of its operations. */
  readonly name: string;
  readonly table: string;
  /** The view that the spec describes; absent for the documents themselves. */
  readonly view?: View;
  /** Whether rows belong to a tenant. */
  readonly tenant: boolean;
  readonly softDelete: boolean;
  /**
   * Whether rows may be marked as deleted although documents can't be any more: an earlier version
   * could, and may have done so beside this one.
   */
  readonly hidesDeleted?: true;
  /** Whether lists may ask for deleted rows as well. */
  readonly listDeleted: boolean;
  /** The member by whose value callers may name a document in place of its id. */
  readonly key?: string;
  /** Whether payloads of create may choose the id. */
  readonly takesIds?: true;
  /** How far numbered lists count; absent if they count all. */
  readonly countUpTo?: number;
  /** Whether a replica of the database may answer callers' lists. */
  readonly takesReplica?: true;
  /**
   * How many snapshots of each document are kept for three-way merges; 0 keeps none, null keeps
   * all.
   */
  readonly history: number | null;
  /** Members that no patch may contain; restoring an earlier revision leaves them as they are. */
  readonly unpatchable?: readonly string[];
  /** Seconds after which deleted documents are removed for good; absent if they stay. */
  readonly deletedForSeconds?: number;
  /**
   * Values of members that a create payload leaves out; null for nullable members without another
   * default.
   */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Dotted paths of members that may be null; `*` stands for the members of a map. */
  readonly nullable: readonly string[];
  /** Paths (`due`, `items[].at`) whose values are stored in one canonical form. */
  readonly canonical: Readonly<Record<string, Canonical>>;
  readonly fields: Fields;
  /** Members that the service sets; payloads can't contain them. */
  readonly set?: readonly SetRule[];
  /** Members that get running numbers when a document is created; payloads can't contain them. */
  readonly numbers?: readonly NumberRule[];
  /** Members that payloads of handlers may contain, but payloads of callers may not. */
  readonly handled?: readonly string[];
  /** Which form of answers this is, if the type has been told otherwise before: from 2 on. */
  readonly form?: number;
  /** The shape of stored bodies, and how older shapes become the present one. */
  readonly shape: Shape;
  /** Functions that compute members of older rows from the members that they had. */
  readonly converters?: Converters;
  /** The fields of each index, in order. */
  readonly indexes?: readonly (readonly string[])[];
  /** Members whose values no two documents may share, each with the index that enforces it. */
  readonly unique?: readonly {
    readonly index: string;
    readonly members: readonly string[];
    /** Members whose values decide whether it is about a document; absent if it is about all. */
    readonly where?: readonly string[];
  }[];
  /** Fields that tell of who owns the document, with what they become once that one is erased. */
  readonly personal?: Readonly<Record<string, unknown>>;
  /** Which values of a field may follow each other; absent if all may. */
  readonly states?: StateRules;
  /** Members that only some of those who read the documents may see. */
  readonly visible?: readonly VisibleRule[];
  /** Whether handlers write them beyond scopes and whoever may make a move; see `unscoped`. */
  readonly isUnscoped?: true;
  /** Whether it is handlers who write: they may write what the caller may not see. */
  readonly isOfHandlers?: true;
  /** Ranges of which no two overlap. */
  readonly noOverlap?: readonly OverlapRule[];
  /** Members that refer to other documents, and to which type. */
  readonly references?: Readonly<Record<string, () => DocumentSpec>>;
  /**
   * Types that refer to this one, and what becomes of their documents when one of this type is
   * deleted.
   */
  readonly referredBy?: readonly Referrer[];
  /** Whether deletions note what they do to others, so that a restore undoes it. */
  readonly undoes?: true;
  /** The guard for reading these documents through others; absent if nobody may. */
  readonly reading?: () => readonly Reading[];
  /**
   * The scopes of its guards, by verb: whoever reads or writes the documents for a caller keeps to
   * them.
   */
  readonly scopes?: Scopes;
  /** Fields of the objects in arrays, for quantifiers. */
  readonly elements?: Elements;
  /** The allowed values of fields that are enumerations. */
  readonly enums?: Enums;
  /** The places of fields that are decimals. */
  readonly decimals?: Decimals;
  /** Search indexes that are written together with the documents. */
  readonly searches?: readonly SearchIndex[];
  readonly emits?: readonly Emission[];
  readonly reminders?: readonly Reminder[];
  /**
   * Check the payloads of create and patch, of callers and of handlers; absent if only handlers
   * write.
   */
  readonly validateCreate?: Validator<unknown>;
  readonly validatePatch?: Validator<unknown>;
  /** Checks a whole body. */
  readonly validateBody: Validator<unknown>;
  /** Whether a body can be wrong although its payloads were right. */
  readonly checksBody?: true;
}

/** A search index, as far as writes of its documents need to know it. */
export interface SearchIndex {
  readonly index: string;
  /** Dotted paths of the indexed texts. */
  readonly fields: readonly string[];
  /** The language by which words are stemmed; stems are indexed beside the words. */
  readonly language?: StemmedLanguage;
}

/** The TypeScript types of a document type. */
export interface DocumentTypes {
  /** Documents in answers. */
  readonly document: unknown;
  readonly create?: unknown;
  /** A merge patch. */
  readonly patch?: unknown;
  readonly filter?: unknown;
  readonly sorts?: unknown;
  /** Documents with their references expanded; without references, the documents themselves. */
  readonly expanded?: unknown;
}

/** A document type with its TypeScript types. */
export interface DocumentSpec<Types extends DocumentTypes = DocumentTypes> extends AnyDocumentSpec {
  /** The fields that clients may query. */
  readonly fieldSet: FieldSet;
  /** The fields that scopes may query: `owner_id` and all related documents as well. */
  readonly scopeFields: FieldSet;
  /** Never set; it only carries the types. */
  readonly carries?: Types;
}

/** A document type that says only some of its types: the others are `unknown`. */
export type DocumentOf<Types extends DocumentTypes> = DocumentSpec<{
  readonly [Name in keyof DocumentTypes]-?: Name extends keyof Types
    ? Types[Name]
    : Name extends "expanded"
      ? Types["document"]
      : unknown;
}>;

/** Declares a document type. */
// oxlint-disable-next-line typescript/no-explicit-any -- JavaScript names no types, and reads any member
export function document<Types extends DocumentTypes = any>(
  declaration: AnyDocumentSpec,
): DocumentOf<Types> {
  const columns = columnsOf(declaration);
  const { fields, elements, enums, decimals, shape } = declaration;
  const parts = { fields, elements, enums, decimals, shape };
  return {
    ...declaration,
    fieldSet: new FieldSet({ ...parts, columns, relations: offeredRelations(declaration) }),
    scopeFields: new FieldSet({
      ...parts,
      columns: { ...columns, owner_id: "string" },
      relations: allRelations(declaration),
    }),
  };
}

/** The base fields that queries may use; of a view, only those that it shows. */
function columnsOf({ softDelete, view: seen }: AnyDocumentSpec): Fields {
  const columns: Fields = softDelete ? { ...baseFields, is_deleted: "boolean" } : baseFields;
  return seen === undefined ? columns : ofMembers(columns, seen.members);
}

/**
 * A view of documents: its readers see, and can query, only the members of the view. Rows and
 * scopes are those of the documents. It is read-only.
 */
export function view<Types extends DocumentTypes>(
  of: DocumentSpec,
  {
    name,
    members,
    reading,
    scopes,
  }: Omit<View, "of"> & Pick<AnyDocumentSpec, "reading" | "scopes">,
): DocumentOf<Types & { readonly create: never; readonly patch: never }> {
  const { reading: _reading, scopes: _scopes, ...whole } = of;
  const shown = <Value>(said: Readonly<Record<string, Value>> = {}) => ofMembers(said, members);
  const seen = document<Types & { readonly create: never; readonly patch: never }>({
    ...whole,
    view: { name, members, of },
    listDeleted: false,
    fields: shown(whole.fields),
    elements: shown(whole.elements),
    enums: shown(whole.enums),
    decimals: shown(whole.decimals),
    references: shown(whole.references),
    ...(reading === undefined ? {} : { reading }),
    ...(scopes === undefined ? {} : { scopes }),
  });
  return { ...seen, scopeFields: of.scopeFields };
}

/** The name by which a spec is known outside: that of the documents, or `<documents>.<view>`. */
export function seenAs({ name, view: seen }: AnyDocumentSpec): string {
  return seen === undefined ? name : `${name}.${seen.name}`;
}

/** Relations to documents that callers may read. */
function offeredRelations(of: AnyDocumentSpec): Relations {
  return relationsOf(of, (spec) => (spec.reading === undefined ? undefined : spec.fieldSet));
}

function allRelations(of: AnyDocumentSpec): Relations {
  return relationsOf(of, (spec) => spec.scopeFields);
}

/**
 * Looks up each relation only when a query uses it, because document types may refer to each other
 * in circles.
 */
function relationsOf(
  { references = {}, referredBy = [] }: AnyDocumentSpec,
  fieldsOf: (spec: DocumentSpec) => FieldSet | undefined,
): Relations {
  const relation = (
    spec: DocumentSpec | undefined,
    field: FieldReference | undefined,
  ): Relation | undefined => {
    const fields = spec === undefined ? undefined : fieldsOf(spec);
    if (spec === undefined || fields === undefined || field === undefined) return undefined;
    const { table, tenant, softDelete, hidesDeleted } = spec;
    const hides = hidesDeleted === undefined ? {} : { hidesDeleted };
    return { rows: { name: seenAs(spec), table, tenant, softDelete, ...hides }, fields, field };
  };
  return {
    to: (field) =>
      relation(
        Object.hasOwn(references, field.path) ? references[field.path]?.() : undefined,
        field,
      ),
    from(path) {
      const referrer = referredBy.find(({ by, member }) => `${by().name}.${member}` === path);
      const spec = referrer?.by();
      const field = spec?.fieldSet.find(referrer?.member ?? "");
      return field?.type.endsWith("[]") === true ? undefined : relation(spec, field);
    },
  };
}
