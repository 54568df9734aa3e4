// Parts of the OpenAPI document that operations refer to: each stands once, under components.
import { sortedRecord } from "../model/records.js";

export class SharedComponents {
  readonly #sections = new Map<string, Map<string, unknown>>();
  readonly #schemas: Map<string, unknown>;

  /** Begins with the schemas that have names of their own. */
  constructor(schemas: ReadonlyMap<string, unknown>) {
    this.#schemas = new Map(schemas);
    this.#sections.set("schemas", this.#schemas);
  }

  /** A reference to the component of a name, made where it is the first. The same name always has the same value. */
  refer(section: string, name: string, made: () => unknown): { readonly $ref: string } {
    const components = this.#sections.get(section) ?? new Map<string, unknown>();
    this.#sections.set(section, components);
    if (!components.has(name)) components.set(name, made());
    return { $ref: `#/components/${section}/${name}` };
  }

  /** A reference to the schema, which gets the name or, where another has it, one like it; or what is one already. */
  schema(wanted: string, schema: object | boolean): object | boolean {
    // A schema that is true, as `out: true` is, has nothing that could be shared.
    if (typeof schema === "boolean" || "$ref" in schema) return schema;
    let name = wanted;
    while (this.#schemas.has(name)) name += "_";
    return this.refer("schemas", name, () => schema);
  }

  /** Every section with what was referred to, in code-unit order. */
  all(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    return sortedRecord(
      [...this.#sections].map(([section, components]) => [section, sortedRecord(components)]),
    );
  }
}
