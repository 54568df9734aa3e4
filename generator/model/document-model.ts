// What the registry says of documents: their fields, indexes, references and signals.
import type { Elements, Enums, Fields } from "../../runtime/contract/fields.js";
import type { Code } from "./code.js";
import type { JsonSchema } from "./json-schema.js";

export interface IndexModel {
  readonly name: string;
  readonly fields: readonly string[];
}

/** Fields of which no two documents have the same values; where one of them is null, there is nothing to compare. */
export interface UniqueModel {
  /** The name of its index. */
  readonly name: string;
  readonly fields: readonly string[];
  /** Whether it holds beyond a tenant. */
  readonly isGlobal: boolean;
  /** Whether documents that are deleted don't count. */
  readonly isLiveOnly: boolean;
}

/** A field that names another document. */
export interface ReferenceModel {
  readonly field: string;
  readonly document: string;
  /** The view of it by which callers follow the field; absent where they see all of it. */
  readonly view?: string;
  /** What becomes of the document with the field when the other one is deleted. */
  readonly onDelete: "restrict" | "cascade" | "set_null";
}

/** An event that a document sends. */
export interface EmissionModel {
  readonly on: "create" | "update" | "delete" | "restore" | "kill";
  readonly event: string;
  /** Fields of which one must have changed; null where any change counts. */
  readonly ifChanged: readonly string[] | null;
}

/** What a field of a document was called before. */
export interface FormerNames {
  /** Null where only values are called otherwise. */
  readonly name: string | null;
  /** The function, as file#export, that makes it of what it was; null where it is as it was. */
  readonly by: string | null;
  /** By what they are called now. */
  readonly values: Readonly<Record<string, string>>;
}

/** A field that the service sets. */
export interface SetModel {
  readonly field: string;
  readonly on: "create" | "write";
  readonly from:
    | { readonly kind: "caller" | "profile" | "now" }
    /** Nothing: handlers write it, and nobody else. */
    | { readonly kind: "handler" }
    | { readonly kind: "by"; readonly function: string }
    | { readonly kind: "sum"; readonly paths: readonly string[] }
    | { readonly kind: "count"; readonly path: string };
}

/** The members of documents that a view shows. */
export interface ToldMembers {
  /** What the view is called. */
  readonly name: string;
  /** Including base fields, if listed. */
  readonly members: readonly string[];
}

/** A view of documents. */
export type ViewModel = ToldMembers & ReadModel;

/** How documents, or a view of them, are read. */
export interface ReadModel {
  /** The name of the type. */
  readonly typeName: string;
  /** What lets callers see them by way of others; null where there is no such way. */
  readonly reading: readonly Code[] | null;
  /** Paths of members whose documents may come along with a read: `project`, `project.owner`. */
  readonly expandable: readonly string[];
  /** The name of the type as reads answer it: with what comes along. */
  readonly readTypeName: string;
}

export interface DocumentModel extends ReadModel {
  readonly name: string;
  readonly source: string;
  readonly description: string | null;
  readonly table: string;
  /** Names of the types as created, patched. */
  readonly createTypeName: string;
  readonly patchTypeName: string;
  readonly tenant: boolean;
  readonly sensitive: boolean;
  readonly softDelete: boolean;
  readonly listDeleted: boolean;
  /** 0 is no history, null keeps every revision. */
  readonly history: number | null;
  /** Whether there are operations over revisions. */
  readonly revisions: boolean;
  /** The policy of those who read what is deleted; null where nobody does. */
  readonly readsDeleted: string | null;
  /** Seconds after which what is deleted goes for good; null where it stays. */
  readonly deletedForSeconds: number | null;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly nullable: readonly string[];
  readonly canonical: Readonly<Record<string, "uuid" | "date-time">>;
  readonly fields: Fields;
  /** What the service sets by itself. */
  readonly set: readonly SetModel[];
  readonly elements: Elements;
  readonly enums: Enums;
  /** What fields, and values of fields, were called before. */
  readonly former: Readonly<Record<string, FormerNames>>;
  readonly indexes: readonly IndexModel[];
  readonly unique: readonly UniqueModel[];
  readonly references: readonly ReferenceModel[];
  readonly views: readonly ViewModel[];
  /** The view that it stands for; null where it is the documents themselves. */
  readonly view: ToldMembers | null;
  /** How many documents one request may write; null where it writes one alone. */
  readonly bulk: number | null;
  readonly emits: readonly EmissionModel[];
  /** Whether a patch must be checked against the whole body. */
  readonly checksBody: boolean;
  readonly bodySchema: JsonSchema;
}
