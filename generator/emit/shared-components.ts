// Parts of the OpenAPI document that operations share: each is printed once, under components.
import { sortedRecord } from "../model/records.js";

export class SharedComponents {
  readonly #sections = new Map<string, Map<string, unknown>>();
  readonly #schemas: Map<string, unknown>;

  /** Starts with the schemas that have names of their own. */
  constructor(schemas: ReadonlyMap<string, unknown>) {
    this.#schemas = new Map(schemas);
    this.#sections.set("schemas", this.#schemas);
  }

  /**
   * A reference to a component, which is made if it is the first. A name must always have the same
   * value.
   */
  refer(section: string, name: string, made: () => unknown): { readonly $ref: string } {
    const components = this.#sections.get(section) ?? new Map<string, unknown>();
    this.#sections.set(section, components);
    if (!components.has(name)) components.set(name, made());
    return { $ref: `#/components/${section}/${name}` };
  }

  /**
   * A reference to the schema, which becomes a component with this name or, if it is taken, the
   * name with underscores. A schema that is a reference already is returned.
   */
  schema(wanted: string, schema: object | boolean): object | boolean {
    // A boolean schema, as of `out: true`, has nothing to share.
    if (typeof schema === "boolean" || "$ref" in schema) return schema;
    let name = wanted;
    while (this.#schemas.has(name)) name += "_";
    return this.refer("schemas", name, () => schema);
  }

  /** Every section with its components, in code-unit order. */
  all(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    return sortedRecord(
      [...this.#sections].map(([section, components]) => [section, sortedRecord(components)]),
    );
  }
}
