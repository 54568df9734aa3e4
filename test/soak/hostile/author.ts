// What a hostile author writes: a handler for each mistake, with the answer that is owed and whether its note is stored.

/** A kind of handler: the body of its function, and what callers are owed. */
export interface Mistake {
  /** Sees `notes`, `key`, `n` and `context`. */
  readonly code: string;
  readonly status: number;
  /** Whether the note that it creates under the key is there afterwards. */
  readonly isStored: boolean;
  /** Of the operation: `hooks: {…}`, `deadline: 1s` and the like. */
  readonly declares?: string;
}

type Mistakes = Readonly<Record<string, Mistake>>;

const create = "await notes.create({ key, text: 'kept' });";

/** Values that break whoever looks at them, as they are thrown. */
const values: Readonly<Record<string, string>> = {
  error: "new Error('fault')",
  nothing: "undefined",
  null: "null",
  text: "'fault'",
  symbol: "Symbol('fault')",
  big: "12n",
  bare: "Object.create(null)",
  untold: "({ toString() { throw new Error('toString'); } })",
  inspected: "({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('inspect'); } })",
  unstacked:
    "Object.defineProperty(new Error('fault'), 'stack', { get() { throw new Error('stack'); } })",
  unmessaged:
    "Object.defineProperty(new Error('fault'), 'message', { get() { throw new Error('message'); } })",
  numbered: "Object.assign(new Error('fault'), { message: 7, stack: 8, code: 9, status: 200 })",
  frozen: "Object.freeze(new Error('fault'))",
  circular: "(() => { const error = new Error('fault'); error.cause = error; return error; })()",
  getters:
    "Object.defineProperty(new Error('fault'), 'more', { enumerable: true, get() { throw new Error('more'); } })",
  proxied:
    "new Proxy({}, { get() { throw new Error('get'); }, getPrototypeOf() { throw new Error('prototype'); } })",
  like: "({ status: 204, code: 'core.not_found', name: 'ServiceError', message: 'fault' })",
};

/** Handlers that create a note and leave something behind that nobody holds: 204, and the note stays. */
const floating: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [`rejects_${name}`, `void Promise.reject(${value});`],
      [`timer_throws_${name}`, `setTimeout(() => { throw ${value}; }, 3);`],
    ]),
  ),
  chain: "void (async () => { await null; throw new Error('fault'); })();",
  waiting: "void new Promise((_, reject) => setTimeout(reject, 5, new Error('fault')));",
  fetched: "void fetch('http://127.0.0.1:1/fault');",
  emitter: "setImmediate(() => new EventEmitter().emit('error', new Error('fault')));",
  connection: "connect(1, '127.0.0.1');",
  microtask: "queueMicrotask(() => { throw new Error('fault'); });",
  tick: "process.nextTick(() => { throw new Error('fault'); });",
  file: "createReadStream('/nowhere/at/all');",
  spawned: "spawn('/nowhere/at/all');",
  aborted:
    "const ended = new AbortController(); ended.signal.addEventListener('abort', () => { throw new Error('fault'); }); ended.abort();",
  target:
    "const target = new EventTarget(); target.addEventListener('x', () => { throw new Error('fault'); }); target.dispatchEvent(new Event('x'));",
  committed: "context.whenCommitted(() => { throw new Error('fault'); });",
  committed_bare: "context.whenCommitted(() => Promise.reject(Object.create(null)));",
  late: "setTimeout(() => { void notes.create({ key: `${key}/late`, text: 'late' }); void context.commit(() => notes.create({ key: `${key}/later`, text: 'late' })); }, 20);",
};

/** Handlers that forget to wait for the service: 500, and nothing of them is stored. */
const forgetful: Readonly<Record<string, string>> = {
  create: "notes.create({ key, text: 'lost' });",
  update: `const { id } = ${create.slice(0, -1)}; notes.update(id, 'any', { text: 'lost' });`,
  get: `${create} notes.get('00000000-0000-7000-8000-000000000000');`,
  event: `${create} stageEvent(context, 'notes.noted', { n: -1 });`,
  sql: `${create} sql(context, { n: 'integer' })\`SELECT 1 AS n FROM \${notesSpec} AS o\`;`,
  for_each:
    "['', '/b'].forEach(async (more) => { await notes.create({ key: key + more, text: 'lost' }); });",
  first_of_two: `notes.create({ key: \`\${key}/b\`, text: 'lost' }); ${create}`,
  race: "await Promise.race([notes.create({ key, text: 'a' }), notes.create({ key: `${key}/b`, text: 'b' })]);",
  behind: `void (async () => { await notes.create({ key: \`\${key}/b\`, text: 'a' }); await notes.create({ key: \`\${key}/c\`, text: 'b' }); })(); ${create}`,
  commit: "context.commit(() => notes.create({ key, text: 'lost' }));",
  within_commit: "await context.commit(async () => { notes.create({ key, text: 'lost' }); });",
};

