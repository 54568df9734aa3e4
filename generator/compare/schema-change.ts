// Changes of a schema, and to whom they matter.
import type { JsonSchema } from "../model/json-schema.js";
import type { ChangeLevel, SchemaPlace } from "./change.js";

/** Whether clients send the value or read it. */
export type Direction = "input" | "answers";

export interface SchemaChange extends Omit<SchemaPlace, "from"> {
  readonly level: ChangeLevel;
}

export type Types = Readonly<Record<string, JsonSchema>>;

export interface SchemaComparison {
  readonly before: Types;
  readonly after: Types;
  readonly direction: Direction;
  /** In UTC. */
  readonly today: string;
  note(change: SchemaChange): void;
  /**
   * Members of a document that the second of two types shows and the first did not; none unless
   * both show one document.
   */
  shownMore?(before: string, after: string): readonly string[];
  /** Two types are in the same place, possibly under `not`; they are compared separately. */
  meet(before: string, after: string, isNegated?: boolean): void;
}

/** Fewer values: breaks clients that send one of the others. */
export function tellNarrowing(
  { direction, note }: SchemaComparison,
  path: string,
  what: string,
  rest: Pick<SchemaPlace, "value"> = {},
): void {
  note({ level: direction === "input" ? "breaking" : "additive", path, what, ...rest });
}

/** More values: surprises clients that read them. */
export function tellWidening(
  { direction, note }: SchemaComparison,
  path: string,
  what: string,
  rest: Pick<SchemaPlace, "value"> = {},
): void {
  note({ level: direction === "input" ? "additive" : "breaking", path, what, ...rest });
}

/** Compares the schemas of the parts. */
export type Compare = (
  before: JsonSchema,
  after: JsonSchema,
  comparison: SchemaComparison,
  path: string,
) => void;
