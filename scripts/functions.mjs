// docs/functions.md: every function that opwright/runtime and opwright/testing export, from their docstrings.
import { readFileSync } from "node:fs";
import { root } from "./prepare.mjs";

/** What authors call in handlers, hooks, deliveries and scripts; the rest is for generated code. */
const forAuthors = {
  "Documents, files and SQL": "collection objects sql column unscoped ownRows",
  "Errors and answers": "fail ServiceError withReply outputValue JsonText",
  "Who is calling": "callerOf createPrincipal issueSession signIn account",
  "Administration, as handlers": "authn principals apiKeys tenancy webhooks auditTrail",
  "Tenants in a transaction": "tenantStore defaultTenant",
  "Mails and ids": "frameMail uuidv7",
  Hooks:
    "before wrap txBefore txAfter afterCommit onSuccess onFailure onFinally principal session anySession tenant rateLimit",
  "Servers and scripts":
    "defineService serve start connect readSettings generatedFolder SettingsError Lifetime silentLog progressBar",
};

/** The values that an entry point exports. */
function exportsOf(entry) {
  const index = readFileSync(`${root}/runtime/${entry}`, "utf8");
  const folder = entry.split("/").slice(0, -1).join("/");
  const found = [];
  for (const [, isType, names, from] of index.matchAll(
    /export (type )?\{([^}]*)\} from "([^"]+)"/g,
  )) {
    if (isType !== undefined) continue;
    const file = new URL(from.replace(/\.js$/, ".d.ts"), `file://${root}/dist/runtime/${folder}/`);
    const text = readFileSync(file, "utf8");
    for (const name of names.split(",").map((one) => one.trim()))
      if (name !== "" && !name.startsWith("type ")) found.push(declarationOf(name, text));
  }
  return found;
}

const comment = String.raw`(?:/\*\*((?:(?!\*/)[^])*)\*/\s*)?`;

function declarationOf(name, text) {
  const pattern = new RegExp(
    `${comment}export declare (?:(function)|const|abstract class|class) ${name}\\b`,
  );
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${name} has no declaration`);
  const [whole, doc, isFunction] = found;
  const rest = text.slice(found.index + whole.length);
  const call = isFunction === undefined ? name : `${name}(${parametersOf(rest).join(", ")})`;
  const literal = new RegExp(`export declare const ${name}: \\{\\n([^]*?)\\n\\};`).exec(text)?.[1];
  return {
    name,
    call,
    says: saidBy(doc),
    members: literal === undefined ? [] : membersOf(literal),
  };
}

/** Documented members of an object that are functions. */
function membersOf(literal) {
  const pattern = new RegExp(`^ {4}/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*^ {4}(\\w+)[:(<]`, "gm");
  return [...literal.matchAll(pattern)].map(([, doc, name]) => ({ name, says: saidBy(doc) }));
}

function saidBy(doc = "") {
  return doc
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The names of parameters, from what follows a function's name; one that is taken apart is `options`. */
function parametersOf(text) {
  const names = [];
  let depth = 0;
  let current = "";
  let before = "";
  let isWithin = false;
  for (const character of text) {
    const isArrow = before === "=" && character === ">";
    before = character;
    if (character === "(" && depth === 0) isWithin = true;
    if (isWithin && character === ")" && depth === 1) break;
    if (isWithin && character === "," && depth === 1) {
      names.push(current);
      current = "";
    } else if (isWithin && !(character === "(" && depth === 0)) current += character;
    if ("({[<".includes(character)) depth += 1;
    else if (")}]>".includes(character) && !isArrow) depth -= 1;
  }
  return [...names, current]
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .map((one) => (/^[{[]/.test(one) ? "options" : (/^(?:\.\.\.)?\w+\??/.exec(one)?.[0] ?? one)));
}

function linesOf({ call, name, says, members }) {
  if (says === "") throw new Error(`${name} is exported and has no docstring`);
  const inner = members.map((one) => `  - \`${name}.${one.name}\`: ${one.says}`);
  return [`- \`${call}\`: ${says}`, ...inner].join("\n");
}

/** The page. Throws where an exported function has no docstring. */
export function functionsPage() {
  const runtime = new Map(exportsOf("index.ts").map((one) => [one.name, one]));
  const sections = Object.entries(forAuthors).map(([title, names]) => {
    const lines = names.split(" ").map((name) => {
      const known = runtime.get(name);
      if (known === undefined) throw new Error(`${name} is not exported`);
      runtime.delete(name);
      return linesOf(known);
    });
    return `### ${title}\n\n${lines.join("\n")}\n`;
  });
  return `# Functions

Every function and value that you can import, with its docstring. Your editor shows the same, with types. [Writing handlers](handlers.md) shows how to use them.

## opwright/runtime

${sections.join("\n")}
### What generated code calls

You see these in \`generated/\`, whose calls follow their rules. You rarely need them yourself.

${[...runtime.values()].map(linesOf).join("\n")}

## opwright/testing

[Testing](testing.md) shows the kit. The contracts are for engines of your own.

${exportsOf("testing/index.ts").map(linesOf).join("\n")}
`;
}
