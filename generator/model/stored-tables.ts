// The database as migrations have left it: tables of documents, their indexes, and what is known of
// the bodies in them.
import type { FieldType } from "../../runtime/contract/fields.js";
import type { Shape } from "../../runtime/contract/shapes.js";
import type { StoredField } from "../../runtime/contract/stored-members.js";

/** Whether a storage's files are encrypted, and by whom. */
export type Encryption = "none" | "client";

/** The constraints on a member's values that SQL can check. Patterns are not among them. */
export interface Fit {
  /** `object` for whatever is no scalar of one type. */
  readonly type: FieldType;
  /** What an `object` is; absent in schemas of earlier versions. */
  readonly kind?: "list" | "object" | "any";
  readonly isNullable: boolean;
  readonly values?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** A field of the body, and values of which it has one. */
export interface IndexedValues {
  readonly field: StoredField & { readonly type: FieldType };
  readonly values: readonly (string | number | boolean | null)[];
}

export interface IndexSchema {
  /**
   * Whether values are unique: across tenants or in each, and among all rows or those that aren't
   * deleted.
   */
  readonly unique?: {
    readonly isGlobal: boolean;
    readonly isLiveOnly: boolean;
    /** Among rows whose fields have one of these values each; null is absent as well. */
    readonly where?: readonly IndexedValues[];
  };
  /** Whether it covers only deleted rows, of all tenants together. */
  readonly isOfDeleted?: true;
  /** Fields of the body, by their place in rows, and columns. */
  readonly fields: readonly (StoredField & {
    readonly type: FieldType;
    readonly isColumn?: true;
  })[];
}

/** What is known of the bodies in a table. Members have their names in rows. */
export interface StoredBodies {
  /** Members that stored bodies have even if a payload left them out, with their defaults. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Members that every stored body has. */
  readonly required: readonly string[];
  /**
   * The shapes that bodies have had; absent in schemas of earlier versions, whose rows have no
   * shape number.
   */
  readonly shape?: Shape;
  /**
   * Which values members accept, by their names in documents; absent in schemas of earlier
   * versions.
   */
  readonly fits?: Readonly<Record<string, Fit>>;
}

/**
 * Members that every row has when it is read. Before rows had shapes, migrations wrote defaults
 * into existing rows.
 */
export function storedMembers({ required, members, shape }: StoredBodies): ReadonlySet<string> {
  return new Set(shape === undefined ? [...required, ...Object.keys(members)] : required);
}

export interface TableSchema extends StoredBodies {
  readonly tenant: boolean;
  readonly history: boolean;
  /**
   * Which form of answers documents have, and a hash of it; absent in schemas of earlier versions.
   */
  readonly told?: { readonly form: number; readonly hash: string };
  /** Whether rows of the history say when and by whom; absent for tables of earlier versions. */
  readonly historyTells?: true;
  /** Whether rows may be marked as deleted; absent in schemas of earlier versions. */
  readonly softDelete?: boolean;
  /** Whether they could be in an earlier version. */
  readonly hadSoftDelete?: true;
  /** The name of its documents, if it isn't the table's. */
  readonly document?: string;
  readonly indexes: Readonly<Record<string, IndexSchema>>;
  /** Indexes of searches, with the fields of their texts in order. */
  readonly searches: Readonly<Record<string, readonly string[]>>;
  /**
   * Which search has which of them, where some are of no search any more, or are called otherwise.
   */
  readonly searchesOf?: Readonly<Record<string, string>>;
  /** The languages of search indexes that keep stems. */
  readonly languages?: Readonly<Record<string, string>>;
}

/** What generated code knows of one table of documents. */
export interface StoredTable {
  readonly shape: Shape;
  /** Which form of answers its documents have; 1 is the first. */
  readonly form: number;
  /** Whether rows may be marked as deleted although its documents can't be any more. */
  readonly hidesDeleted?: true;
  /** Unique indexes, and the document's members that they cover. */
  readonly uniques: readonly {
    readonly index: string;
    readonly members: readonly string[];
    /** The members whose values decide whether it is about a document. */
    readonly where?: readonly string[];
  }[];
}

/** What generated code knows of what is stored. */
export interface Stored {
  /** By table. */
  readonly tables: Readonly<Record<string, StoredTable>>;
  /** The index of each search, by the name of the search. */
  readonly searches: Readonly<Record<string, string>>;
  /**
   * By storage: the name under which its files are stored, and how they may be stored besides as it
   * says.
   */
  readonly files: Readonly<
    Record<string, { readonly place: string; readonly alsoReads: readonly Encryption[] }>
  >;
}

/** The files of a storage, by the name under which they are stored. */
export interface StoredFiles {
  /** What the storage is called; left out if that is the name under which they are stored. */
  readonly storage?: string;
  /** How they have been stored, first to last. */
  readonly encryption: readonly Encryption[];
}

/** The tables of documents, and the steps of opwright's own tables. */
export interface DatabaseSchema {
  readonly tables: Readonly<Record<string, TableSchema>>;
  readonly system: readonly string[];
  /** Files of storages that are, or were, declared; absent in schemas of earlier versions. */
  readonly files?: Readonly<Record<string, StoredFiles>>;
  /** The layout of search indexes; absent in schemas of the version that only knew layout 1. */
  readonly searchLayout?: number;
}
