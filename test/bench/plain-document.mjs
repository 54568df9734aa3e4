// A plain OpenAPI document of the operations that `registryOf` declares: one schema for each input and each output,
// without the query language. What a generator of types alone has to read.

import { perDocument, usualShare } from "./registry-of.mjs";

const uuid = { type: "string", format: "uuid" };
const dateTime = { type: "string", format: "date-time" };
const nullable = (schema) => ({ ...schema, type: [schema.type, "null"] });
const object = (properties, optional = []) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const itemFields = (index) => ({
  title: { type: "string", minLength: 1, maxLength: 100 + index },
  state: { type: "string", enum: ["open", "doing", "done"] },
  owner: uuid,
  reviewer: nullable(uuid),
  due: nullable(dateTime),
  size: { type: "number", minimum: 0 },
  labels: { type: "array", items: { type: "string" } },
});
const stored = (index) => ({
  id: uuid,
  rev: { type: "integer" },
  created_at: dateTime,
  updated_at: dateTime,
  deleted_at: nullable(dateTime),
  ...itemFields(index),
});

/** The operations of a document: name, method, path, members of the input, members of the output. */
function documentOperations(index) {
  const fields = itemFields(index);
  const answer = stored(index);
  const item = { type: "object", properties: answer };
  const query = {
    filter: { type: "object", additionalProperties: true },
    sort: { type: "array", items: { type: "string", enum: Object.keys(answer) } },
    with_deleted: { type: "boolean" },
  };
  const paged = { ...query, page: { type: "integer", minimum: 1 }, limit: { type: "integer" } };
  const walked = { ...query, cursor: { type: "string" }, limit: { type: "integer" } };
  const page = { items: { type: "array", items: item }, total: { type: "integer" } };
  const walk = { items: { type: "array", items: item }, next: nullable({ type: "string" }) };
  const rev = { rev: { type: "integer" } };
  return [
    ["create", "post", "", fields, answer],
    ["get", "get", "/{id}", undefined, answer],
    ["update", "patch", "/{id}", { ...fields, ...rev }, answer],
    ["delete", "post", "/{id}/delete", rev, answer],
    ["restore", "post", "/{id}/restore", rev, answer],
    ["kill", "post", "/{id}/kill", rev, answer],
    ["list", "post", "/list", paged, page],
    ["list_cursor", "post", "/list_cursor", walked, walk],
    ["raw_list", "post", "/raw_list", paged, page],
    ["raw_list_cursor", "post", "/raw_list_cursor", walked, walk],
    ["agg_list", "post", "/agg_list", { ...query, by: { type: "string" } }, page],
  ];
}

/** The document, for as many operations as the registry of that size and share declares. */
export function plainDocument(count, share = usualShare) {
  const paths = {};
  const schemas = {
    Error: object({ error: object({ code: { type: "string" }, message: { type: "string" } }) }),
  };
  const failure = {
    description: "The error",
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
  const content = (name, schema) => {
    schemas[name] = schema;
    return { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } };
  };
  const add = (tag, name, method, path, input, output) => {
    const title = `${tag}_${name}`;
    paths[path] ??= {};
    paths[path][method] = {
      operationId: title,
      tags: [tag],
      summary: `${name} of ${tag}`,
      ...(path.includes("{id}") && {
        parameters: [{ name: "id", in: "path", required: true, schema: uuid }],
      }),
      ...(input && {
        requestBody: { required: true, content: content(`${title}_input`, object(input)) },
      }),
      responses: {
        200: { description: "The answer", content: content(`${title}_output`, object(output)) },
        404: failure,
        422: failure,
        500: failure,
      },
    };
  };
  const documents = Math.round((count * share) / perDocument);
  for (let index = 0; index < documents; index += 1) {
    const tag = `item${String(index).padStart(3, "0")}`;
    for (const [name, method, path, input, output] of documentOperations(index))
      add(tag, name, method, `/${tag}${path}`, input, output);
  }
  for (let number = 0; number < count - documents * perDocument; number += 1) {
    const tag = `job${String(Math.floor(number / 10)).padStart(3, "0")}`;
    const input = {
      rev: { type: "integer" },
      note: nullable({ type: "string" }),
      count: { type: "integer", minimum: 0, maximum: 1_000 + number },
      tags: { type: "array", items: { type: "string" } },
    };
    const output = { done: { type: "boolean" }, left: { type: "integer" } };
    add(tag, `run${number}`, "post", `/${tag}/{id}/run${number}`, input, output);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Large API", version: "1.0.0" },
    paths,
    components: { schemas },
  };
}
