// opwright mcp: operations as tools of the Model Context Protocol, called on a running service with
// its own guards.
import { once } from "node:events";
import { createClient, call, ApiError, type Client } from "../../client/core.js";
import { operationOf } from "../print/client-operation.js";
import { checkRegistry } from "../pipeline/generate.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { packageVersion } from "../project/package-root.js";
import { exitCodes, UsageError, type ExitCode } from "./io.js";
import { describedTool, toolList, toolsOf, type ListDetail, type Tools } from "./mcp-tools.js";
import type { ConfiguredProject } from "./project.js";

/** JSON-RPC 2.0 §5.1: the caller asked for what there is not. */
const invalidParams = -32_602;

export interface McpFlags {
  /** Where the service is. */
  readonly url: string;
  /** Whether tools may change something. */
  readonly allowWrites?: boolean;
  /** Keys of operations that are tools, `*` standing for any characters; all where left out. */
  readonly tools?: readonly string[];
}

/**
 * Serves the operations of a registry over stdin and stdout until that ends. The caller is that of
 * `OPWRIGHT_TOKEN` (a bearer token) or `OPWRIGHT_API_KEY`. Throws `UsageError` if the SDK is not
 * installed or the registry is faulty.
 */
export async function runMcp(
  { project }: ConfiguredProject,
  { url, allowWrites = false, tools: patterns }: McpFlags,
): Promise<ExitCode> {
  const { expanded, findings } = await checkRegistry(project);
  if (findings.length > 0)
    throw new UsageError("the registry has findings: run `opwright check` first");
  if (!URL.canParse(url)) throw new UsageError(`${url} is no URL`);
  const { model } = expanded;
  const tools = toolsOf(model, { allowWrites, ...(patterns === undefined ? {} : { patterns }) });
  const list = toolList(tools, model, [describeTool]);
  const { Server, StdioServerTransport, CallToolRequestSchema, ListToolsRequestSchema } =
    await sdk();
  const client = clientOf(url, model);
  const server = new Server(
    { name: model.service.name, title: model.service.title, version: packageVersion() },
    { capabilities: { tools: {} }, instructions: instructionsOf(model, tools, list.detail) },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [describeTool, ...list.tools],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given = {} } = params;
    if (name === describeTool.name) return describeNamedTool(given["tool"], tools, model);
    const operation = tools.get(name);
    if (operation === undefined)
      throw Object.assign(new Error(`there is no tool ${name}`), { code: invalidParams });
    return answerOf(client, operation, given, signal);
  });
  await server.connect(new StdioServerTransport());
  await once(process.stdin, "end");
  await server.close();
  return exitCodes.fine;
}

/** The one tool that isn't an operation; the names of operations have a `-`. */
const describeTool = {
  name: "describe",
  description:
    "Full JSON Schemas of a tool: every argument with its bounds, what filters, sorts and aggregates can say of which field, and what it answers.",
  inputSchema: {
    type: "object" as const,
    properties: { tool: { type: "string" } },
    required: ["tool"],
  },
  annotations: { readOnlyHint: true },
};

function describeNamedTool(wanted: unknown, tools: Tools, model: RegistryModel) {
  const operation = tools.get(String(wanted));
  const text =
    operation === undefined
      ? `there is no tool ${String(wanted)}`
      : JSON.stringify(describedTool(String(wanted), operation, model));
  return { isError: operation === undefined, content: [{ type: "text" as const, text }] };
}

/** Instructions for the model about all tools. */
function instructionsOf({ service }: RegistryModel, tools: Tools, detail: ListDetail): string {
  const asksQueries = [...tools.values()].some(({ lists }) => lists !== null);
  return [
    `Tools are operations of ${service.title}. Arguments that are wrong are refused with the JSON Pointer of the fault; call describe with the name of a tool for its full schemas.`,
    ...(left[detail] === null
      ? []
      : [`There are many tools, so their list ${left[detail]}; describe has the rest.`]),
    ...(asksQueries ? [queryLanguage] : []),
  ].join("\n\n");
}

/** What a list with less detail leaves out. */
const left: Readonly<Record<ListDetail, string | null>> = {
  values: null,
  types: "has no values or formats of arguments",
  names: "only names arguments",
  needed: "only names the arguments that are needed",
};

const queryLanguage = `filters are {"$values": {field: constraint, …}}, where all constraints hold, or one of {"$and": [filters, …]}, {"$or": [filters, …]}, {"$not": filters}. A constraint is a value, a list of values of which one is meant, null, or operators that all hold: $eq $neq $gt $gte $lt $lte, $in $nin (lists), $null (true or false), $like $ilike (% and _) $regex for texts, $superset $subset $overlaps $disjoint $empty $any $all $none for arrays. {"$fields": {field: {"$gt": "other_field"}}} compares fields. Fields of nested objects are written a.b.
sorts are {field: "asc" or "desc", …}, first what counts most. Lists without a cursor take page (from 1) and size; lists by cursor take after or before: next_cursor or prev_cursor of the last page.
aggregates are {"$groups": {alias: field}, "$computed": {alias: {"$sum": field}}} with $count (of {}) $count_distinct $sum $avg $min $max $median and others; $having and sorts go by alias.`;

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

/** A client that sends its credentials where the service expects them. */
function clientOf(baseUrl: string, { identity }: RegistryModel): Client {
  const { OPWRIGHT_TOKEN: token, OPWRIGHT_API_KEY: key } = process.env;
  const headers: Record<string, string> = {};
  const ways = identity?.ingress ?? [];
  const bearer = ways.find((way) => way.kind === "bearer");
  if (bearer !== undefined && token !== undefined)
    headers[bearer.header] = `${bearer.scheme} ${token}`;
  for (const way of ways) {
    if (way.kind === "api_key" && key !== undefined) headers[way.header] = key;
  }
  return createClient({ baseUrl, headers });
}

/** The answer of an operation; an error of the service is an answer too, with its code. */
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
