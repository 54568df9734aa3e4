// What kept values consist of, member by member, as `KeptPart` of the runtime describes it.
import {
  alternativesOf,
  propertiesOf,
  referredType,
  withoutNull,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import { branchesOf, type Guard } from "../model/union-branches.js";
import { readOfType } from "../model/views.js";

/** What a kept value consists of, as `KeptPart` of the runtime. */
export type Part = string | { readonly items: Part } | UnionPart | ObjectPart;

export interface UnionPart {
  readonly either: readonly {
    readonly is: Readonly<Record<string, readonly unknown[]>>;
    readonly part: Part;
  }[];
}

export interface ObjectPart {
  /** The name of its documents, or of the view of them. */
  readonly document?: string;
  readonly members: readonly string[] | null;
  readonly within?: Readonly<Record<string, Part>>;
  readonly others?: Part;
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** Reads what values consist of. Named types are described once. */
export class KeptParts {
  readonly #model: RegistryModel;
  readonly #types = new Map<string, ObjectPart | null>();

  constructor(model: RegistryModel) {
    this.#model = model;
  }

  /** The types that the parts so far consist of, by name. */
  get types(): Readonly<Record<string, ObjectPart>> {
    const known = [...this.#types].flatMap(([name, part]) =>
      part === null ? [] : [[name, part] as const],
    );
    return Object.fromEntries(known.sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /**
   * What values of a schema consist of; undefined if nothing in them is declared member by member.
   */
  partOf(schema: JsonSchema): Part | undefined {
    const type = referredType(schema);
    if (type !== undefined) return this.#named(type);
    const value = withoutNull(schema);
    if (value !== schema) return this.partOf(value);
    if (typeof schema === "boolean") return undefined;
    if (schema["items"] !== undefined) {
      const items = this.partOf(schema["items"] as JsonSchema);
      return items === undefined ? undefined : { items };
    }
    if (alternativesOf(schema).length > 0) return this.#unionOf(alternativesOf(schema));
    return schema["type"] === "object" ? this.#objectOf(schema) : undefined;
  }

  #named(name: string): Part | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known === null ? undefined : name;
    const schema = own(this.#model.types, name);
    if (typeof schema !== "object") return undefined;
    if (schema["type"] !== "object" || "allOf" in schema) return this.partOf(schema);
    // A type that refers to itself is met again on the way.
    this.#types.set(name, { members: null });
    const document = readOfType(this.#model.documents, name);
    const part = this.#objectOf(schema, document);
    this.#types.set(name, part ?? null);
    return part === undefined ? undefined : name;
  }

  #objectOf(schema: SchemaObject, document?: string): ObjectPart | undefined {
    const properties = Object.entries(propertiesOf(schema));
    const isClosed = schema["additionalProperties"] === false && !("patternProperties" in schema);
    const within = properties.flatMap(([name, property]) => {
      const part = this.partOf(property);
      return part === undefined ? [] : [[name, part] as const];
    });
    const defaults = properties.flatMap(([name, property]) =>
      typeof property === "object" && "default" in property
        ? [[name, property["default"]] as const]
        : [],
    );
    const declared = (schema["additionalProperties"] ?? true) as JsonSchema;
    const others = isClosed ? undefined : this.partOf(declared);
    if (!isClosed && within.length + defaults.length === 0 && others === undefined)
      return undefined;
    return {
      ...(document === undefined ? {} : { document }),
      members: isClosed ? properties.map(([name]) => name) : null,
      ...(within.length === 0 ? {} : { within: Object.fromEntries(within) }),
      ...(others === undefined ? {} : { others }),
      ...(defaults.length === 0 ? {} : { defaults: Object.fromEntries(defaults) }),
    };
  }

  /**
   * Objects of which values of members tell which one it is; undefined if anything else may be
   * among them.
   */
  #unionOf(options: readonly JsonSchema[]): UnionPart | undefined {
    const { guards, undecided } = branchesOf(options, (name) => this.#referred(name));
    if (undecided.length > 0) return undefined;
    const either = options.flatMap((option, index) => {
      const part = this.partOf(option);
      const is = valuesOf(guards[index]);
      return part === undefined || is === undefined ? [] : [{ is, part }];
    });
    return either.length === 0 ? undefined : { either };
  }

  #referred(reference: string): JsonSchema | undefined {
    return own(this.#model.types, reference.replace("#/types/", ""));
  }
}

/** The values by which members tell an object of a union; undefined if it is told otherwise. */
function valuesOf(
  guard: Guard | undefined,
): Readonly<Record<string, readonly unknown[]>> | undefined {
  const members = [...(guard?.members ?? [])];
  const told = members.flatMap(([name, { values, canLack }]) =>
    values === null || canLack ? [] : [[name, values] as const],
  );
  return told.length < members.length ? undefined : Object.fromEntries(told);
}
