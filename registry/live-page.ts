// The demo's live board: two windows show the same tasks, and each change of one is seen in the other, over a transport of
// choice.

/** The page. Its script is a file of its own, so that no inline script has to be allowed. */
export const livePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Live board</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 56rem; padding: 0 1rem; }
  #board { display: grid; gap: 1rem; grid-template-columns: repeat(3, 1fr); }
  #board section { background: #f4f4f4; border-radius: 8px; min-height: 8rem; padding: 0.5rem 1rem; }
  #board button { background: white; border: 1px solid #ccc; border-radius: 6px; display: block; margin: 0.5rem 0; padding: 0.5rem; text-align: left; width: 100%; }
  #board button.changed { border-color: #06c; }
</style>
<h1>Live board</h1>
<p>Open this page in two windows. A click moves a task on; both windows see it.</p>
<form id="connect">
  <label>As <input id="login" value="bob@example.test"></label>
  <label>with <input id="password" type="password" value="correct horse battery staple"></label>
  <label>over <select id="transport">
    <option value="websocket">WebSocket</option>
    <option value="sse">Server-Sent Events</option>
    <option value="socketio">Socket.IO</option>
  </select></label>
  <button>Connect</button>
</form>
<p id="status" role="status">Not connected</p>
<p id="people"></p>
<p id="typing"></p>
<form id="add"><input id="title" placeholder="A new task" required maxlength="200"> <button>Add</button></form>
<div id="board">
  <section><h2>open</h2><div id="open"></div></section>
  <section><h2>doing</h2><div id="doing"></div></section>
  <section><h2>done</h2><div id="done"></div></section>
</div>
<script type="module" src="/demo/live.js"></script>
</html>
`;

/** The script: fetch, WebSocket, a stream of Server-Sent Events, or the client that Socket.IO comes with. */
export const liveScript = `
const element = (id) => document.getElementById(id);
const say = (text) => { element("status").textContent = text; };
const next = { open: "doing", doing: "done", done: "open" };
const tasks = new Map();
let token = "";
let project = "";
let current = null;

async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === "" ? {} : { authorization: "Bearer " + token }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = response.status === 204 ? undefined : await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.detail), { code: answer.code });
  return answer;
}

/** Signs in, into the first of the caller's tenants and its first project. */
async function signIn() {
  token = "";
  const given = { login: element("login").value, password: element("password").value };
  token = (await call("POST", "/auth/login", given)).access_token;
  const [tenant] = (await call("GET", "/tenants")).tenants;
  token = (await call("POST", "/tenants/" + tenant.tenant_id + "/activate")).access_token;
  const { hits } = await call("POST", "/projects/list", { sorts: { created_at: "asc" }, size: 1 });
  project = hits[0].id;
}

/** A task as it is now; an older one than is shown changes nothing. */
function show(task, isNew) {
  if ((tasks.get(task.id)?.rev ?? 0) >= task.rev) return;
  tasks.set(task.id, task);
  document.getElementById(task.id)?.remove();
  if (task.is_deleted) return;
  const card = document.createElement("button");
  card.id = task.id;
  card.textContent = task.title;
  card.className = isNew ? "changed" : "";
  card.addEventListener("click", () => {
    const { rev, state } = tasks.get(task.id);
    call("PATCH", "/tasks/" + task.id + "?rev=" + rev, { state: next[state] })
      .then(({ data }) => show(data, true), (error) => say(error.message));
  });
  element(task.state).append(card);
}

/** What is heard of the topic. Topics are live only, so the list is read again with each connection. */
const hear = {
  "task.changed": (task) => show(task, true),
  "task.typing": ({ who }) => { element("typing").textContent = who + " comments"; },
  "realtime.presence": ({ count }) => { element("people").textContent = count + " here"; },
  "realtime.joined": ({ count }) => { element("people").textContent = count + " here"; },
  "realtime.left": ({ count }) => { element("people").textContent = count + " here"; },
};
const take = (event, data) => hear[event]?.(data);

async function loadTasks() {
  const filters = { $values: { project } };
  const { hits } = await call("POST", "/tasks/query", { filters, sorts: { created_at: "asc" }, size: 200 });
  for (const task of hits) show(task, false);
}

const connect = {
  websocket({ opened, closed }) {
    const address = location.origin.replace("http", "ws") + "/realtime/ws?topics=project:" + project;
    const socket = new WebSocket(address, ["realtime.v1", "bearer." + token]);
    // A socket is open before it is admitted; what is answered is.
    socket.onopen = () => socket.send(JSON.stringify({ type: "cmd", cid: 0, event: "hello" }));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.cid === 0) opened();
      else if (frame.event !== undefined) take(frame.event, frame.data);
    };
    socket.onclose = ({ reason }) => closed(reason);
    return () => socket.close();
  },

  // The browser's EventSource would do with a cookie; it cannot send a token.
  sse({ opened, closed }) {
    const abort = new AbortController();
    const read = async () => {
      const headers = { authorization: "Bearer " + token };
      const path = "/realtime/sse?topics=project:" + project;
      const response = await fetch(path, { headers, signal: abort.signal });
      if (!response.ok) throw new Error((await response.json()).code);
      opened();
      let text = "";
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        text += value;
        const blocks = text.split("\\n\\n");
        text = blocks.pop();
        for (const block of blocks) {
          const event = /^event: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (event !== undefined) take(event, JSON.parse(data).data);
        }
      }
    };
    read().then(() => closed(""), (error) => closed(error.message));
    return () => abort.abort();
  },

  socketio({ opened, closed }) {
    let socket;
    import("/demo/socket.io.js").then(({ io }) => {
      socket = io({
        path: "/realtime/socket.io",
        transports: ["websocket"],
        forceNew: true,
        reconnection: false,
        auth: { token, topics: ["project:" + project] },
      });
      socket.on("connect", opened);
      socket.on("connect_error", (error) => closed(error.message));
      socket.on("disconnect", closed);
      socket.onAny((event, { data }) => take(event, data));
    }, (error) => closed(error.message));
    return () => socket?.disconnect();
  },
};

/** Stays connected until somebody connects anew: behind a break it comes back, a little later each time. */
function stay(kind) {
  current?.();
  let isWanted = true;
  let waits = 500;
  let end = () => undefined;
  const begin = () => {
    if (!isWanted) return;
    end = connect[kind]({
      opened() {
        waits = 500;
        say("Connected over " + kind);
        loadTasks().catch((error) => say(error.message));
      },
      closed(reason) {
        if (!isWanted) return;
        say("Not connected: " + reason);
        waits = Math.min(waits * 2, 20_000);
        setTimeout(begin, waits * (0.5 + Math.random() / 2));
      },
    });
  };
  begin();
  current = () => {
    isWanted = false;
    end();
  };
}

element("connect").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn().then(() => stay(element("transport").value), (error) => say(error.message));
});
element("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const title = element("title").value;
  element("title").value = "";
  call("POST", "/tasks", { title, project }).then((task) => show(task, true), (error) => say(error.message));
});
`;
