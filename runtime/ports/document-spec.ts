// The document spec: all that the runtime knows of one document type, printed by the generator.
import {
  baseFields,
  ofMembers,
  type Elements,
  type Enums,
  type Fields,
} from "../contract/fields.js";
import type { StemmedLanguage } from "../contract/search-languages.js";
import type { Converters, Shape } from "../contract/shapes.js";
import type { Validator } from "../contract/validation.js";
import type { Filter } from "../query/ast.js";
import type { SetRule } from "./set-rules.js";
import { FieldSet, type FieldReference, type Relation, type Relations } from "../query/fields.js";

/** Forms that values of a path are brought into before they are stored. */
export type Canonical = "uuid" | "date-time";

/** A signal that a change of a document sends, with the document as it is then. */
export type Emission = {
  readonly on: "create" | "update" | "delete" | "restore" | "kill";
  readonly event: string;
  readonly delivery: "durable" | "ephemeral";
  /** Fields of which one must have changed. */
  readonly ifChanged?: readonly string[];
} &
  /** The field that names who hears it; null is nobody. */
  (
    | { readonly principal: string }
    /** A topic with fields in braces; where one is null there is none. */
    | { readonly topic: string }
  );

/** A type of documents that names another one in a member. */
export interface Referrer {
  readonly by: () => DocumentSpec<unknown>;
  readonly member: string;
  readonly onDelete: "restrict" | "cascade" | "set_null";
}

/**
 * What makes sure that a caller may read documents of the type by way of others: the guard of `get`. Of the context,
 * families know more.
 */
export interface Reading {
  run(input: unknown, context: never): unknown;
  /** What it leaves to see, where it is a scope. */
  visible?(context: never): Promise<Filter>;
}

/** The members of documents that a view shows. */
export interface View {
  readonly name: string;
  readonly members: readonly string[];
}

/** A document spec as generated code declares it. */
export interface DocumentDeclaration {
  /** The document's name, which is the namespace of its operations. */
  readonly name: string;
  readonly table: string;
  /** The view that the spec stands for; absent if it is the documents themselves. */
  readonly view?: View;
  /** Whether rows belong to a tenant. */
  readonly tenant: boolean;
  readonly softDelete: boolean;
  /** Whether lists may ask for deleted rows as well. */
  readonly listDeleted: boolean;
  /** Snapshots kept of each document for three-way merges; 0 is no history, null keeps all. */
  readonly history: number | null;
  /** Members that no patch may have, which going back to a revision leaves as they are. */
  readonly unpatchable?: readonly string[];
  /** Seconds after which what is deleted goes for good; absent where it stays. */
  readonly deletedForSeconds?: number;
  /** Values of members that a create payload leaves out; nullable members have null here. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Dotted paths of members for which null is a value; `*` stands for the members of a map. */
  readonly nullable: readonly string[];
  /** Paths (`due`, `items[].at`) whose values are stored in one canonical form. */
  readonly canonical: Readonly<Record<string, Canonical>>;
  readonly fields: Fields;
  /** Members that the service sets: no payload has them. */
  readonly set?: readonly SetRule[];
  /** Members that only payloads of handlers have. */
  readonly handled?: readonly string[];
  /** What stored bodies look like, and what older ones looked like. */
  readonly shape: Shape;
  /** What makes members of older rows that are of another type by now. */
  readonly converters?: Converters;
  /** Fields of indexes, in their order. */
  readonly indexes?: readonly (readonly string[])[];
  /** What no two documents have the same of, each with the index that sees to it. */
  readonly unique?: readonly { readonly index: string; readonly members: readonly string[] }[];
  /** Members that name other documents. */
  readonly references?: Readonly<Record<string, () => DocumentSpec<unknown>>>;
  /** Who names documents of this type, and what becomes of them when one is deleted. */
  readonly referredBy?: readonly Referrer[];
  /** Who may see these documents by way of others; absent where nobody may. */
  readonly reading?: () => readonly Reading[];
  /** What quantifiers ask of the objects in arrays. */
  readonly elements?: Elements;
  /** Values of fields that are enumerations. */
  readonly enums?: Enums;
  /** Indexes of searches that are kept with the documents. */
  readonly searches?: readonly SearchIndex[];
  readonly emits?: readonly Emission[];
  /** What callers, and handlers, may create with and patch with; absent where only handlers write. */
  readonly validateCreate?: Validator<unknown>;
  readonly validatePatch?: Validator<unknown>;
  /** Checks a whole body, where the parts do not prove the whole. */
  readonly validateBody?: Validator<unknown>;
}

