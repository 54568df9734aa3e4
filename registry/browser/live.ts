// The live board: two windows show the same tasks, and each change of one is seen in the other.
/// <reference lib="dom" />
import { edit, projects, tasks, type Client, type models } from "../../generated/client/index.js";
import {
  connect,
  socketIo,
  sse,
  webSocket,
  type Commands,
  type Events,
  type Live,
  type MakeSocketIo,
  type Transport,
} from "../../generated/client/realtime.js";
import { element, onSubmit, say, sayError, signIn, valueOf } from "./page.js";

const next = { open: "doing", doing: "done", done: "open" } as const;
const shown = new Map<string, models.Task>();
let client: Client | undefined;
let project = "";
let live: Live<Events, Commands> | undefined;

/** A task as it is now; an older one than is shown changes nothing. */
function show(task: models.Task): void {
  if ((shown.get(task.id)?.rev ?? 0) >= task.rev) return;
  shown.set(task.id, task);
  document.getElementById(task.id)?.remove();
  if (task.is_deleted) return;
  const card = document.createElement("button");
  card.id = task.id;
  card.type = "button";
  card.className = "card";
  card.textContent = task.title;
  card.addEventListener("click", () => {
    if (client === undefined) return;
    edit(tasks, client, task.id, ({ state }) => ({ state: next[state] })).then(show, sayError);
  });
  element(task.state).append(card);
}

async function transportOf(name: string): Promise<Transport> {
  if (name === "sse") return sse();
  if (name !== "socketio") return webSocket();
  const address = "/demo/socket.io.js";
  const { io } = (await import(address)) as { readonly io: MakeSocketIo };
  return socketIo(io);
}

/** Topics are live only, so the list is read again with each connection. */
async function loadTasks(): Promise<void> {
  if (client === undefined) return;
  const filters = { $values: { project } };
  const sorts = { created_at: "asc" } as const;
  for (const task of (await tasks.list(client, { filters, sorts, size: 200 })).hits) show(task);
}

onSubmit("connect", async () => {
  live?.close();
  client = await signIn(valueOf("login"), valueOf("password"));
  const [first] = (await projects.list(client, { sorts: { created_at: "asc" }, size: 1 })).hits;
  project = first?.id ?? "";
  const name = valueOf("transport");
  live = connect(client, {
    transport: await transportOf(name),
    topics: [`project:${project}`],
    deviceId: crypto.randomUUID(),
    onStatus(status, error) {
      if (status === "open") say(`Connected over ${name}`);
      else say(error === null ? status : `${status}: ${error.code}`);
      if (status === "open") loadTasks().catch(sayError);
    },
  });
  live.listen(({ name: event, data }) => {
    if (event === "task.changed") show(data);
    if (event === "task.typing") element("typing").textContent = `${data.who} comments`;
    if (event === "realtime.presence" || event === "realtime.joined" || event === "realtime.left")
      element("people").textContent = `${data.count} here`;
  });
});

onSubmit("add", async () => {
  if (client === undefined) throw new Error("Connect first.");
  const title = element<HTMLInputElement>("title");
  show(await tasks.create(client, { title: title.value, project, labels: [] }));
  title.value = "";
});
