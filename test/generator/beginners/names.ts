// First mistakes in names.
import { mistake, type Mistake } from "./mistake.js";

const document = (name: string): string =>
  `documents: {${name}: {type: {title: string}, guard: member}}`;
const operation = (key: string): string =>
  `operations: {${key}: {post: /tasks, run: registry/handlers/tasks.ts#complete, guard: member}}`;

export const inNames: readonly Mistake[] = [
  mistake("a document in capitals", document("«Tasks»"), {
    code: "OPW013",
    says: '"Tasks"',
    hint: "did you mean tasks?",
  }),
  mistake("a document with a dash", document("«task-items»"), {
    code: "OPW013",
    says: '"task-items"',
    hint: "did you mean task_items?",
  }),
  mistake("a type in small letters", "types: {«task_item»: {title: string}}", {
    code: "OPW013",
    says: '"task_item"',
    hint: "did you mean TaskItem?",
  }),
  mistake("a field with a dash", "types: {Task: {«due-date»: date-time}}", {
    code: "OPW025",
    says: '"due-date"',
    hint: "did you mean due_date?",
  }),
  mistake(
    "an id of one's own",
    "documents: {tasks: {type: {«id»: uuid, title: string}, guard: member}}",
    { code: "OPW025", says: "id is a base field", hint: "Leave it out" },
  ),
  mistake(
    "a time of creation of one's own",
    "documents: {tasks: {type: {title: string, «created_at»: date-time}, guard: member}}",
    { code: "OPW025", says: "created_at is a base field", hint: "Leave it out" },
  ),
  mistake("an operation in camel case", operation("«tasks.completeAll»"), {
    code: "OPW040",
    says: "tasks.completeAll",
    hint: "did you mean tasks.complete_all?",
  }),
  mistake("an operation without a namespace", operation("«complete»"), {
    code: "OPW040",
    says: "<namespace>.<operation>",
    hint: "tasks.complete",
  }),
  mistake("a type that is misspelt", "types: {Task: {title: string}, Board: {first: «Taks»}}", {
    code: "OPW020",
    says: "no type is called Taks",
    hint: "did you mean Task?",
  }),
  mistake(
    "a policy that is misspelt",
    "documents: {tasks: {type: {title: string}, guard: «membr»}}",
    {
      code: "OPW050",
      says: "no policy is called membr",
      hint: "did you mean member?",
    },
  ),
  mistake("no guard", "documents: {«tasks»: {type: {title: string}}}", {
    code: "OPW053",
    says: "no guard",
    hint: "guard: open",
  }),
  mistake("the policy public", "documents: {tasks: {type: {title: string}, guard: «public»}}", {
    code: "OPW050",
    says: "no policy is called public",
    hint: "policies: {public: []}",
  }),
  mistake(
    "a step in place of a policy",
    "documents: {tasks: {type: {title: string}, guard: «principal»}}",
    {
      code: "OPW050",
      says: "principal is a step",
      hint: "policies: {signed_in: [principal]}",
    },
  ),
  mistake("steps in a guard", "documents: {tasks: {type: {title: string}, guard: «[principal]»}}", {
    code: "OPW011",
    says: "policies",
    hint: "policies: {signed_in: [principal]}",
  }),
  mistake(
    "a service with a name for people",
    {
      "registry/service.yaml":
        "registry: 1\nservice: {name: «My Shop», title: My Shop, version: 1.0.0}",
    },
    { code: "OPW013", says: '"My Shop"', hint: "did you mean my_shop?" },
  ),
  mistake(
    "a version with one dot",
    { "registry/service.yaml": "registry: 1\nservice: {name: shop, title: Shop, version: «1.0»}" },
    { code: "OPW011", says: "such as 1.0.0", hint: "1.0.0" },
  ),
];
