// A small front end that knows the service through its client package alone.
import {
  ApiError,
  authn,
  createClient,
  edit,
  files,
  isConflict,
  projects,
  tasks,
  tenants,
  upload,
  type KeptSession,
  type Tokens,
} from "@opwright/tracker-client";
import {
  connect,
  shareConnection,
  webSocket,
  type Commands,
  type Events,
  type Live,
} from "@opwright/tracker-client/realtime";

type Task = Events["task.changed"];

const element = <Kind extends HTMLElement = HTMLElement>(id: string): Kind =>
  document.getElementById(id) as Kind;
const input = (id: string): HTMLInputElement => element<HTMLInputElement>(id);

const client = createClient({
  baseUrl: new URLSearchParams(location.search).get("api") ?? "",
  // All tabs have the same caller.
  tokens: {
    get: () => JSON.parse(localStorage.getItem("tokens") ?? "null") as Tokens | null,
    set: (tokens) => localStorage.setItem("tokens", JSON.stringify(tokens)),
    caller: () => localStorage.getItem("caller"),
  },
});
const shown = new Map<string, Task>();
let project = "";
let live: Live<Events, Commands> | undefined;

const say = (text: string): void => {
  element("message").textContent = text;
};

/** Runs what a form asks for; an error is shown by its code. */
function onSubmit(id: string, work: () => Promise<void>): void {
  element(id).addEventListener("submit", (event) => {
    event.preventDefault();
    say("");
    work().catch((error: unknown) => say(error instanceof ApiError ? error.code : String(error)));
  });
}

onSubmit("sign-in", async () => {
  const credentials = { login: input("login").value, password: input("password").value };
  keep(await authn.passwordLogin(client, credentials), credentials.login);
  const [tenant] = (await tenants.listTenants(client)).tenants;
  if (tenant === undefined) throw new Error("there is no tenant");
  const scoped = await tenants.switchTenant(client, { id: tenant.tenant_id });
  keep(scoped, `${credentials.login}@${tenant.tenant_id}`);
  await begin();
});

/** Tokens, and whose they are in which tenant: both change together. */
function keep(tokens: Tokens, caller: string): void {
  localStorage.setItem("tokens", JSON.stringify(tokens));
  localStorage.setItem("caller", caller);
}

async function begin(): Promise<void> {
  const { hits } = await projects.list(client, { size: 1 });
  project = hits[0]?.id ?? "";
  await refresh();
  live?.close();
  live = connect(client, {
    transport: shareConnection(webSocket()),
    topics: [`project:${project}`],
    onStatus: (status, error) => {
      element("status").textContent = error === null ? status : `${status}: ${error.code}`;
    },
  });
  live.listen((signal) => {
    switch (signal.name) {
      case "task.changed":
        return show(signal.data);
      case "task.typing":
      case "task.assigned": {
        const item = document.createElement("li");
        item.textContent = signal.name;
        element("heard").append(item);
        return undefined;
      }
      default:
        return undefined;
    }
  });
}

async function refresh(): Promise<void> {
  const state = element<HTMLSelectElement>("state").value as Task["state"] | "";
  const words = input("words").value;
  const found = await tasks.list(client, {
    filters: {
      $values: {
        project,
        ...(state === "" ? {} : { state }),
        ...(words === "" ? {} : { title: { $ilike: `%${words}%` } }),
      },
    },
    sorts: { created_at: "asc" },
    size: 50,
  });
  shown.clear();
  element("tasks").replaceChildren();
  for (const task of found.hits) show(task);
}

/** A task as it is now; an older one than is shown changes nothing. */
function show(task: Task): void {
  if ((shown.get(task.id)?.rev ?? 0) >= task.rev) return;
  shown.set(task.id, task);
  const item = document.getElementById(task.id) ?? document.createElement("li");
  item.id = task.id;
  const title = document.createElement("input");
  title.value = task.title;
  title.addEventListener("change", () => void rename(task, title.value));
  const next = document.createElement("button");
  next.textContent = task.state;
  next.addEventListener("click", () => void moveOn(task.id));
  item.replaceChildren(title, next);
  element("tasks").append(item);
}

/** What was read must still be what is there: somebody else's title is not to be lost. */
async function rename(task: Task, title: string): Promise<void> {
  const renamed = await tasks
    .update(client, { id: task.id, rev: task.rev, patch: { title } })
    .settled();
  if (renamed.ok) return show(renamed.data.data);
  say(renamed.error.code);
  if (isConflict(renamed.error)) show(await tasks.get(client, { id: task.id }));
}

/** Whatever else has changed: it is one state further from what it is then. */
async function moveOn(id: string): Promise<void> {
  const next = { open: "doing", doing: "done", done: "open" } as const;
  show(await edit(tasks, client, id, ({ state }) => ({ state: next[state] })));
}

onSubmit("filter", refresh);
onSubmit("add", async () => {
  show(await tasks.create(client, { title: input("title").value, project, labels: [] }));
});
onSubmit("comment", async () => {
  const [task] = shown.keys();
  if (live === undefined || task === undefined) throw new Error("there is no task");
  const { text } = await live.command("task.comment", { task, text: input("text").value });
  say(`commented: ${text}`);
});

let stopping = new AbortController();
element("stop").addEventListener("click", () => stopping.abort());
onSubmit("upload", async () => {
  const file = input("file").files?.[0];
  if (file === undefined) throw new Error("choose a file");
  stopping = new AbortController();
  const kept = localStorage.getItem(`upload ${file.name}`);
  const progress = element<HTMLProgressElement>("progress");
  const head = await upload(client, files, file, {
    key: `board/${file.name}`,
    partBytes: 5 * 1024 * 1024,
    parallel: 1,
    signal: stopping.signal,
    ...(kept === null ? {} : { session: JSON.parse(kept) as KeptSession }),
    onSession: (session) => localStorage.setItem(`upload ${file.name}`, JSON.stringify(session)),
    onProgress: (sent, total) => {
      progress.value = sent / total;
      progress.dataset["log"] =
        `${progress.dataset["log"] ?? ""} ${Math.round((100 * sent) / total)}`;
    },
  });
  localStorage.removeItem(`upload ${file.name}`);
  element("uploaded").textContent = `${head.key} ${head.size}`;
});

if (localStorage.getItem("tokens") !== null) void begin();
