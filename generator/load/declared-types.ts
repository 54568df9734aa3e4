// The entries of `types:`, each read once and when it is first needed: a type comes after the one
// that it extends, whatever their order.
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import { referredType, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import { own } from "../model/records.js";
import { extendSchema, extensionFault } from "./extensions.js";
import { isMap } from "./shape.js";

/** An entry of `types:`. */
export interface TypeEntry {
  readonly value: unknown;
  readonly at: Origin;
}

/** Declared types as they are read: documents add base fields to those in the table. */
export class DeclaredTypes {
  readonly #read: (name: string, entry: TypeEntry) => JsonSchema;
  readonly #others: (name: string) => JsonSchema | undefined;
  #entries: Readonly<Record<string, TypeEntry>> = {};
  readonly #schemas = new Map<string, JsonSchema | undefined>();

  constructor(
    read: (name: string, entry: TypeEntry) => JsonSchema,
    others: (name: string) => JsonSchema | undefined,
  ) {
    this.#read = read;
    this.#others = others;
  }

  readAll(entries: Readonly<Record<string, TypeEntry>>): void {
    this.#entries = entries;
    for (const name of Object.keys(entries)) this.#schemaOf(name);
  }

  /** A type with the fields of another one as well. Reports where it can't have them. */
  extend(name: string, whole: SchemaObject, at: Origin, report: Report): SchemaObject {
    const schema = this.fieldsOf(name);
    const fault = extensionFault({ name, schema }, whole, at);
    if (fault === undefined) return extendSchema(schema as SchemaObject, whole);
    report(fault);
    return whole;
  }

  /** A type, or the one that it is another name of; undefined while that is being read. */
  fieldsOf(name: string, ...before: readonly string[]): JsonSchema | undefined {
    const schema = this.#schemaOf(name);
    const other =
      isMap(schema) && Object.keys(schema).length === 1 ? referredType(schema) : undefined;
    if (other === undefined) return schema;
    return before.includes(other) ? undefined : this.fieldsOf(other, name, ...before);
  }

  #schemaOf(name: string): JsonSchema | undefined {
    const entry = own(this.#entries, name);
    // A definition within a schema, or a file, has been read with what refers to it.
    if (entry === undefined) return this.#others(name) ?? true;
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, undefined);
      this.#schemas.set(name, this.#read(name, entry));
    }
    return this.#schemas.get(name);
  }
}
