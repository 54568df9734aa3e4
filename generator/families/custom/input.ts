// The input of an author's operation: which members travel in the path, in the query, and in the
// body.
import type { FamilyContext } from "../../kernel/family.js";
import { placeholdersOf } from "../../kernel/placeholders.js";
import { resolveSchema, type Resolve } from "../../kernel/resolve.js";
import {
  isNullable,
  objectSchema,
  propertiesOf,
  referredType,
  requiredOf,
  withoutNull,
  type JsonSchema,
} from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import {
  bodyInput,
  usualBody,
  type BodyModel,
  type InputModel,
  type ParameterModel,
  type ParameterTypeName,
} from "../../model/registry.js";
import type { MethodKey, OperationDeclaration } from "./format.js";

/** How an input gets to the operation. */
interface Travel {
  readonly method: MethodKey;
  readonly path: string;
  /** A body that is no JSON. */
  readonly body: OperationDeclaration["body"];
}

/** The member of an input that has the bytes of a body. */
const bytesMember = "body";
const bytesSchema = { type: "string", format: "binary" } as const;

/**
 * Path placeholders come from the path; the rest from the body, or from the query where the method
 * has no body, or one of bytes.
 */
export function inputOf(
  context: FamilyContext,
  key: string,
  travel: Travel,
  schema: JsonSchema,
): InputModel {
  const { method, path, body: media } = travel;
  const typeName = referredType(schema) ?? `${pascalCase(key)}Input`;
  const resolve: Resolve = (type) => context.types.table.schemas.get(type);
  const body = resolveSchema(schema, resolve);
  const isSent = method === "post" || method === "put" || method === "patch";
  const isNamed = referredType(schema) !== undefined;
  if (media !== undefined) checkMedia(context, key, { isSent, isNamed, media }, body);
  const hasBody = isSent && media !== "raw";
  const placeholders = placeholdersOf(path);
  if (!hasNamedMembers(body)) {
    if (hasBody && media === undefined && placeholders.length === 0)
      return bodyInput(schema, typeName, "whole");
    const where = hasBody && media === "form" ? "a form" : "the URL";
    context.report({
      code: "OPW011",
      message: `an input that travels in ${where} must be an object with declared members`,
      at: context.tree.at("operations", key, "in"),
    });
  }
  const properties = propertiesOf(body);
  checkPlaceholders(context, key, method, placeholders, properties);
  const inUrl = Object.keys(properties).filter((name) => placeholders.includes(name) || !hasBody);
  const parameters = inUrl.flatMap((name): readonly ParameterModel[] =>
    parameterOf(context, key, name, {
      body,
      resolve,
      isInPath: placeholders.includes(name),
      hasBody,
    }),
  );
  if (media === "raw") return withBytes(key, { typeName, parameters }, body);
  const rest = Object.keys(properties).filter((name) => !inUrl.includes(name));
  if (media === "form" && hasBody && rest.length === 0 && hasNamedMembers(body))
    context.report({
      code: "OPW011",
      message: "a form has fields, and `in` declares none",
      at: context.tree.at("operations", key, "body"),
    });
  if (!hasBody || rest.length === 0)
    return { schema, typeName, parameters, body: null, read: "whole" };
  if (parameters.length === 0 && media === undefined) return bodyInput(schema, typeName, "whole");
  const members = objectSchema(
    Object.fromEntries(rest.map((name) => [name, properties[name] ?? true])),
    requiredOf(body).filter((name) => rest.includes(name)),
  );
  return {
    schema,
    typeName,
    parameters,
    body: {
      as: "members",
      ...usualBody,
      ...(media === "form"
        ? {
            media: "application/x-www-form-urlencoded",
            fields: fieldsOf(context, key, rest, properties, resolve),
          }
        : {}),
      schema: members,
      typeName: parameters.length === 0 ? typeName : `${pascalCase(key)}Body`,
    },
    read: "whole",
  };
}

/** An input with the bytes of its body as one further member. */
function withBytes(
  key: string,
  { typeName, parameters }: Pick<InputModel, "typeName" | "parameters">,
  input: JsonSchema,
): InputModel {
  const schema = objectSchema({ ...propertiesOf(input), [bytesMember]: bytesSchema }, [
    ...requiredOf(input),
    bytesMember,
  ]);
  return {
    schema,
    typeName,
    parameters,
    body: {
      as: { member: bytesMember },
      ...usualBody,
      media: "*/*",
      schema: bytesSchema,
      typeName: `${pascalCase(key)}Body`,
    },
    read: "whole",
  };
}

