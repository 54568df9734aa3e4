// The model of documents: fields, indexes, references, views and signals.
import type { Elements, Enums, Fields } from "../../runtime/contract/fields.js";
import type { Code } from "./code.js";
import type { JsonSchema } from "./json-schema.js";

export interface IndexModel {
  readonly name: string;
  readonly fields: readonly string[];
}

/**
 * No two documents may have the same values in these fields; a document with a null in one of them
 * is exempt.
 */
export interface UniqueModel {
  /** The name of its index. */
  readonly name: string;
  readonly fields: readonly string[];
  /** Whether it holds across all tenants rather than within each. */
  readonly isGlobal: boolean;
  /** Whether soft-deleted documents are exempt. */
  readonly isLiveOnly: boolean;
  /** Values of fields that documents have which it is about; absent if it is about all. */
  readonly where?: Readonly<Record<string, readonly unknown[]>>;
}

/** No two documents with the same values in `per` have ranges that overlap. */
export interface OverlapModel {
  readonly per: readonly string[];
  readonly from: string;
  readonly to: string;
  /** Values of fields that documents have that count; empty if all do. */
  readonly where: Readonly<Record<string, readonly unknown[]>>;
}

/** A step of a policy that decides about a move or a field. */
export interface PolicyStepModel {
  readonly id: string;
  readonly permission: string | null;
  /** The name under which the permission is granted, where that is another. */
  readonly stored?: string;
  readonly run: Code;
  readonly errors: readonly string[];
}

/** A policy that lets callers see fields. */
export interface VisiblePolicyModel {
  readonly policy: string;
  /** What it asks, and its scopes. */
  readonly asks: readonly PolicyStepModel[];
}

/** Fields that only some of those who read the document may see. */
export interface VisibleModel {
  readonly fields: readonly string[];
  /** One of these has to let the caller pass. */
  readonly to: readonly VisiblePolicyModel[];
}

/** A value of the field of states that may follow another one. */
export interface MoveModel {
  readonly from: string;
  readonly to: string;
  /** The policy of whoever makes it; null for whoever may write the document. */
  readonly by: string | null;
  /** What that policy asks. */
  readonly asks: readonly PolicyStepModel[];
}

/** Which values of a field follow each other. */
export interface StatesModel {
  readonly field: string;
  /** Values that new documents may have. */
  readonly initial: readonly string[];
  readonly moves: readonly MoveModel[];
  /** Earlier names of states, by their current ones; absent if none has another. */
  readonly was?: Readonly<Record<string, string>>;
}

/** A field that holds the id of another document, or a list of ids. */
export interface ReferenceModel {
  readonly field: string;
  readonly document: string;
  /**
   * The view of the other document that callers get through the field; absent if they get all of
   * it.
   */
  readonly view?: string;
  /** What happens to the document with the field when the other one is deleted. */
  readonly onDelete: "restrict" | "cascade" | "set_null" | "remove";
  /** Whether the field is a list of ids; absent where it holds one. */
  readonly many?: true;
}

/** An event that writes of a document send. */
export interface EmissionModel {
  /** The verb that sends it. */
  readonly on: string;
  readonly event: string;
  /** An update sends it only if one of these fields has changed; null if any change counts. */
  readonly ifChanged: readonly string[] | null;
  /** The fields of members of its payload; absent if it carries the document. */
  readonly data?: Readonly<Record<string, string>>;
  /** Who hears it, where that is not said by the event. */
  readonly to?: string;
}

/** A job that runs for a document at the time of one of its fields. */
export interface ReminderModel {
  readonly job: string;
  readonly field: string;
  /** Negative for before it. */
  readonly offsetSeconds: number;
  /** Values of fields that documents have which it is for; empty if it is for all. */
  readonly where: Readonly<Record<string, readonly unknown[]>>;
}

/** Earlier names of a field and of its values. */
export interface FormerNames {
  /** The earlier name of the field; null if only values were renamed. */
  readonly name: string | null;
  /**
   * The function, as file#export, that computes the field from the earlier one; null if the value
   * stays as it is.
   */
  readonly by: string | null;
  /** Earlier names of values, by current name. */
  readonly values: Readonly<Record<string, string>>;
}

/** Running numbers. */
export interface NumberModel {
  readonly kind: "number";
  /** How they read; null if they are numbers. */
  readonly format: string | null;
  /** With what they begin anew: fields, and parts of the date. */
  readonly per: readonly string[];
  readonly start: number;
  readonly timezone: string;
  readonly hasGaps: boolean;
}