/** Handlers that create a note and fail: 500, and the note is gone. */
const failing: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`throws_${name}`, `${create} throw ${value};`]),
  ),
  endless: `${create} const again = () => again() + 1; again();`,
  undone: `${create} context.whenUndone(() => { throw new Error('undone'); }); throw new Error('fault');`,
};

/** What is answered and doesn't fit `out: {n: integer}`. */
const nonsense: Readonly<Record<string, string>> = {
  nothing: "",
  text: "return 'nonsense';",
  big: "return { n: 1n };",
  circular: "const own = { n: 1 }; own.own = own; return { n: own };",
  getter: "return { get n() { throw new Error('getter'); } };",
  proxied: `return ${values["proxied"]};`,
  json: "return { n: 1, toJSON() { throw new Error('toJSON'); } };",
  thenable: "return { get then() { throw new Error('then'); } };",
};

const hook = (phase: string): string => `hooks: {${phase}: [registry/hooks.ts#fails]}`;

const hooked: Mistakes = {
  ...Object.fromEntries(
    ["before", "tx_before", "tx_after"].map((phase) => [
      `hook_${phase}`,
      { code: create, status: 500, isStored: false, declares: hook(phase) },
    ]),
  ),
  hook_wrap: {
    code: create,
    status: 500,
    isStored: false,
    declares: "hooks: {wrap: [registry/hooks.ts#wraps]}",
  },
  ...Object.fromEntries(
    ["after_commit", "on_success", "finally"].map((phase) => [
      `hook_${phase}`,
      { code: create, status: 204, isStored: true, declares: hook(phase) },
    ]),
  ),
  hook_on_failure: {
    code: `${create} throw new Error('fault');`,
    status: 500,
    isStored: false,
    declares: hook("on_failure"),
  },
};

const late: Mistakes = {
  stuck: {
    code: "context.signal.addEventListener('abort', () => { throw new Error('fault'); }); await new Promise(() => {});",
    status: 504,
    isStored: false,
    declares: "transaction: read, deadline: 300ms",
  },
  stuck_writing: {
    code: `${create} await new Promise(() => {});`,
    status: 504,
    isStored: false,
    declares: "deadline: 200ms",
  },
};

const mapped = (
  codes: Readonly<Record<string, string>>,
  prefix: string,
  make: (code: string) => Mistake,
): Mistakes =>
  Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [`${prefix}_${name}`, make(code)]),
  );

/** Every mistake, by the name of its operation. */
export const mistakes: Mistakes = {
  ...mapped(floating, "floating", (code) => ({
    code: `${create} ${code}`,
    status: 204,
    isStored: true,
  })),
  ...mapped(forgetful, "forgetful", (code) => ({ code, status: 500, isStored: false })),
  ...mapped(failing, "failing", (code) => ({ code, status: 500, isStored: false })),
  ...mapped(nonsense, "nonsense", (code) => ({
    code: `${create} ${code}`,
    status: 500,
    isStored: false,
    declares: "out: {n: integer}",
  })),
  ...hooked,
  ...late,
};

/** Values that are no mail. What a function of the outbox returns counts for nothing, so with it that event is delivered. */
export const noMails: readonly string[] = ["nonsense", "number"];

/** How a mail or a function of the outbox fails, and whether it does. */
export const deliveries: Readonly<Record<string, readonly [code: string, isDelivered: boolean]>> = {
  well: ["", true],
  floating: ["void Promise.reject(new Error('fault'));", true],
  timed: ["setTimeout(() => { throw new Error('fault'); }, 2);", true],
  once: ["if (event.attempt === 1) throw new Error('fault');", true],
  nonsense: ["return { to: 7 };", false],
  number: ["return 7;", false],
  ...Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [`throws_${name}`, [`throw ${value};`, false] as const],
      [`rejects_${name}`, [`return Promise.reject(${value});`, false] as const],
    ]),
  ),
};

/** What the topic authorizer does with `<name>:<anything>`, and what a connection that asks for it is answered. */
export const topics: Readonly<Record<string, readonly [code: string, status: number]>> = {
  well: ["granted.push(topic);", 200],
  turns: [
    "if (seen.has(topic)) throw Object.create(null); seen.add(topic); granted.push(topic);",
    200,
  ],
  floating: ["granted.push(topic); void Promise.reject(new Error('fault'));", 200],
  throws: ["throw new Error('fault');", 500],
  bare: ["throw Object.create(null);", 500],
  proxied: [`throw ${values["proxied"]};`, 500],
  number: ["return 7;", 500],
  nothing: ["return;", 403],
};
