// Values of operations and events in two registries: a type is compared once, and its changes name
// all places that use it.
import { own } from "../model/records.js";
import type { Change, Note, ChangeSubject } from "./change.js";
import type { Direction, SchemaComparison, Types } from "./schema-change.js";
import { compareSchemas } from "./schemas.js";
import { shownMore, type ShownTypes } from "./shown.js";

interface TypePair {
  readonly before: string;
  readonly after: string;
  readonly direction: Direction;
  readonly affected: Set<string>;
  /** Pairs that stand inside. */
  readonly inner: Set<string>;
  readonly changes: Omit<Change, "affects">[];
}

export class ValueComparison {
  readonly #before: Types;
  readonly #after: Types;
  readonly #note: Note;
  readonly #today: string;
  readonly #shown: ShownTypes;
  readonly #pairs = new Map<string, TypePair>();

  constructor(before: Types, after: Types, note: Note, today: string, shown: ShownTypes) {
    this.#today = today;
    this.#before = before;
    this.#after = after;
    this.#note = note;
    this.#shown = shown;
  }

  /** Two schemas in one place, which changes call `name`. */
  compare(
    schemas: { readonly before: unknown; readonly after: unknown },
    place: {
      readonly subject: ChangeSubject;
      readonly name: string;
      readonly direction: Direction;
      readonly affected: string;
    },
  ): void {
    const { subject, name, direction, affected } = place;
    compareSchemas(
      (schemas.before ?? true) as Types[string],
      (schemas.after ?? true) as Types[string],
      this.#comparison(direction, {
        note: ({ level, ...at }) =>
          this.#note({
            text: `${name}${at.path} ${at.what} in ${direction}`,
            level,
            at,
            area: "schema",
            subject,
            affects: [affected],
          }),
        meet: (from, to, isNegated) =>
          this.#touch(this.#pair(from, to, turnDirection(direction, isNegated)), affected),
      }),
    );
  }

  /** Reports changes of types, once all places are known. */
  finish(): void {
    for (const { changes, affected } of this.#pairs.values())
      for (const change of changes) this.#note({ ...change, affects: [...affected] });
  }

  #comparison(
    direction: Direction,
    told: Pick<SchemaComparison, "note" | "meet">,
  ): SchemaComparison {
    return {
      before: this.#before,
      after: this.#after,
      direction,
      today: this.#today,
      shownMore: (before, after) => shownMore(this.#shown, before, after),
      ...told,
    };
  }

  #touch(key: string, affected: string): void {
    const pair = this.#pairs.get(key);
    if (pair === undefined || pair.affected.has(affected)) return;
    pair.affected.add(affected);
    for (const inner of pair.inner) this.#touch(inner, affected);
  }

  /** The comparison of two types in one direction, made when it is first asked for. */
  #pair(before: string, after: string, direction: Direction): string {
    const key = JSON.stringify([before, after, direction]);
    if (this.#pairs.has(key)) return key;
    const pair: TypePair = {
      before,
      after,
      direction,
      affected: new Set(),
      inner: new Set(),
      changes: [],
    };
    this.#pairs.set(key, pair);
    // A client's package exports types by their names.
    const isRenamed =
      own(this.#after, before) === undefined && own(this.#before, after) === undefined;
    if (isRenamed)
      pair.changes.push({
        text: `${before} is called ${after}`,
        level: "breaking",
        area: "schema",
        subject: { kind: "type", name: after },
        at: { path: "", what: `is called ${after}`, from: before },
      });
    const [old, next] = [this.#before[before] ?? true, this.#after[after] ?? true];
    compareSchemas(
      old,
      next,
      this.#comparison(direction, {
        note: ({ level, ...at }) =>
          pair.changes.push({
            text: `${after}${at.path} ${at.what} in ${direction}`,
            level,
            at,
            area: "schema",
            subject: { kind: "type", name: after },
          }),
        meet: (from, to, isNegated) =>
          void pair.inner.add(this.#pair(from, to, turnDirection(direction, isNegated))),
      }),
    );
    return key;
  }
}

/** The opposite direction, for schemas under `not`. */
function turnDirection(direction: Direction, isNegated = false): Direction {
  if (!isNegated) return direction;
  return direction === "input" ? "answers" : "input";
}
