// First mistakes in operations of one's own: their keys, paths and handlers.
import { mistake, type Mistake } from "./mistake.js";

const find = (more: string): string => `operations: {tasks.find: {guard: member, ${more}}}`;
const run = "run: registry/handlers/tasks.ts#find";

const withHandler = (reference: string, text: string): Readonly<Record<string, string>> => ({
  "registry/shop.yaml": `registry: 1\noperations: {tasks.find: {get: /tasks, run: ${reference}, guard: member}}`,
  "registry/handlers/more.ts": text,
});

export const inOperations: readonly Mistake[] = [
  mistake("path and method", find(`«path»: /tasks, method: get, ${run}`), {
    code: "OPW010",
    says: '"path"',
    hint: "get: /tasks",
  }),
  mistake("a handler", find("get: /tasks, «handler»: registry/handlers/tasks.ts#find"), {
    code: "OPW010",
    says: '"handler"',
    hint: "did you mean run?",
  }),
  mistake("an input", find(`get: /tasks, «input»: {text: string}, ${run}`), {
    code: "OPW010",
    says: '"input"',
    hint: "did you mean in?",
  }),
  mistake("a response", find(`get: /tasks, «response»: {text: string}, ${run}`), {
    code: "OPW010",
    says: '"response"',
    hint: "did you mean out?",
  }),
  mistake("query parameters", find(`get: /tasks, «query»: {text: string}, ${run}`), {
    code: "OPW010",
    says: '"query"',
    hint: "did you mean in?",
  }),
  mistake("a method in capitals", find(`«GET»: /tasks, ${run}`), {
    code: "OPW010",
    says: '"GET"',
    hint: "did you mean get?",
  }),
  mistake("a timeout", find(`get: /tasks, «timeout»: 5s, ${run}`), {
    code: "OPW010",
    says: '"timeout"',
    hint: "did you mean deadline?",
  }),
  mistake("authentication", find(`get: /tasks, «auth»: true, ${run}`), {
    code: "OPW010",
    says: '"auth"',
    hint: "guard",
  }),
  mistake("a placeholder with a colon", find(`get: «/tasks/:id», in: {id: uuid}, ${run}`), {
    code: "OPW013",
    says: "/tasks/:id",
    hint: "did you mean /tasks/{id}?",
  }),
  mistake("a path without a slash", find(`get: «tasks», ${run}`), {
    code: "OPW013",
    says: '"tasks"',
    hint: "did you mean /tasks?",
  }),
  mistake(
    "a placeholder that is no input",
    `
    operations:
      tasks.find:
        get: «/tasks/{id}»
        run: registry/handlers/tasks.ts#find
        guard: member`,
    { code: "OPW044", says: "id", hint: "in: {id: uuid}" },
  ),
  mistake(
    "no method",
    "operations: {«tasks.find»: {run: registry/handlers/tasks.ts#find, guard: member}}",
    {
      code: "OPW046",
      says: "get, post",
      hint: "get: /tasks/find",
    },
  ),
  mistake(
    "two methods",
    `operations: {«tasks.find»: {get: /tasks, post: /tasks, guard: member, ${run}}}`,
    {
      code: "OPW046",
      says: "get and post",
      hint: "one",
    },
  ),
  mistake("an object in the query", find(`get: /tasks, in: {filter: «{type: object}»}, ${run}`), {
    code: "OPW045",
    says: "filter",
    hint: "method with a body",
  }),
  mistake("a status with words", find(`get: /tasks, out: {n: integer}, status: «200 OK», ${run}`), {
    code: "OPW011",
    says: "an integer",
    hint: "200",
  }),
  mistake("an error that nobody declares", find(`get: /tasks, errors: [«not_found»], ${run}`), {
    code: "OPW028",
    says: "not_found",
    hint: "core.not_found",
  }),
  mistake("idempotency of a GET", find(`get: /tasks, idempotency: «true», ${run}`), {
    code: "OPW047",
    says: "does not write",
    hint: "Remove",
  }),
  mistake("a reference without an export", find("get: /tasks, run: «registry/handlers/tasks.ts»"), {
    code: "OPW013",
    says: "registry/handlers/tasks.ts",
    hint: "registry/handlers/tasks.ts#<export>",
  }),
  mistake("an absolute reference", find("get: /tasks, run: «/etc/x.ts#x»"), {
    code: "OPW013",
    says: "/etc/x.ts#x",
    hint: "relative to the project",
  }),
  mistake(
    "a reference from the file's own folder",
    find("get: /tasks, run: «./handlers/tasks.ts#find»"),
    {
      code: "OPW042",
      says: "no file ./handlers/tasks.ts",
      hint: "did you mean registry/handlers/tasks.ts#find?",
    },
  ),
  mistake(
    "a reference to what is compiled",
    find("get: /tasks, run: «registry/handlers/tasks.js#find»"),
    {
      code: "OPW042",
      says: "no file registry/handlers/tasks.js",
      hint: "did you mean registry/handlers/tasks.ts#find?",
    },
  ),
  mistake("a file that is misspelt", find("get: /tasks, run: «registry/handlers/task.ts#find»"), {
    code: "OPW042",
    says: "no file registry/handlers/task.ts",
    hint: "did you mean registry/handlers/tasks.ts#find?",
  }),
  mistake("a reserved word", find("get: /tasks, run: «registry/handlers/tasks.ts#class»"), {
    code: "OPW042",
    says: "class",
    hint: "a word of JavaScript",
  }),
  mistake(
    "an export that is misspelt",
    find("get: /tasks, run: «registry/handlers/tasks.ts#fnd»"),
    {
      code: "OPW042",
      says: "exports no fnd",
      hint: "did you mean registry/handlers/tasks.ts#find?",
    },
  ),
  mistake(
    "an export by default",
    withHandler(
      "«registry/handlers/more.ts#find»",
      "export default function find() { return []; }",
    ),
    { code: "OPW042", says: "exports no find", hint: "export const find" },
  ),
  mistake(
    "a function that nobody exports",
    withHandler("«registry/handlers/more.ts#find»", "const find = () => [];\n"),
    { code: "OPW042", says: "exports no find", hint: "export" },
  ),
  mistake(
    "a handler of Express",
    withHandler(
      "«registry/handlers/more.ts#find»",
      "export const find = (req, res, next) => next();",
    ),
    { code: "OPW043", says: "3 parameters", hint: "(input, context)" },
  ),
  mistake(
    "a class as a handler",
    withHandler("«registry/handlers/more.ts#Find»", "export class Find {}"),
    { code: "OPW043", says: "Find is not a function", hint: "(input, context)" },
  ),
  mistake(
    "the type of another operation",
    withHandler(
      "«registry/handlers/more.ts#find»",
      "export const find: TasksCompleteHandler = () => [];",
    ),
    { code: "OPW043", says: "TasksCompleteHandler", hint: "TasksFindHandler" },
  ),
  mistake(
    "a hook without an await",
    {
      "registry/shop.yaml": `registry: 1\ndocuments: {notes: {type: {text: string}, guard: member}}\noperations: {tasks.save: {post: /tasks, run: registry/handlers/more.ts#save, guard: member}}`,
      "registry/handlers/more.ts": `
      export const save = async (input, context) => {
        const notes = collection(context, "notes");
        «n»otes.create({ text: "a" });
      };`,
    },
    { code: "OPW089", says: "notes.create", hint: "await" },
  ),
];
