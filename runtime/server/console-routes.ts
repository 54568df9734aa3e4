// What the console asks for beside the service's own operations: what its user may do, and what the
// process knows of itself. They are operations like any other, but no document has them.
import { fail } from "../contract/errors.js";
import type { Exchange } from "../http/exchange.js";
import { isObject } from "../contract/json-pointer.js";
import type { ServiceCommand, ServiceAtWork, ServiceQuestion } from "../operations/family.js";
import type { PhaseHook } from "../operations/hooks.js";
import { nothing, params, parseWith, query, type InputBinding } from "../operations/input.js";
import { route, type AnyRoute } from "../operations/operation.js";
import { refusalsOf } from "../operations/refusals.js";
import type { KeptLog } from "./kept-log.js";
import type { Metrics } from "./metrics.js";

type Guard = PhaseHook<"before", unknown, never>;

export interface ConsoleParts {
  /** The service's own operations. */
  readonly routes: readonly AnyRoute[];
  readonly service: ServiceAtWork & { readonly pendingMigrations: readonly string[] };
  /** Who may see the process, and work on it. */
  readonly operator: readonly Guard[];
  /** Whether everybody may ask what they may do; otherwise only operators. */
  readonly isOpen: boolean;
  readonly commands: readonly ServiceCommand[];
  readonly questions: readonly ServiceQuestion[];
  readonly metrics: Metrics | null;
  readonly lines: Pick<KeptLog, "linesAfter">;
}

/** Lines of the log in one answer. */
const mostLines = 200;

/** The operations of the console, below `/console`. */
export function consoleRoutes(parts: ConsoleParts): readonly AnyRoute[] {
  const { service, operator, isOpen, metrics, lines } = parts;
  const commands = parts.commands.filter(({ summary }) => summary !== undefined);
  const ofOperator: AnyRoute[] = [
    consoleRoute("state", operator, nothing, async () => ({
      pending_migrations: service.pendingMigrations,
      metrics: metrics === null ? null : (await metrics.text()).text,
      commands: commands.map(({ name, usage = "", summary }) => ({ name, usage, summary })),
    })),
    consoleRoute("log", operator, params({ after: query.optional.integer }), ({ after = 0 }) => {
      const found = lines.linesAfter(after);
      return { lines: found.slice(0, mostLines), has_more: found.length > mostLines };
    }),
    ...parts.questions.map(({ name, ask }) => consoleRoute(name, operator, nothing, ask)),
    {
      ...consoleRoute("run", operator, commandInput, async ({ name, args }) => {
        const work = commands.find((command) => command.name === name)?.read(args);
        if (work === undefined) throw fail("core.not_found");
        if (work === null) throw invalid("/args", "they are not those of the command");
        return { output: await work(service) };
      }),
      method: "POST",
      path: "/console/commands",
      audit: ["name", "args"],
    },
  ];
  const access = consoleRoute("access", isOpen ? [] : operator, nothing, async (_, context) => ({
    refused: await refusalsOf([...parts.routes, ...ofOperator], context),
    own: ofOperator.map(({ operationId }) => operationId),
  }));
  return [access, ...ofOperator];
}

/** Tells exchanges that only ask how the process is, as the console does all the time. */
export function pollsOf(
  questions: readonly ServiceQuestion[],
): (exchange: Pick<Exchange, "operation" | "code">) => boolean {
  const names = ["state", "log", ...questions.map(({ name }) => name)];
  const polled = new Set<string | null>(names.map((name) => `console.${name}`));
  return ({ operation, code }) => code === null && polled.has(operation);
}

function consoleRoute<Input>(
  name: string,
  hooks: readonly Guard[],
  input: InputBinding<Input>,
  run: Parameters<typeof route<Input, object>>[0]["run"],
): AnyRoute {
  return route<Input, object>({
    operationId: `console.${name}`,
    method: "GET",
    path: `/console/${name}`,
    status: 200,
    input,
    hooks,
    transaction: "read",
    run,
  });
}

interface CommandCall {
  readonly name: string;
  readonly args: readonly string[];
}

const commandInput = parseWith<CommandCall>((body) => {
  const { name, args } = isObject(body) ? body : {};
  if (typeof name !== "string") throw invalid("/name", "must be a string");
  if (!Array.isArray(args) || !args.every((one) => typeof one === "string"))
    throw invalid("/args", "must be a list of strings");
  return { name, args };
});

function invalid(pointer: string, message: string): Error {
  return fail("core.validation", { errors: [{ path: pointer, keyword: "type", message }] });
}