/** Reports placeholders that stand twice, and those that the input doesn't have. */
function checkPlaceholders(
  { tree, report }: FamilyContext,
  key: string,
  method: MethodKey,
  placeholders: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
): void {
  const at = tree.at("operations", key, method);
  for (const [index, name] of placeholders.entries()) {
    if (placeholders.indexOf(name) !== index)
      report({ code: "OPW044", message: `{${name}} stands twice in the path`, at });
    if (Object.hasOwn(properties, name)) continue;
    report({
      code: "OPW044",
      message: `{${name}} is in the path, but \`in\` has no such member`,
      at,
      hint: `Declare it: \`in: {${name}: uuid}\`, or another type of a single value.`,
    });
  }
}

/** A member of the input that travels in the URL. Reports one that can't, and gives none then. */
function parameterOf(
  { tree, report }: FamilyContext,
  key: string,
  name: string,
  of: {
    readonly body: JsonSchema;
    readonly resolve: Resolve;
    readonly isInPath: boolean;
    readonly hasBody: boolean;
  },
): readonly ParameterModel[] {
  const { body, resolve, isInPath, hasBody } = of;
  const property = propertiesOf(body)[name] ?? true;
  const schema = resolveSchema(withoutNull(property), resolve);
  const type = parameterType(schema) ?? (isInPath ? undefined : listType(schema, resolve));
  if (type === undefined || (isInPath && isNullable(property))) {
    const hint = "Use a method with a body, such as `post`, or a type of a single value.";
    report({
      code: "OPW045",
      message: `${name} cannot travel in the ${isInPath ? "path" : "query"}`,
      at: tree.at("operations", key, "in", name),
      ...(isInPath || hasBody ? {} : { hint }),
    });
    return [];
  }
  const required = isInPath || requiredOf(body).includes(name);
  return [{ name, in: isInPath ? "path" : "query", type, required, schema: property }];
}

/** The types of a form's fields. Reports those that no text stands for. */
function fieldsOf(
  { tree, report }: FamilyContext,
  key: string,
  names: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
  resolve: Resolve,
): BodyModel["fields"] {
  const fields: Record<string, ParameterTypeName> = {};
  for (const name of names) {
    const type = parameterType(resolveSchema(withoutNull(properties[name] ?? true), resolve));
    if (type !== undefined) fields[name] = type;
    else
      report({
        code: "OPW045",
        message: `${name} cannot travel in a form`,
        at: tree.at("operations", key, "in", name),
        hint: "Give it the type of a single value, such as `string` or `integer`.",
      });
  }
  return fields;
}

interface CheckedBody {
  readonly media: "raw" | "form";
  /** Whether the method has a body. */
  readonly isSent: boolean;
  /** Whether `in` is a type's name. */
  readonly isNamed: boolean;
}

/** Reports a body of bytes or a form where the operation can't take one. */
function checkMedia(
  { tree, report }: FamilyContext,
  key: string,
  { isSent, isNamed, media }: CheckedBody,
  input: JsonSchema,
): void {
  const refuse = (message: string, member: string): void =>
    report({ code: "OPW016", message, at: tree.at("operations", key, member) });
  if (!isSent) refuse("only post, put and patch have a body", "body");
  if (media === "form") return;
  if (Object.hasOwn(propertiesOf(input), bytesMember))
    refuse("the bytes are `input.body`, so `in` cannot have a member `body`", "in");
  if (isNamed) refuse("beside `body: raw`, `in` has fields and no type's name", "in");
}

/** Whether the schema is a closed object, whose members can be told apart one by one. */
function hasNamedMembers(schema: JsonSchema): boolean {
  return (
    typeof schema === "object" &&
    schema["type"] === "object" &&
    schema["additionalProperties"] === false &&
    !["allOf", "anyOf", "oneOf", "not", "patternProperties"].some((keyword) => keyword in schema)
  );
}

function parameterType(schema: JsonSchema): ParameterTypeName | undefined {
  if (typeof schema === "boolean") return undefined;
  const { enum: values } = schema;
  const isTexts =
    Array.isArray(values) && values.every((one) => typeof one === "string" || one === null);
  const declared = schema["type"] ?? (isTexts ? "string" : undefined);
  const type = Array.isArray(declared) ? declared.filter((name) => name !== "null") : [declared];
  if (type.length !== 1) return undefined;
  if (type[0] === "string") return schema["format"] === "uuid" ? "uuid" : "string";
  if (type[0] === "integer" || type[0] === "number" || type[0] === "boolean") return type[0];
  return undefined;
}

/** A list of texts travels in the query as one text, with commas between its items. */
function listType(schema: JsonSchema, resolve: Resolve): ParameterTypeName | undefined {
  if (typeof schema === "boolean" || schema["type"] !== "array" || "prefixItems" in schema)
    return undefined;
  const item = parameterType(resolveSchema((schema["items"] ?? true) as JsonSchema, resolve));
  return item === "string" || item === "uuid" ? "list" : undefined;
}
