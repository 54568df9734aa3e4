// opwright mcp: operations as tools of the Model Context Protocol, called on a running service with its own guards.
import { once } from "node:events";
import { createClient, call, ApiError, type Client } from "../../client/core.js";
import { isReading, operationOf, repeatsOf } from "../emit/client/operation.js";
import { bundled } from "../emit/validators.js";
import { checkRegistry } from "../generate.js";
import { propertiesOf, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { packageVersion } from "../package-root.js";
import { exitCodes, UsageError, type ExitCode } from "./io.js";
import type { ConfiguredProject } from "./project.js";

export interface McpFlags {
  /** Where the service is. */
  readonly url: string;
  /** Whether tools may change something. */
  readonly allowWrites?: boolean;
}

/**
 * Serves the operations of a registry over stdin and stdout until that ends. The caller is who `OPWRIGHT_TOKEN` (a bearer
 * token) or `OPWRIGHT_API_KEY` says. Throws `UsageError` where the SDK is not installed or the registry is faulty.
 */
export async function runMcp(
  { project }: ConfiguredProject,
  { url, allowWrites = false }: McpFlags,
): Promise<ExitCode> {
  const { expanded, findings } = await checkRegistry(project);
  if (findings.length > 0)
    throw new UsageError("the registry has findings: run `opwright check` first");
  if (!URL.canParse(url)) throw new UsageError(`${url} is no URL`);
  const { Server, StdioServerTransport, CallToolRequestSchema, ListToolsRequestSchema } =
    await sdk();
  const { model } = expanded;
  const operations = toolsOf(model, allowWrites);
  const client = clientOf(url, model);
  const server = new Server(
    { name: model.service.name, title: model.service.title, version: packageVersion() },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [...operations.values()].map((operation) => toolOf(operation, model)),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const operation = operations.get(params.name);
    if (operation === undefined) throw new Error(`there is no tool ${params.name}`);
    return answerOf(client, operation, params.arguments ?? {}, signal);
  });
  await server.connect(new StdioServerTransport());
  await once(process.stdin, "end");
  await server.close();
  return exitCodes.fine;
}

async function sdk() {
  try {
    const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/index.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ]);
    return { Server, StdioServerTransport, ...types };
  } catch (cause) {
    throw new UsageError(
      "opwright mcp needs the official SDK: npm install --save-dev @modelcontextprotocol/sdk",
      { cause },
    );
  }
}

/**
 * Operations that are tools: attached, in JSON, and not the runtime's own, which take and give credentials; those that only
 * read, unless writes are allowed.
 */
function toolsOf(model: RegistryModel, allowWrites: boolean): ReadonlyMap<string, OperationModel> {
  const isTool = (operation: OperationModel): boolean =>
    operation.route !== null && operation.isTool && (allowWrites || isReading(operation));
  return new Map(
    Object.values(model.operations)
      .filter(isTool)
      .map((operation) => [operation.key, operation]),
  );
}

function toolOf(operation: OperationModel, model: RegistryModel) {
  const { key, summary, description, input, output } = operation;
  const outputSchema = output.schema === null ? undefined : objectOf(output.schema, model);
  return {
    name: key,
    title: summary,
    description: description ?? summary,
    inputSchema: objectOf(input.schema, model) ?? { type: "object" as const },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: {
      readOnlyHint: isReading(operation),
      // Whatever changes something may undo something, but for what only adds.
      destructiveHint: operation.effect !== "reads" && operation.effect !== "adds",
      // One that honours a key is given another one by each call.
      idempotentHint: repeatsOf(operation) === "safe",
      openWorldHint: false,
    },
  };
}

/** A schema of objects as the protocol wants it, with its type at the root; undefined where it is of anything else. */
function objectOf(
  schema: JsonSchema,
  model: RegistryModel,
): (SchemaObject & { readonly type: "object" }) | undefined {
  const whole = bundled(schema, model);
  if (typeof whole === "boolean") return undefined;
  const name =
    String(whole["$ref"] ?? "")
      .split("/")
      .pop() ?? "";
  const types = (whole["$defs"] ?? {}) as Readonly<Record<string, SchemaObject>>;
  const root = whole["$ref"] === undefined ? whole : types[name];
  if (root?.["type"] !== "object") return undefined;
  // The protocol has no booleans for members.
  const properties = Object.entries(propertiesOf(whole)).map(([member, one]) =>
    typeof one === "boolean" ? [member, one ? {} : { not: {} }] : [member, one],
  );
  const members =
    whole["properties"] === undefined
      ? {}
      : { properties: Object.fromEntries(properties) as object };
  return { ...whole, ...members, type: "object" };
}

/** A client whose credentials travel where the service looks for them. */
function clientOf(baseUrl: string, { identity }: RegistryModel): Client {
  const { OPWRIGHT_TOKEN: token, OPWRIGHT_API_KEY: key } = process.env;
  const headers: Record<string, string> = {};
  for (const way of identity?.ingress ?? []) {
    if (way.kind === "bearer" && token !== undefined) headers[way.header] = `Bearer ${token}`;
    if (way.kind === "api_key" && key !== undefined) headers[way.header] = key;
  }
  return createClient({ baseUrl, headers });
}

/** What an operation answers; an error of the service is an answer too, with its code. */
async function answerOf(
  client: Client,
  operation: OperationModel,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) {
  try {
    const output = await call<unknown, string>(client, operationOf(operation), input, { signal });
    const content = [{ type: "text" as const, text: JSON.stringify(output ?? null) }];
    const isObject = typeof output === "object" && output !== null && !Array.isArray(output);
    return isObject
      ? { content, structuredContent: output as Record<string, unknown> }
      : { content };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message: detail, context } = error;
    const text = JSON.stringify({ code, detail, context });
    return { isError: true, content: [{ type: "text" as const, text }] };
  }
}
