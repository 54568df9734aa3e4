// The table of named types, and of names that emitted modules take besides it.
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import type { JsonSchema } from "../model/json-schema.js";

export class TypeTable {
  readonly schemas = new Map<string, JsonSchema>();
  readonly origins = new Map<string, Origin>();
  /** The namespace whose module declares a type, where one has it as its own. */
  readonly homes = new Map<string, string>();
  readonly #declared: ReadonlySet<string>;
  readonly #claimed = new Set<string>();
  readonly #report: Report;

  constructor(declared: ReadonlySet<string>, report: Report) {
    this.#declared = declared;
    this.#report = report;
  }

  /** Adds a type that a family derives. Reports a name that is taken. */
  add(name: string, schema: JsonSchema, at: Origin): void {
    if (this.#isFree(name, at)) this.schemas.set(name, schema);
  }

  /** Adds a type that several declarations share; the first to need it brings it. */
  addShared(name: string, schema: JsonSchema, at: Origin): void {
    if (this.#declared.has(name) || !this.schemas.has(name)) this.add(name, schema, at);
  }

  /** Adds a type that one namespace has as its own. */
  addTo(home: string, name: string, schema: JsonSchema, at: Origin): void {
    this.add(name, schema, at);
    this.homes.set(name, home);
  }

  /** Takes a name that an emitted module declares besides the table. Reports one that is taken. */
  claim(name: string, at: Origin): void {
    this.#isFree(name, at);
    this.#claimed.add(name);
  }

  #isFree(name: string, at: Origin): boolean {
    if (!this.schemas.has(name) && !this.#claimed.has(name)) return true;
    this.#report({
      code: "OPW003",
      message: `opwright needs the name ${name} for a type of its own`,
      at: this.origins.get(name) ?? at,
    });
    return false;
  }
}
