// First mistakes in documents: keys that others have, and values of another form.
import { mistake, type Mistake } from "./mistake.js";

const tasks = (more: string): string =>
  `documents: {tasks: {type: {title: string, due: date-time?, state: [open, done]}, guard: member, ${more}}}`;

export const inDocuments: readonly Mistake[] = [
  mistake("fields for type", "documents: {tasks: {«fields»: {title: string}, guard: member}}", {
    code: "OPW010",
    says: '"fields"',
    hint: "did you mean type?",
  }),
  mistake(
    "a misspelt key that is required",
    "documents: {tasks: {«tpye»: {title: string}, guard: member}}",
    {
      code: "OPW010",
      says: '"tpye"',
      hint: "did you mean type?",
    },
  ),
  mistake("camel case", tasks("«softDelete»: true"), {
    code: "OPW010",
    says: '"softDelete"',
    hint: "did you mean soft_delete?",
  }),
  mistake("path of a document", tasks("«path»: /todo"), {
    code: "OPW010",
    says: '"path"',
    hint: "mount: {at: /todo}",
  }),
  mistake("at outside of mount", tasks("«at»: /todo"), {
    code: "OPW010",
    says: '"at"',
    hint: "mount: {at: …}",
  }),
  mistake("permissions of a document", tasks("«permissions»: [admin]"), {
    code: "OPW010",
    says: '"permissions"',
    hint: "guard",
  }),
  mistake("timestamps", tasks("«timestamps»: true"), {
    code: "OPW010",
    says: '"timestamps"',
    hint: "created_at",
  }),
  mistake("required fields as a list", tasks("«required»: [title]"), {
    code: "OPW010",
    says: '"required"',
    hint: "Every field is required",
  }),
  mistake("a search within a document", tasks("«search»: [title]"), {
    code: "OPW010",
    says: '"search"',
    hint: "search: {tasks_search: {of: tasks",
  }),
  mistake("one list in unique", tasks("unique: [«title»]"), {
    code: "OPW011",
    says: "must be a list",
    hint: "did you mean [title]?",
  }),
  mistake("one list in indexes", tasks("indexes: [«due»]"), {
    code: "OPW011",
    says: "must be a list",
    hint: "did you mean [due]?",
  }),
  mistake("a text for a list", tasks("create: «title»"), {
    code: "OPW011",
    says: "must be a list",
    hint: "[title]",
  }),
  mistake("a path for a mount", tasks("mount: «/todo»"), {
    code: "OPW011",
    says: "at",
    hint: "{at: /todo}",
  }),
  mistake("a mount without a slash", tasks("mount: {at: «todo»}"), {
    code: "OPW013",
    says: '"todo"',
    hint: "did you mean /todo?",
  }),
  mistake(
    "an operation that is called otherwise",
    tasks("mount: {at: /todo, include: [create, «read»]}"),
    {
      code: "OPW062",
      says: "read",
      hint: "did you mean get?",
    },
  ),
  mistake(
    "delete without soft deletion",
    tasks("mount: {at: /todo, include: [create, «delete»]}"),
    {
      code: "OPW062",
      says: "delete",
      hint: "soft_delete",
    },
  ),
  mistake("bulk switched on", tasks("bulk: «true»"), {
    code: "OPW011",
    says: "max",
    hint: "{max: …}",
  }),
  mistake("history with a number", tasks("history: «50»"), {
    code: "OPW011",
    says: "keep",
    hint: "{keep: 50}",
  }),
  mistake("days in words", tasks("soft_delete: true, retention: {deleted: «90 days»}"), {
    code: "OPW013",
    says: '"90 days"',
    hint: "did you mean 90d?",
  }),
  mistake("a deadline without a unit", tasks("deadline: «5»"), {
    code: "OPW011",
    says: "a duration",
    hint: "5s",
  }),
  mistake("retention without soft deletion", tasks("retention: {«deleted»: 90d}"), {
    code: "OPW009",
    says: "soft_delete",
    hint: "soft_delete",
  }),
  mistake("a default of a field that is not there", tasks("defaults: {«status»: open}"), {
    code: "OPW030",
    says: "status",
    hint: "did you mean state?",
  }),
  mistake(
    "$user",
    "documents: {tasks: {type: {title: string, author: uuid}, guard: member, set: {author: «$user»}}}",
    {
      code: "OPW013",
      says: '"$user"',
      hint: "did you mean $caller?",
    },
  ),
  mistake(
    "caller without its sign",
    "documents: {tasks: {type: {title: string, author: uuid}, guard: member, set: {author: «caller»}}}",
    {
      code: "OPW013",
      says: '"caller"',
      hint: "did you mean $caller?",
    },
  ),
  mistake(
    "hooks without an operation",
    tasks("hooks: {«before»: [registry/hooks/tasks.ts#check]}"),
    {
      code: "OPW011",
      says: "before",
      hint: "<name>: {before: …}",
    },
  ),
  mistake("hooks without a phase", tasks("hooks: {create: «[registry/hooks/tasks.ts#check]»}"), {
    code: "OPW011",
    says: "before",
    hint: "{before: [registry/hooks/tasks.ts#check]}",
  }),
  mistake("an event that nobody declares", tasks("emits: {create: «task.created»}"), {
    code: "OPW074",
    says: "task.created",
    hint: "realtime",
  }),
  mistake(
    "a guard for creating alone",
    "documents: {tasks: {type: {title: string}, guard: «{create: member}»}}",
    {
      code: "OPW053",
      says: "no policy",
      hint: "{read: member, write: member}",
    },
  ),
  mistake("a field in create that is not there", tasks("create: [«titel», state]"), {
    code: "OPW030",
    says: "titel",
    hint: "did you mean title?",
  }),
  mistake("a required field that nobody sets", tasks("create: «[title]»"), {
    code: "OPW032",
    says: "state",
    hint: "default",
  }),
  mistake(
    "a wrong type beside a missing guard",
    "documents: {«tasks»: {type: {title: string}, deadline: 5s, unique: [[title]]}}",
    { code: "OPW053", says: "no guard", hint: "guard: open" },
  ),
];
