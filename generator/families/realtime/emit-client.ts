// client/realtime.ts: typed events and commands of the realtime plane, over connections that are
// the same for every service.
import { deprecationTag } from "../../model/deprecation.js";
import { objectSchema, type JsonSchema } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import { own } from "../../model/records.js";
import type { OperationModel, RegistryModel } from "../../model/registry.js";
import { clientParts, type ClientParts } from "../../kernel/family.js";
import { header } from "../../print/file.js";
import {
  blockLayout,
  docComment,
  importOf,
  importStatements,
  listLayout,
  literal,
} from "../../print/layout.js";
import { print } from "../../print/templates.js";
import { typeDeclaration } from "../../print/type-text.js";
import { hasInput, operationMembers, resultTypeOf } from "../../print/client-operation.js";
import { moduleOfType, withoutBuiltIn, codeType } from "../../print/client-types.js";
import { inputTypeOf } from "../../model/operation-types.js";

const core = [
  "port",
  "platform",
  "page",
  "pause",
  "renewal",
  "report-errors",
  "hold-back",
  "inbox",
  "lane",
  "memory",
  "commands",
  "connect",
  "lead-lock",
  "leader",
  "live",
  "own-line",
  "place",
  "presence",
  "relayed-commands",
  "share-connection",
  "shared-line",
  "tab-life",
  "tab-messages",
  "tab-topics",
  "topics",
  "watch",
];
const transportFiles = { socketio: "socketio", sse: "sse", websocket: "websocket" } as const;
/** Files that a transport needs besides its own. */
const transportParts = {
  socketio: ["span"],
  sse: ["event-stream", "handover"],
  websocket: ["span"],
} as const;
/** The version of socket.io-client that the client is tested with. */
const socketIoRange = "^4.8.0";

const count: JsonSchema = { type: "integer" };
const text: JsonSchema = { type: "string" };

/** The typed plane, and the files of its transports. */
export function realtimeClient(
  model: RegistryModel,
  modules: ReadonlyMap<string, string>,
): ClientParts {
  const { realtime } = model;
  if (realtime === null) return clientParts({});
  const transports = realtime.transports.map((name) => transportFiles[name]).sort();
  const events = Object.entries(realtime.events);
  const commands = Object.entries(realtime.commands).flatMap(([name, key]) => {
    const operation = own(model.operations, key);
    return operation === undefined ? [] : [{ name, operation }];
  });
  const typed = modulesOf(modules);
  const members = events.map(([name, { typeName, deprecated }]) => ({
    name,
    type: typed.name(typeName),
    comment: deprecated === null ? [] : [docComment("  ", deprecationTag(deprecated))],
  }));
  const called = commands.map(({ name, operation }) => ({
    name,
    operation,
    input: hasInput(operation) ? typed.name(inputTypeOf(operation), operation) : "unknown",
    output: typed.name(resultTypeOf(operation), operation),
    code: typed.name(codeType(operation.key, model), operation),
  }));
  const parts = new Set(transports.flatMap((name) => transportParts[name]));
  return clientParts({
    copied: [...core, ...transports, ...parts].map((part) => `realtime/${part}`),
    entries: ["realtime"],
    peers: realtime.transports.includes("socketio") ? { "socket.io-client": socketIoRange } : {},
    example: (name) =>
      print("client/realtime.md", { name, ...shownTransport(realtime.transports) }),
    printed: [
      {
        path: "client/realtime.ts",
        text: print("client/realtime.ts", {
          header: header("registry"),
          imports: typed.imports(),
          transports,
          events: [
            ...members.flatMap(({ name, type, comment }) => [
              ...comment,
              `  readonly ${literal(name)}: ${type};`,
            ]),
            ...builtIn(realtime.presence),
          ],
          commands: blockLayout(
            called.flatMap(({ name, input, output, code }) => [
              `  readonly ${literal(name)}: {`,
              `    readonly input: ${input};`,
              `    readonly output: ${output};`,
              `    readonly code: ${code};`,
              "  };",
            ]),
          ),
          path: literal(realtime.path),
          operations: blockLayout(
            commands.map(({ name, operation }) =>
              listLayout(
                "    ",
                `${literal(name)}: `,
                operationMembers(operation),
                ["{", "}"],
                ",",
              ),
            ),
            "  ",
          ),
        }),
      },
    ],
  });
}

/**
 * The transport that the README shows: WebSocket if the service has it, then Server-Sent Events,
 * then Socket.IO.
 */
function shownTransport(transports: readonly string[]) {
  if (transports.includes("websocket"))
    return { transport: "webSocket", transportArgument: "", transportImport: "" };
  if (transports.includes("sse"))
    return { transport: "sse", transportArgument: "", transportImport: "" };
  const transportImport = 'import { io } from "socket.io-client";';
  return { transport: "socketIo", transportArgument: "io", transportImport };
}

/**
 * Refers to types through their modules (`$models.Task`), so that they can't clash with what this
 * file declares.
 */
function modulesOf(modules: ReadonlyMap<string, string>): {
  name(type: string, operation?: OperationModel): string;
  imports(): readonly string[];
} {
  const used = new Map<string, string>();
  return {
    name(type, operation) {
      if (withoutBuiltIn([type]).length === 0) return type;
      const namespace = operation?.namespace ?? "models";
      const module = modules.get(type) ?? namespace;
      const alias = module === "models" ? "$models" : `$api${pascalCase(module)}`;
      used.set(alias, moduleOfType(type, namespace, modules, "."));
      return `${alias}.${type}`;
    },
    imports: () =>
      importStatements(
        [...used].sort().map(([alias, from]) => importOf(`* as ${alias}`, from, true)),
      ),
  };
}

/** Interface members for the runtime's own events. */
function builtIn(hasPresence: boolean): readonly string[] {
  const moved = { topic: text, principal: text, count };
  const schemas: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
    "realtime.gap": { from: count, to: count, topics: { type: "array", items: text } },
    "realtime.removed": { topic: text, event: text, id: text },
    "realtime.unsubscribed": { topics: { type: "array", items: text }, code: text },
    ...(hasPresence
      ? {
          "realtime.joined": moved,
          "realtime.left": moved,
          "realtime.presence": { topic: text, principals: { type: "array", items: text }, count },
        }
      : {}),
  };
  const all = objectSchema(
    Object.fromEntries(
      Object.entries(schemas).map(([name, members]) => [
        name,
        objectSchema(
          members,
          // Only a loss on topics names some.
          Object.keys(members).filter((member) => name !== "realtime.gap" || member !== "topics"),
        ),
      ]),
    ),
    Object.keys(schemas),
  );
  return typeDeclaration("BuiltIn", all).split("\n").slice(1, -1);
}
