// /docs/events: what can be heard and said in real time, from asyncapi.json, with a console that does both.
import { credentials, element, request, session, token } from "./session.js";

const { realtime } = JSON.parse(document.getElementById("config").textContent);
const asyncapi = await request("GET", "/asyncapi.json");
const isDuplex = realtime.transports.includes("websocket");

/** What a reference leads to. */
function resolved(value) {
  if (value?.$ref === undefined) return value;
  return resolved(
    value.$ref
      .slice(2)
      .split("/")
      .reduce((part, step) => part[step], asyncapi),
  );
}

/** A value that a schema might take, to begin with. */
function example(given, depth = 0) {
  const schema = resolved(given);
  if (schema === undefined || typeof schema === "boolean" || depth > 4) return null;
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return example(schema.anyOf[0], depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object")
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, example(schema.properties?.[name], depth + 1)]),
    );
  return (
    {
      string: schema.format === "uuid" ? "00000000-0000-7000-8000-000000000000" : "",
      integer: 0,
      number: 0,
      boolean: false,
      array: [],
    }[type] ?? null
  );
}

const messageOf = (operation) => resolved(operation.messages[0]);
const all = Object.values(asyncapi.operations);
// A channel with all messages is one more transport.
const heard = all.filter(({ action, messages }) => action === "send" && messages.length === 1);
const commands = all.filter((operation) => operation["x-svc-operation"] !== undefined);

function describe(operation) {
  const channel = resolved(operation.channel);
  const { name, payload } = messageOf(operation);
  const isKept = channel["x-svc-offline-delivery"];
  const tags = [
    ...(channel["x-svc-audience-kinds"] ?? []),
    ...(isKept === undefined ? [] : [isKept ? "durable" : "ephemeral"]),
  ];
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      element("code", { textContent: name }),
      ...tags.map((tag) => element("span", { className: "tag", textContent: tag })),
    ),
    element("p", { textContent: operation.summary }),
    element("pre", { textContent: JSON.stringify(resolved(payload), null, 2) }),
  );
}

const status = element("span", { id: "status", role: "status", textContent: "not connected" });
const topics = element("input", { id: "topics", placeholder: "topics, with commas between" });
const connectButton = element("button", { id: "connect", textContent: "Connect" });
const log = element("div", { id: "console" });
const say = (kind, text) =>
  log.prepend(
    element("p", {
      className: kind === "error" ? "error" : "",
      textContent: `${new Date().toLocaleTimeString()} ${kind} ${text}`,
    }),
  );

let line = null;
function end(reason) {
  line = null;
  connectButton.textContent = "Connect";
  status.textContent = reason;
}

/** Of this page alone: a device has one connection. */
const device = `docs-${Math.random().toString(36).slice(2)}`;
function query() {
  const asked = new URLSearchParams({ protocol: "1", device_id: device });
  if (topics.value !== "") asked.set("topics", topics.value);
  return asked;
}

function overWebSocket() {
  const url = new URL(`${realtime.path}/ws?${query()}`, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const held = token();
  const socket = new WebSocket(url, ["realtime.v1", ...(held === null ? [] : [`bearer.${held}`])]);
  socket.addEventListener("open", () => {
    status.textContent = "connected over WebSocket";
  });
  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(data);
    if (frame.type === "ack")
      say(
        frame.error === undefined ? "answer" : "error",
        JSON.stringify(frame.error ?? frame.data),
      );
    else say(frame.event ?? frame.type, JSON.stringify(frame.data ?? frame.error));
  });
  socket.addEventListener("close", ({ code, reason }) => end(`ended: ${reason || code}`));
  return { close: () => socket.close(), send: (frame) => socket.send(JSON.stringify(frame)) };
}

function overEvents() {
  const leaving = new AbortController();
  // A stream without a sign of life ends; the id of no signal acknowledges none.
  let signedAt = Date.now();
  const live = () => {
    if (Date.now() - signedAt < 20_000) return;
    signedAt = Date.now();
    fetch(`${realtime.path}/sse/ack?device_id=${device}`, {
      method: "POST",
      headers: { ...credentials(), "content-type": "application/json" },
      body: '{"up_to":"-"}',
    }).catch(() => undefined);
  };
  const listen = async () => {
    const response = await fetch(`${realtime.path}/sse?${query()}`, {
      headers: credentials(),
      signal: leaving.signal,
    });
    if (!response.ok) throw new Error((await response.json()).code);
    status.textContent = "connected over Server-Sent Events";
    let rest = "";
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      live();
      const frames = (rest + piece).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        const [, name] = /^event: (.*)$/m.exec(frame) ?? [];
        const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
        if (name !== undefined) say(name, JSON.stringify(JSON.parse(data).data));
      }
    }
  };
  listen().then(
    () => end("ended"),
    (error) => end(`ended: ${error.message}`),
  );
  return { close: () => leaving.abort() };
}

connectButton.addEventListener("click", () => {
  if (line !== null) return line.close();
  status.textContent = "connecting";
  connectButton.textContent = "Disconnect";
  line = isDuplex ? overWebSocket() : overEvents();
});
connectButton.disabled = !isDuplex && !realtime.transports.includes("sse");

const event = element(
  "select",
  { id: "command" },
  ...commands.map((one) =>
    element("option", { value: messageOf(one).name, textContent: messageOf(one).name }),
  ),
);
const payload = element("textarea", { id: "payload" });
const fill = () => {
  const chosen = commands.find((one) => messageOf(one).name === event.value);
  if (chosen !== undefined)
    payload.value = JSON.stringify(
      example(resolved(messageOf(chosen).payload).properties.payload),
      null,
      2,
    );
};
event.addEventListener("change", fill);
fill();
let cids = 0;
const send = element("button", { id: "send", textContent: "Send" });
send.addEventListener("click", () => {
  if (line?.send === undefined) return say("error", "commands need a WebSocket that is connected");
  try {
    line.send({
      type: "cmd",
      event: event.value,
      cid: String((cids += 1)),
      payload: JSON.parse(payload.value),
    });
  } catch (error) {
    say("error", error.message);
  }
});

await session(() => line?.close());
const title = (text) => element("h2", { textContent: text });
document
  .getElementById("main")
  .append(
    element(
      "div",
      { className: "columns" },
      element(
        "section",
        {},
        title("What is heard"),
        ...heard.map(describe),
        title("What can be said"),
        ...commands.map(describe),
      ),
      element(
        "section",
        {},
        title("Console"),
        element("p", {}, topics, " ", connectButton, " ", status),
        ...(isDuplex && commands.length > 0 ? [element("p", {}, event, " ", send), payload] : []),
        log,
      ),
    ),
  );
