// What a change of a schema is, and to whom it matters.
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
  /** Two types stand in the same place, or are what must not be there: they are compared on their own. */
  meet(before: string, after: string, isNegated?: boolean): void;
}

/** Fewer values: a fault to who sends one of the others. */
export function narrowed(
  { direction, note }: SchemaComparison,
  path: string,
  what: string,
  rest: Pick<SchemaPlace, "value"> = {},
): void {
  note({ level: direction === "input" ? "breaking" : "additive", path, what, ...rest });
}

/** More values: a surprise to who reads them. */
export function widened(
  { direction, note }: SchemaComparison,
  path: string,
  what: string,
  rest: Pick<SchemaPlace, "value"> = {},
): void {
  note({ level: direction === "input" ? "additive" : "breaking", path, what, ...rest });
}

/** Compares the schemas of what stands inside. */
export type Compare = (
  before: JsonSchema,
  after: JsonSchema,
  comparison: SchemaComparison,
  path: string,
) => void;