/** A field that the service sets; `absent` only if whoever creates leaves it out. */
export interface SetModel {
  readonly field: string;
  readonly on: "create" | "write" | "absent";
  readonly from:
    | { readonly kind: "caller" | "profile" | "now" }
    /** No source: only handlers write the field. */
    | { readonly kind: "handler" }
    | { readonly kind: "by"; readonly function: string }
    | { readonly kind: "sum"; readonly paths: readonly string[] }
    | { readonly kind: "count"; readonly path: string }
    | NumberModel;
}

/** The members of documents that a view shows. */
export interface ToldMembers {
  /** The name of the view, without the document's. */
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
  /**
   * The hooks that decide whether a caller may read them through other documents; null if nobody
   * may.
   */
  readonly reading: readonly Code[] | null;
  /**
   * The scopes of the guards, by the verb that they guard: they hold for handlers as well. Of a
   * view, of `get` alone.
   */
  readonly scopes: Readonly<Record<string, readonly Code[]>>;
  /** Paths of references that a read can expand: `project`, `project.owner`. */
  readonly expandable: readonly string[];
  /** The name of the type that reads answer, expanded documents included. */
  readonly readTypeName: string;
}

export interface DocumentModel extends ReadModel {
  readonly name: string;
  readonly source: string;
  readonly description: string | null;
  readonly table: string;
  /** The types of the bodies of create and update. */
  readonly createTypeName: string;
  readonly patchTypeName: string;
  readonly tenant: boolean;
  readonly sensitive: boolean;
  readonly softDelete: boolean;
  readonly listDeleted: boolean;
  /** How many revisions are kept: 0 for none, null for all. */
  readonly history: number | null;
  /** Whether its revisions have operations. */
  readonly revisions: boolean;
  /** The policy that guards reading deleted documents; null if no operation does. */
  readonly readsDeleted: string | null;
  /** Seconds after which a soft-deleted document is removed for good; null if it stays. */
  readonly deletedForSeconds: number | null;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly nullable: readonly string[];
  readonly canonical: Readonly<Record<string, "uuid" | "date-time">>;
  readonly fields: Fields;
  /** Fields that the service sets, and those that only handlers write. */
  readonly set: readonly SetModel[];
  readonly elements: Elements;
  readonly enums: Enums;
  /** Fields that are decimals, with their places. */
  readonly decimals: Readonly<Record<string, number>>;
  /** Earlier names of fields and of their values, by the field's current name. */
  readonly former: Readonly<Record<string, FormerNames>>;
  /**
   * Values of fields in documents that were stored without them, where creating one takes another.
   */
  readonly formerly: Readonly<Record<string, unknown>>;
  /** Values of fields that the type no longer has: rows keep them for the version before. */
  readonly dropped: Readonly<Record<string, unknown>>;
  readonly indexes: readonly IndexModel[];
  readonly unique: readonly UniqueModel[];
  readonly overlaps: readonly OverlapModel[];
  /** Null where any value may follow any other. */
  readonly states: StatesModel | null;
  /** Fields that only some may see; empty if who reads the document sees all. */
  readonly visible: readonly VisibleModel[];
  /** What fields become once who has created the document is erased. */
  readonly personal: Readonly<Record<string, unknown>>;
  readonly references: readonly ReferenceModel[];
  readonly views: readonly ViewModel[];
  /** The view that this model describes (see `applyView`); null if it describes whole documents. */
  readonly view: ToldMembers | null;
  /** How many documents one bulk request may write; null if there are no bulk operations. */
  readonly bulk: number | null;
  /** The field by which callers may name one in place of its id; null if they use the id alone. */
  readonly key: string | null;
  /** Whether whoever creates one may choose its id. */
  readonly takesIds: boolean;
  /** How far numbered lists count; null if they count all. */
  readonly countUpTo: number | null;
  /** Whether a replica of the database may answer callers' lists. */
  readonly takesReplica: boolean;
  readonly emits: readonly EmissionModel[];
  readonly reminders: readonly ReminderModel[];
  /** The author's hooks of single verbs that other verbs run for each document that they write. */
  readonly hooks: Readonly<Record<string, readonly Code[]>>;
  /**
   * Whether writes must validate the whole body, because checking their payload alone isn't enough.
   */
  readonly checksBody: boolean;
  readonly bodySchema: JsonSchema;
}
