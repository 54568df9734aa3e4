// opwright mcp with the official SDK's own client: which tools there are, and what guards they have.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Ajv2020, type SchemaObject } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formats } from "../../../runtime/contract/validation.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { cli } from "../../generator/cli.js";
import { writeProject } from "../../generator/scenario.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const root = new URL("../../..", import.meta.url).pathname;

describe("opwright mcp", () => {
  let service: TestService;
  let people: People;
  let ann: Member;
  let project = "";
  const clients: Client[] = [];
  beforeAll(async () => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    service = await startTestService(sqlite, { signsIn: false });
    people = peopleOf(service);
    ann = await people.member("", "tasks.read", "tasks.write", "projects.read", "projects.write");
    const made = await people.as(ann.token, "POST", "/projects", { name: "P", key: "PP" });
    project = made.body.id;
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await service.stop();
  });

  const open = async (token: string, ...flags: readonly string[]): Promise<Client> =>
    openIn(root, token, ...flags);
  const openIn = async (
    cwd: string,
    token: string,
    ...flags: readonly string[]
  ): Promise<Client> => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [`${root}bin/opwright.mjs`, "mcp", "--url", service.url, ...flags],
      cwd,
      env: { PATH: process.env["PATH"] ?? "", OPWRIGHT_TOKEN: token },
    });
    await client.connect(transport);
    clients.push(client);
    return client;
  };
  const textOf = (result: Awaited<ReturnType<Client["callTool"]>>): unknown => {
    const [first] = result.content as readonly { readonly text: string }[];
    return JSON.parse(first?.text ?? "null");
  };

  /** What the protocol assumes of a tool that says nothing (specification 2025-06-18, "ToolAnnotations"). */
  const assumed = { readOnlyHint: false, destructiveHint: true, idempotentHint: false };

  test("offers what only reads, with schemas and hints", async () => {
    const client = await open(ann.token);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["tasks-get", "tasks-list", "task_search-typed", "files-list"]),
    );
    for (const name of [
      "tasks-create",
      "tasks-kill",
      "authn-password_login",
      "api_keys-list",
      "files-download",
      "files-abort_upload",
      "files-presign_upload",
    ])
      expect(names).not.toContain(name);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const get = tools.find(({ name }) => name === "tasks-get");
    expect(get?.inputSchema).toMatchObject({ type: "object", required: ["id"] });
    const found = await client.callTool({ name: "projects-list", arguments: {} });
    expect(found.structuredContent).toMatchObject({ hits: [{ id: project, name: "P" }] });
    expect(textOf(found)).toEqual(found.structuredContent);
    await expect(client.callTool({ name: "tasks-create", arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("no tool") as unknown,
    });
  });

  test.each([
    ["all that reads", [], "values"],
    ["a few", ["--allow-writes", "--tools", "tasks.*"], "values"],
    ["everything, with less detail", ["--allow-writes"], "needed"],
  ])("lists %s in 20 KB", async (_what, flags, detail) => {
    const client = await open(ann.token, ...flags);
    const list = await client.listTools();
    expect(Buffer.byteLength(JSON.stringify(list))).toBeLessThanOrEqual(20_000);
    const { properties, required } =
      list.tools.find(({ name }) => name === "tasks-raw_list")?.inputSchema ?? {};
    expect(required).toEqual(["return_fields"]);
    const values = { type: "array", items: { enum: expect.arrayContaining(["title"]) as unknown } };
    expect(properties).toMatchObject(
      detail === "values"
        ? { return_fields: values, page: { type: "integer" } }
        : { return_fields: {} },
    );
    expect(Object.keys(properties ?? {}).includes("page")).toBe(detail === "values");
    const says = client.getInstructions()?.includes("only names the arguments that are needed");
    expect(says).toBe(detail === "needed");
    const told = textOf(
      await client.callTool({ name: "describe", arguments: { tool: "tasks-raw_list" } }),
    );
    expect(told).toMatchObject({
      inputSchema: { properties: { page: expect.anything() as unknown } },
    });
  });

  test("offers what writes where that is allowed, still without credentials", async () => {
    const client = await open(ann.token, "--allow-writes");
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["tasks-create", "tasks-comment"]));
    expect(names.filter((name) => /^(?:authn|api_keys|principals|tenants)-/.test(name))).toEqual(
      [],
    );
    const made = await client.callTool({
      name: "tasks-create",
      arguments: { title: "by a tool", project },
    });
    expect(made.structuredContent).toMatchObject({ title: "by a tool", state: "open" });
    const remove = tools.find(({ name }) => name === "tasks-delete");
    expect({ ...assumed, ...remove?.annotations }).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    });
    // Its Idempotency-Key is each call's own.
    const create = tools.find(({ name }) => name === "tasks-create");
    expect({ ...assumed, ...create?.annotations }).toMatchObject({
      destructiveHint: false,
      idempotentHint: false,
    });
    const faulty = await client.callTool({
      name: "tasks-create",
      arguments: { title: 1, project },
    });
    expect([faulty.isError, textOf(faulty)]).toEqual([
      true,
      expect.objectContaining({ code: "core.validation" }),
    ]);
  });

  test("offers what takes and answers anything as well", async () => {
    const project = writeProject({
      "registry/service.yaml":
        "registry: 1\nservice: {name: any, title: Any, version: 1.0.0}\npolicies: {open: []}\n",
      "registry/any.yaml":
        "registry: 1\noperations:\n  any.echo: {post: /echo, in: {payload: true}, out: {payload: true}, run: registry/echo.ts#echo, guard: open}\n",
      "registry/echo.ts": "export const echo = (input: object) => input;\n",
    });
    const client = await openIn(project.root, "", "--allow-writes");
    const { tools } = await client.listTools();
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema.properties])).toEqual([
      ["describe", { tool: { type: "string" } }],
      ["any-echo", { payload: {} }],
    ]);
    project.remove();
  });

  test("lists its tools in under 20 KB, and tells the language of filters once", async () => {
    const client = await open(ann.token);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(40);
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(20_000);
    expect(JSON.stringify(tools)).not.toMatch(/\$(?:eq|and|values|sum)/);
    for (const told of ["$values", "$and", "$in", "$any", "$groups"])
      expect(client.getInstructions()).toContain(told);
    const writing = await open(ann.token, "--allow-writes");
    const all = await writing.listTools();
    expect(Buffer.byteLength(JSON.stringify(all.tools))).toBeLessThan(30_000);
    // What the instructions say is what the service takes.
    const filters = {
      $and: [
        { $values: { name: { $ilike: "p%" }, key: ["PP", "QQ"] } },
        { $not: { $values: { key: null } } },
      ],
    };
    const found = await client.callTool({
      name: "projects-list",
      arguments: { filters, sorts: { name: "desc" }, size: 1 },
    });
    expect(found.structuredContent).toMatchObject({ hits: [{ id: project }] });
  });

  test("describes each tool by whole schemas, which its arguments and answers fit", async () => {
    const chosen = ["tasks.*", "task_search.typed", "files.*", "projects.list"];
    const client = await open(ann.token, "--allow-writes", "--tools", ...chosen);
    const { tools } = await client.listTools();
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
    for (const { name, inputSchema } of tools.filter(({ name }) => name !== "describe")) {
      const whole = await client.callTool({ name: "describe", arguments: { tool: name } });
      const schemas = textOf(whole) as {
        readonly inputSchema: SchemaObject;
        readonly outputSchema?: SchemaObject;
      };
      const validate = ajv.compile(schemas.inputSchema);
      ajv.compile(schemas.outputSchema ?? {});
      // What is listed asks for the same members.
      validate({});
      const missing = (validate.errors ?? []).flatMap(
        ({ params }) => (params as { readonly missingProperty?: string }).missingProperty ?? [],
      );
      expect([name, missing.sort()]).toEqual([name, (inputSchema.required ?? []).toSorted()]);
    }
    const listed = await client.callTool({ name: "projects-list", arguments: {} });
    const { outputSchema } = textOf(
      await client.callTool({ name: "describe", arguments: { tool: "projects-list" } }),
    ) as { readonly outputSchema: SchemaObject };
    expect([ajv.validate(outputSchema, listed.structuredContent), ajv.errorsText()]).toEqual([
      true,
      "No errors",
    ]);
    const unknown = await client.callTool({ name: "describe", arguments: { tool: "tasks-none" } });
    expect(unknown.isError).toBe(true);
  });

  test("refuses arguments that are wrong, as the service does, and names their place", async () => {
    const client = await open(ann.token);
    for (const [name, given] of [
      ["projects-list", { filters: { $values: { nothing: 1 } } }],
      ["projects-list", { size: "x" }],
      ["projects-get", { id: "x" }],
    ] as const) {
      const refused = await client.callTool({ name, arguments: given });
      expect([refused.isError, textOf(refused)]).toEqual([
        true,
        expect.objectContaining({
          code: expect.stringMatching(/^(?:core\.validation|path_malformed|query_|field_)/),
        }),
      ]);
    }
  });

  test("offers the operations that are chosen", async () => {
    const namesOf = async (...flags: readonly string[]): Promise<readonly string[]> => {
      const client = await open(ann.token, "--tools", ...flags);
      return (await client.listTools()).tools.map(({ name }) => name);
    };
    expect(await namesOf("projects.get", "task_search.*")).toEqual([
      "describe",
      "projects-get",
      "task_search-raw",
      "task_search-raw_cursor",
      "task_search-typed",
      "task_search-typed_cursor",
    ]);
    expect(await namesOf("projects.*e", "--allow-writes")).toEqual([
      "describe",
      "projects-create",
      "projects-delete",
      "projects-restore",
      "projects-update",
    ]);
    const refused = async (...flags: readonly string[]) =>
      await cli(root, "mcp", "--tools", ...flags);
    expect(await refused("projects.create")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--allow-writes"),
    });
    expect(await refused("project.*")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("names no operation"),
    });
  });

  test("has the guards of the service", async () => {
    const ben = await people.member(ann.tenantId, "projects.read");
    for (const [token, code] of [
      [ben.token, "core.authorization"],
      ["nonsense", "core.authentication"],
    ] as const) {
      const client = await open(token);
      const refused = await client.callTool({ name: "tasks-list", arguments: {} });
      expect([refused.isError, textOf(refused)]).toEqual([true, expect.objectContaining({ code })]);
    }
  });
});
