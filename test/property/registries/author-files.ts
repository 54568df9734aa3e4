// The author's side of a random registry: every function that it names, of the type that the place asks for.
import { posix } from "node:path";
import { pascalCase } from "../../../generator/model/names.js";
import { hookPhases } from "../../../generator/model/vocabulary.js";

type Json = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value of each type that a registry may name a function or a value of. */
const ofType: Readonly<Record<string, string>> = {
  AppHandler: "(_req, _res, next) => next()",
  TokenVerifier: "() => null",
  TokenResolver: "() => null",
  ExternalSigner: '{ kid: "k", publicKeys: [], sign: (data) => data }',
  DecisionPort: "() => false",
  TopicAuthorizer: "(requested) => requested",
  OpenScopePort: "() => ({})",
  Destination: "async () => undefined",
  MailRenderer: "() => null",
  // What a body is of is the registry's: the function fails, and compiles.
  ErrorShape: '() => { throw new Error("no body"); }',
};

/** Which type a reference is of, by where it stands. */
function typeAt(path: readonly string[]): string | undefined {
  const [section, ...rest] = path;
  const place = `${section}.${rest.at(-1) ?? ""}`;
  const byPlace: Readonly<Record<string, string>> = {
    "service.app": "AppHandler",
    "identity.verifier": "TokenVerifier",
    "identity.resolver": "TokenResolver",
    "identity.signer": "ExternalSigner",
    "authorization.decide": "DecisionPort",
    "realtime.topics": "TopicAuthorizer",
    "outbox.destination": "Destination",
    "outbox.mail": "MailRenderer",
    "service.envelope": "ErrorShape",
  };
  return section === "scopes" ? "OpenScopePort" : byPlace[place];
}

interface Export {
  readonly name: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** The author's files by path, with one export for each reference of the registry. */
export function authorFiles(registry: Json): Readonly<Record<string, string>> {
  const files = new Map<string, Map<string, Export>>();
  for (const [reference, one] of referencesOf(registry, [])) {
    const [file = "", name = ""] = reference.split("#");
    const exports = files.get(file) ?? new Map<string, Export>();
    files.set(file, exports);
    if (!exports.has(name)) exports.set(name, one(file, name));
  }
  return Object.fromEntries(
    [...files].map(([file, exports]) => {
      const imports = [...exports.values()].flatMap((one) => one.imports);
      const text = [...exports.values()].map((one) => one.text);
      return [file, [...new Set(imports), ...text, ""].join("\n")];
    }),
  );
}

type Writer = (file: string, name: string) => Export;

function referencesOf(
  value: unknown,
  path: readonly string[],
): readonly (readonly [string, Writer])[] {
  if (Array.isArray(value)) return value.flatMap((item) => referencesOf(item, path));
  if (isMap(value)) {
    return Object.entries(value).flatMap(([key, inner]) => {
      const phase = value["phase"];
      // A hook that is declared says its phase beside its function.
      if (path.length === 2 && path[0] === "hooks" && key === "run" && typeof inner === "string")
        return [[inner, hookOf(String(phase))] as const];
      return referencesOf(inner, [...path, key]);
    });
  }
  if (typeof value !== "string" || !/^[\w@./-]+\.m?ts#/.test(value)) return [];
  const type = typeAt(path);
  if (type !== undefined) return [[value, valueOf(type)]];
  const phase = path.at(-1) ?? "";
  if ((hookPhases as readonly string[]).includes(phase)) return [[value, hookOf(phase)]];
  if (path[0] === "operations" && phase === "run") return [[value, handlerOf(path[1] ?? "")]];
  return path[2] === "set" || path[0] === "jobs" ? [[value, pure]] : [];
}

/** A pure function, whatever it is asked to make: it fails, and compiles. */
const pure: Writer = (_file, name) => ({
  name,
  imports: [],
  text: `export const ${name} = (): never => {\n  throw new Error("not written");\n};`,
});

function handlerOf(key: string): Writer {
  const type = `${pascalCase(key)}Handler`;
  return (file, name) => {
    const types = posix.relative(posix.dirname(file), `generated/types/${key.split(".")[0]}.js`);
    return {
      name,
      imports: [`import type { ${type} } from "${types}";`],
      text: `export const ${name}: ${type} = () => {\n  throw new Error("not written");\n};`,
    };
  };
}

function hookOf(phase: string): Writer {
  return (_file, name) => ({
    name,
    imports: ['import type { ExecutionContext as Context } from "opwright/runtime";'],
    text:
      phase === "wrap"
        ? `export function ${name}<I, O>(input: I, _context: Context, next: (input: I) => Promise<O>): Promise<O> {\n  return next(input);\n}`
        : `export function ${name}(_input: unknown, _context: Context): void {}`,
  });
}

function valueOf(type: string): Writer {
  return (_file, name) => ({
    name,
    imports: [`import type { ${type} as A${type} } from "opwright/runtime";`],
    text: `export const ${name}: A${type}${type === "ErrorShape" ? "<never>" : ""} = ${ofType[type] ?? ""};`,
  });
}
