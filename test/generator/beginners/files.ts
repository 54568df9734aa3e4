// First mistakes in YAML itself and in the files of a registry.
import { mistake, type Mistake } from "./mistake.js";

const service = "registry: 1\nservice: {name: shop, title: Shop, version: 1.0.0}\n";

export const inFiles: readonly Mistake[] = [
  mistake(
    "a tab in place of spaces",
    "documents:\n«\t»tasks: {type: {title: string}, guard: member}",
    {
      code: "OPW001",
      says: "tab",
      hint: "spaces",
    },
  ),
  mistake("a list type without quotes inside braces", "types: {Task: {labels: string«[»]}}", {
    code: "OPW001",
    says: 'in quotes: "string[]"',
    hint: '"string[]"',
  }),
  mistake(
    "a second document behind a line of dashes",
    `
    types: {Task: {title: string}}
    «---»
    types: {Note: {text: string}}`,
    { code: "OPW001", says: "second YAML document", hint: "file of its own" },
  ),
  mistake(
    "a placeholder without quotes inside braces",
    "operations: {tasks.find: {get: /tasks/«{»id}, in: {id: uuid}, run: registry/handlers/tasks.ts#find, guard: member}}",
    { code: "OPW001", says: "quotes", hint: '"/tasks/{id}"' },
  ),
  mistake(
    "a permission that begins with a brace, without quotes",
    "policies: {editor: [principal, {authorize: {resource}«.»write}]}",
    { code: "OPW001", says: "quotes", hint: '"{resource}.write"' },
  ),
  mistake(
    "no space behind a colon",
    `
    types:
      Task:
        «title:string»`,
    { code: "OPW026", says: '"title:string"', hint: "title: string" },
  ),
  mistake(
    "a key that is indented too little",
    `
    documents:
      tasks:
        type: {title: string}
       «guard»: member`,
    { code: "OPW001", says: "column", hint: "below" },
  ),
  mistake(
    "a brace that nobody closes",
    `
    documents:
      tasks: «{»type: {title: string}, guard: member`,
    { code: "OPW001", says: "never closed", hint: "}" },
  ),
  mistake(
    "a quote that nobody closes",
    `
    documents:
      tasks:
        description: «"»the tasks
        type: {title: string}
        guard: member`,
    { code: "OPW001", says: "never closed", hint: '"' },
  ),
  mistake(
    "a key twice",
    `
    types:
      Task:
        title: string
        «title»: string?`,
    { code: "OPW002", says: "title", hint: "Remove or rename" },
  ),
  mistake(
    "a file without its version",
    { "registry/shop.yaml": "«t»ypes: {Task: {title: string}}" },
    { code: "OPW007", says: "registry: 1", hint: "registry: 1" },
  ),
  mistake(
    "a version in quotes",
    { "registry/shop.yaml": `registry: «'1'»\ntypes: {Task: {title: string}}` },
    { code: "OPW007", says: 'not "1"', hint: "registry: 1" },
  ),
  mistake(
    "yes for true",
    "documents: {tasks: {type: {title: string}, guard: member, soft_delete: «yes»}}",
    { code: "OPW011", says: "true or false", hint: "true" },
  ),
  mistake("a number in quotes", `types: {Task: {title: {type: string, maxLength: «"80"»}}}`, {
    code: "OPW024",
    says: "maxLength",
    hint: "80",
  }),
  mistake(
    "a space before the # of a reference",
    "operations: {tasks.find: {get: /tasks, run: «registry/handlers/tasks.ts» #find\n  , guard: member}}",
    { code: "OPW013", says: "export", hint: "registry/handlers/tasks.ts#" },
  ),
  mistake(
    "a file with nothing in it",
    { "registry/shop.yaml": "«#» to do" },
    {
      code: "OPW011",
      says: "empty",
      hint: "registry: 1",
    },
  ),
  mistake(
    "a list of documents in place of a map",
    `
    documents:
      «- name: tasks»
        type: {title: string}
        guard: member`,
    { code: "OPW011", says: "must be a map", hint: "tasks: {" },
  ),
  mistake(
    "a key of a document among its fields",
    `
    documents:
      tasks:
        type:
          title: string
          «guard»: member`,
    { code: "OPW053", says: "guard", hint: "beside `type`" },
  ),
  mistake(
    "a setting of the service at the top level",
    {
      "registry/service.yaml": `${service}policies: {open: []}\n«deadline»: 5s\n`,
      "registry/shop.yaml": "registry: 1",
    },
    { code: "OPW010", says: "deadline", hint: "service: {deadline: …}" },
  ),
  mistake(
    "the same name in two files",
    {
      "registry/one.yaml": "registry: 1\ntypes: {Task: {title: string}}",
      "registry/two.yaml": "registry: 1\ntypes: {«Task»: {title: string}}",
    },
    { code: "OPW003", says: "types.Task", hint: "unique" },
  ),
];