/** The index of a search, as the writes of its documents know it. */
export interface SearchIndex {
  readonly index: string;
  /** Dotted paths of the texts. */
  readonly fields: readonly string[];
  /** The language whose stems are kept beside the words. */
  readonly language?: StemmedLanguage;
}

/** The types of a document: as answered, as created, as patched, as asked for, and with what it names. */
export interface DocumentSpec<
  Document,
  Create = unknown,
  Patch = unknown,
  Filter = unknown,
  Sorts = unknown,
  Expanded = Document,
> extends DocumentDeclaration {
  /** What clients may query. */
  readonly fieldSet: FieldSet;
  /** What scopes may query: `owner_id` as well, and whatever is related. */
  readonly scopeFields: FieldSet;
  /** Never set; it only keeps the types. */
  readonly carries?: {
    readonly document: Document;
    readonly create: Create;
    readonly patch: Patch;
    readonly filter: Filter;
    readonly sorts: Sorts;
    readonly expanded: Expanded;
  };
}

/** Declares a document type. */
export function document<
  Document,
  Create = unknown,
  Patch = unknown,
  Filter = unknown,
  Sorts = unknown,
  Expanded = Document,
>(
  declaration: DocumentDeclaration,
): DocumentSpec<Document, Create, Patch, Filter, Sorts, Expanded> {
  const columns = columnsOf(declaration);
  const { fields, elements, enums, shape } = declaration;
  const parts = { fields, elements, enums, shape };
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

/** Base fields, as queries have them. */
function columnsOf({ softDelete, view: seen }: DocumentDeclaration): Fields {
  const columns: Fields = softDelete ? { ...baseFields, is_deleted: "boolean" } : baseFields;
  return seen === undefined ? columns : ofMembers(columns, seen.members);
}

/**
 * A view of documents: its readers see, and can query, only the members of the view. Rows and scopes are those of the
 * documents. It is read-only.
 */
export function view<Document, Filter = unknown, Sorts = unknown, Expanded = Document>(
  of: DocumentSpec<unknown>,
  { name, members, reading }: View & Pick<DocumentDeclaration, "reading">,
): DocumentSpec<Document, never, never, Filter, Sorts, Expanded> {
  const { reading: _reading, ...whole } = of;
  const shown = <Value>(said: Readonly<Record<string, Value>> = {}) => ofMembers(said, members);
  const seen = document<Document, never, never, Filter, Sorts, Expanded>({
    ...whole,
    view: { name, members },
    listDeleted: false,
    fields: shown(whole.fields),
    elements: shown(whole.elements),
    enums: shown(whole.enums),
    references: shown(whole.references),
    ...(reading === undefined ? {} : { reading }),
  });
  return { ...seen, scopeFields: of.scopeFields };
}

/** The name of what others see: the documents, or a view of them. */
export function seenAs({ name, view: seen }: DocumentDeclaration): string {
  return seen === undefined ? name : `${name}.${seen.name}`;
}

/** Those by which callers may see something. */
function offeredRelations(of: DocumentDeclaration): Relations {
  return relationsOf(of, (spec) => (spec.reading === undefined ? undefined : spec.fieldSet));
}

function allRelations(of: DocumentDeclaration): Relations {
  return relationsOf(of, (spec) => spec.scopeFields);
}

/** Documents may name each other, so each is asked for when a query names it. */
function relationsOf(
  { references = {}, referredBy = [] }: DocumentDeclaration,
  fieldsOf: (spec: DocumentSpec<unknown>) => FieldSet | undefined,
): Relations {
  const relation = (
    spec: DocumentSpec<unknown> | undefined,
    field: FieldReference | undefined,
  ): Relation | undefined => {
    const fields = spec === undefined ? undefined : fieldsOf(spec);
    if (spec === undefined || fields === undefined || field === undefined) return undefined;
    const { table, tenant, softDelete } = spec;
    return { rows: { name: seenAs(spec), table, tenant, softDelete }, fields, field };
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
      return relation(spec, spec?.fieldSet.find(referrer?.member ?? ""));
    },
  };
}
