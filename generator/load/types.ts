// Types: field maps, shorthand and JSON Schema, brought into one table of schemas whose every $ref
// is #/types/<Name>.
import { posix } from "node:path";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { inside, type Finding, type Origin, type Report } from "../diagnostics/diagnostics.js";
import {
  isNullable,
  listKeywords,
  mapKeywords,
  objectSchema,
  refTo,
  schemaKeywords,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { pascalCase } from "../model/names.js";
import { contradictions } from "./contradictions.js";
import { readDeprecation } from "./deprecations.js";
import { conditionsAmong, halfCondition } from "./conditions.js";
import { DeclaredTypes, type TypeEntry } from "./declared-types.js";
import { extendsKeyword, readExtension } from "./extensions.js";
import { reservedTypeNames } from "./reserved-type-names.js";
import { readReferences, refusesReferences } from "./document-references.js";
import {
  fieldNameAdvice,
  noFieldType,
  readFieldType,
  refusesFields,
  refusesObjects,
  warnOfFieldsTakenForSchema,
  warnOfListOfType,
  type KnownNames,
} from "./field-types.js";
import { shownValue } from "./flow-text.js";
import { formerKeywords, isFormerKeyword } from "./former-names.js";
import { undeclaredRequired } from "./required-names.js";
import { decodeText, fileReference, SchemaFiles } from "./schema-files.js";
import { keywordFault } from "./keyword-faults.js";
import { subschemaAdvice } from "./schema-advice.js";
import { readDecimal } from "./decimals.js";
import { isJsonSchema, isPattern } from "./schema-keywords.js";
import { isMap } from "./shape.js";
import { TypeTable } from "./type-table.js";
import { laterKeyword } from "./written-later.js";
import { isDescribed, readValues } from "./value-lists.js";
/** Where local references (#/$defs/x) of a schema lead. */
interface Root {
  /** Definitions are hoisted to types whose names begin with this. */
  readonly typeName: string;
  readonly value: unknown;
  readonly at: Origin;
}

/** A regular expression of a schema. */
export interface PatternMention {
  readonly source: string;
  readonly at: Origin;
}

/** Reads types and fields, and keeps the table of all named types. */
export class TypeReader {
  readonly table: TypeTable;
  readonly #known: KnownNames;
  readonly #schemaFiles: SchemaFiles;
  readonly #report: Report;
  readonly #files = new Map<string, string>();
  readonly #declared = new DeclaredTypes(
    (name, { value, at }) => this.#declare(name, value, at),
    (name) => this.table.schemas.get(name),
  );
  /** Patterns of all schemas, where they stand. */
  readonly patterns: PatternMention[] = [];

  constructor(
    declared: Iterable<string>,
    documents: readonly string[],
    options: { readonly project: string; readonly folder: string; readonly report: Report },
  ) {
    this.#known = { types: new Set(declared), documents };
    this.table = new TypeTable(this.#known.types, options.report);
    this.#schemaFiles = new SchemaFiles(options);
    this.#report = options.report;
  }

  /** Texts of the JSON Schema files that were read, for code frames. */
  get texts(): ReadonlyMap<string, string> {
    return this.#schemaFiles.texts;
  }

  /** Reads all entries of `types:` into the table. */
  declare(entries: Readonly<Record<string, TypeEntry>>): void {
    this.#declared.readAll(entries);
  }

  #declare(name: string, value: unknown, at: Origin): JsonSchema {
    this.table.origins.set(name, at);
    if (reservedTypeNames.includes(name)) {
      this.#report({
        code: "OPW003",
        message: `${name} is a name of opwright's own`,
        at: { ...at, isKey: true },
      });
    }
    const file =
      isMap(value) && Object.keys(value).length === 1 ? fileReference(value["$ref"]) : undefined;
    // A type that is a file's root gives the file its name.
    if (file !== undefined && file.pointer === "") this.#files.set(file.path, name);
    this.table.schemas.set(name, true);
    const schema =
      file !== undefined && file.pointer === ""
        ? this.#fileSchema(file.path, name, at)
        : this.readType(value, at, name);
    this.table.schemas.set(name, schema);
    return schema;
  }

  /** A declared type as it was read, without base fields. */
  declared(name: string): JsonSchema | undefined {
    return this.#declared.fieldsOf(name);
  }

  /** Reads a type: a shorthand, a list of values, a map of fields, or a JSON Schema. */
  readType(value: unknown, at: Origin, typeName: string): JsonSchema {
    if (refusesReferences(value, typeName, at, this.#report)) return true;
    const isSchema = isMap(value) && isJsonSchema(value);
    if (isSchema) warnOfFieldsTakenForSchema(value, this.#known.types, at, this.#report);
    if (!isMap(value) || isSchema) return this.readField(value, at, { typeName, value, at });
    return this.#readFields(value, at, typeName);
  }

  #readFields(
    fields: Readonly<Record<string, unknown>>,
    at: Origin,
    typeName: string,
  ): SchemaObject {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    const conditions = conditionsAmong(fields);
    const half = halfCondition(fields, at);
    if (half !== undefined) this.#report(half);
    const base = readExtension(fields, this.#known.types, at, this.#report);
    for (const [name, field] of Object.entries(fields)) {
      if (Object.hasOwn(conditions, name)) continue;
      if (base !== undefined && name === extendsKeyword) continue;
      const path = inside(at, name);
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name in {}) {
        this.#report({
          code: "OPW025",
          message: `${JSON.stringify(name)} cannot be a field`,
          at: { ...path, isKey: true },
          ...fieldNameAdvice(name),
        });
        // It is known all the same, to whatever names it.
        if (!/^[A-Za-z_][\w-]*$/.test(name) || name in {}) continue;
      }
      const schema = this.readField(field, path, { typeName, value: field, at: path });
      properties[name] = schema;
      const hasDefault = typeof schema === "object" && "default" in schema;
      if (!isNullable(schema) && !hasDefault) required.push(name);
    }
    const said = this.#readSchema(conditions, at, { typeName, value: fields, at });
    const whole = { ...objectSchema(properties, required), ...(said as SchemaObject) };
    return base === undefined ? whole : this.#declared.extend(base, whole, at, this.#report);
  }

  /** Reads one field: a shorthand, a list of values, or a JSON Schema. */
  readField(value: unknown, at: Origin, root: Root): JsonSchema {
    if (typeof value === "string") return readFieldType(value, this.#known, at, this.#report);
    const references = readReferences(value, at, this.#known.documents, this.#report);
    if (references !== undefined) return references;
    if (Array.isArray(value)) {
      if (refusesObjects(value, at, this.#report)) return true;
      warnOfListOfType(value, this.#known.types, at, this.#report);
      return this.#readEnum(value, at);
    }
    if (typeof value === "boolean" || isMap(value)) return this.#readSchema(value, at, root);
    this.#report(noFieldType(value, at));
    return true;
  }

  #readEnum(items: readonly unknown[], at: Origin): JsonSchema {
    const schema = readValues(items, at, this.#report);
    if (schema !== undefined) return schema;
    this.#report({
      code: "OPW013",
      message: "a list of values needs one or more different scalars",
      at,
    });
    return true;
  }

  #readSchema(
    schema: boolean | Readonly<Record<string, unknown>>,
    at: Origin,
    root: Root,
  ): JsonSchema {
    if (typeof schema === "boolean") return schema;
    if (refusesFields(schema, at, this.#report)) return true;
    const result: Record<string, unknown> = {};
    const { decimal, ...others } = schema;
    // Behind its bounds, which it may narrow.
    const all = decimal === undefined ? schema : { ...others, decimal };
    for (const [keyword, value] of Object.entries(all)) {
      const path = inside(at, keyword);
      if (keyword.startsWith("x-")) {
        result[keyword] = value;
      } else if (keyword === "deprecated" && isMap(value)) {
        Object.assign(result, readDeprecation(value, path, this.#report));
      } else if (isFormerKeyword(keyword)) {
        if (this.#isSound(keyword, schema, path)) result[formerKeywords[keyword]] = value;
      } else if (keyword === "since") {
        if (this.#isSound(keyword, schema, path)) result[laterKeyword] = value;
      } else if (keyword === "decimal") {
        if (this.#isSound(keyword, schema, path))
          Object.assign(result, readDecimal(schema, path, this.#report));
      } else if (keyword === "enum" && Array.isArray(value) && value.some(isDescribed)) {
        Object.assign(result, this.#readEnum(value, path));
      } else if (keyword === "$ref") {
        Object.assign(result, this.#readRef(value, path, root));
      } else if (keyword === "$defs" || keyword === "$schema" || keyword === "$comment") {
        // Definitions are hoisted where they are referred to; the other two say nothing about
        // values.
        this.#isSound(keyword, schema, path);
      } else if (mapKeywords.has(keyword)) {
        if (keyword === "patternProperties") this.#readPatternKeys(value, path);
        result[keyword] = this.#readSchemas(value, path, root);
      } else if (listKeywords.has(keyword)) {
        result[keyword] = this.#readSchemaList(value, path, root);
      } else if (schemaKeywords.has(keyword)) {
        result[keyword] = this.#readSubschema(value, path, root);
      } else if (this.#isSound(keyword, schema, path)) {
        if (keyword === "pattern") this.patterns.push({ source: String(value), at: path });
        if (keyword === "required")
          this.#refusePrototypeNames(value as readonly string[], () => path);
        result[keyword] = value;
      }
    }
    for (const fault of undeclaredRequired(result, at)) this.#report(fault);
    for (const fault of contradictions(result, at)) this.#report(fault);
    return result;
  }

  #readPatternKeys(value: unknown, at: Origin): void {
    for (const source of isMap(value) ? Object.keys(value) : []) {
      const here = { ...inside(at, source), isKey: true };
      if (isPattern(source)) this.patterns.push({ source, at: here });
      else this.#report({ code: "OPW024", message: "must be a regular expression", at: here });
    }
  }

  /** A member that every JavaScript object seems to have can't be told from an absent one. */
  #refusePrototypeNames(names: readonly string[], at: (name: string) => Origin): void {
    for (const name of names) {
      if (!(name in {})) continue;
      this.#report({
        code: "OPW025",
        message: `${JSON.stringify(name)} cannot be a member`,
        at: at(name),
      });
    }
  }

  /** Whether a keyword and its value are sound; otherwise it is reported. */
  #isSound(keyword: string, schema: Readonly<Record<string, unknown>>, at: Origin): boolean {
    const fault = keywordFault(keyword, schema, at, this.#known.types);
    if (fault !== undefined) this.#report(fault);
    return fault === undefined;
  }

  #readSchemas(value: unknown, at: Origin, root: Root): Readonly<Record<string, JsonSchema>> {
    if (!isMap(value)) {
      this.#report({ code: "OPW024", message: "must be a map of schemas", at });
      return {};
    }
    this.#refusePrototypeNames(Object.keys(value), (name) => ({
      ...inside(at, name),
      isKey: true,
    }));
    const isOfMembers = at.path.at(-1) === "properties";
    const read = (inner: unknown, path: Origin): JsonSchema =>
      (isOfMembers
        ? readReferences(inner, path, this.#known.documents, this.#report)
        : undefined) ?? this.#readSubschema(inner, path, root);
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, read(inner, inside(at, name))]),
    );
  }

  #readSchemaList(value: unknown, at: Origin, root: Root): readonly JsonSchema[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#report({ code: "OPW024", message: "must be a list of schemas", at });
      return [true];
    }
    return value.map((inner, index) => this.#readSubschema(inner, inside(at, index), root));
  }

  #readSubschema(value: unknown, at: Origin, root: Root): JsonSchema {
    if (typeof value === "boolean" || isMap(value)) return this.#readSchema(value, at, root);
    const message = `must be a schema, not ${shownValue(value)}`;
    this.#report({ code: "OPW024", message, at, ...subschemaAdvice(value) });
    return true;
  }

  #readRef(value: unknown, at: Origin, root: Root): SchemaObject {
    const dangling = (suggestion?: Finding["suggestion"]): SchemaObject => {
      this.#report({
        code: "OPW021",
        message: `${JSON.stringify(value)} points to nothing`,
        at,
        suggestion,
      });
      return {};
    };
    if (typeof value !== "string") return dangling();
    const named = /^(?:#\/types\/)?([A-Z][A-Za-z0-9]*)$/.exec(value)?.[1];
    if (named !== undefined) {
      if (this.#known.types.has(named)) return refTo(named);
      return dangling(didYouMean(named, this.#known.types));
    }
    const file = fileReference(value);
    if (file !== undefined) return this.#readFileRef(file, at, dangling);
    const [, ofOpenApi] = /^#\/(?:components\/schemas|definitions)\/(\w+)$/.exec(value) ?? [];
    if (ofOpenApi !== undefined) return dangling(`#/types/${ofOpenApi}`);
    return this.#readLocalRef(value, at, root, dangling);
  }

  #readLocalRef(
    value: string,
    at: Origin,
    root: Root,
    dangling: (suggestion?: Finding["suggestion"]) => SchemaObject,
  ): SchemaObject {
    if (value === "#" && this.table.schemas.has(root.typeName)) return refTo(root.typeName);
    const definition = /^#\/\$defs\/([^/]+)$/.exec(value)?.[1];
    const definitions = isMap(root.value) ? root.value["$defs"] : undefined;
    if (definition === undefined || !isMap(definitions)) return dangling();
    const name = definition.replaceAll("~1", "/").replaceAll("~0", "~");
    const key = Object.hasOwn(definitions, name) ? name : decodeText(name);
    if (!Object.hasOwn(definitions, key))
      return dangling(didYouMean(key, Object.keys(definitions)));
    const typeName = `${root.typeName}${pascalCase(key)}`;
    const taken = (): SchemaObject => {
      this.#report({
        code: "OPW003",
        message: `this definition would be called ${typeName}, which is taken`,
        at,
      });
      return {};
    };
    if (this.#known.types.has(typeName)) return taken();
    const origin = { file: root.at.file, path: [...root.at.path, "$defs", key] };
    if (!this.table.schemas.has(typeName)) {
      this.table.schemas.set(typeName, true);
      this.table.origins.set(typeName, origin);
      this.table.schemas.set(typeName, this.#readSubschema(definitions[key], origin, root));
    } else if (JSON.stringify(this.table.origins.get(typeName)) !== JSON.stringify(origin)) {
      return taken();
    }
    return refTo(typeName);
  }

  #readFileRef(
    file: { readonly path: string; readonly pointer: string },
    at: Origin,
    dangling: (suggestion?: Finding["suggestion"]) => SchemaObject,
  ): SchemaObject {
    const path = this.#schemaFiles.resolve(file.path, at);
    if (path === undefined) return dangling();
    let typeName = this.#files.get(path);
    if (typeName === undefined) {
      typeName = pascalCase(posix.basename(path).replace(/\.json$/, ""));
      if (/^\d/.test(typeName)) typeName = `Schema${typeName}`;
      while (this.table.schemas.has(typeName) || this.#known.types.has(typeName)) {
        typeName = `${typeName}Schema`;
      }
      this.#files.set(path, typeName);
      this.table.schemas.set(typeName, true);
      this.table.origins.set(typeName, { file: path, path: [] });
      this.table.schemas.set(typeName, this.#fileSchema(path, typeName, at));
    }
    if (file.pointer === "") return refTo(typeName);
    const value = this.#schemaFiles.read(path, at);
    const root = { typeName, value, at: { file: path, path: [] } };
    return this.#readLocalRef(`#${file.pointer}`, at, root, dangling);
  }

  #fileSchema(path: string, typeName: string, at: Origin): JsonSchema {
    const resolved = this.#schemaFiles.resolve(path, at);
    if (resolved === undefined) {
      this.#report({ code: "OPW021", message: `there is no file ${path}`, at: inside(at, "$ref") });
      return true;
    }
    const value = this.#schemaFiles.read(resolved, at);
    if (value === undefined) return true;
    const origin = { file: resolved, path: [] };
    this.#files.set(resolved, typeName);
    return this.#readSubschema(value, origin, { typeName, value, at: origin });
  }
}
