// A device that hears durable signals through failures: it connects again by itself, where it has stopped.
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

export interface Ear {
  /** The title of each signal by its position in the mailbox. */
  readonly heard: ReadonlyMap<number, string>;
  /** What came out of order, or twice with another content. */
  readonly faults: readonly string[];
  readonly connections: number;
  close(): void;
}

/** Listens to the tasks that somebody is assigned, at services in turn. */
export function listenTo(urls: readonly string[], token: string): Ear {
  const heard = new Map<number, string>();
  const faults: string[] = [];
  let connections = 0;
  let lastId = "";
  let last = 0;
  let isClosed = false;
  let current: WebSocket | undefined;
  const connect = (): void => {
    if (isClosed) return;
    const url = urls[connections % urls.length] ?? "";
    connections += 1;
    const after = lastId === "" ? "" : `&last_event_id=${lastId}`;
    const address = `${url.replace("http", "ws")}/realtime/ws?device_id=ear${after}`;
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
    current = socket;
    socket.on("message", (text: Buffer) => {
      const { event, id, data } = JSON.parse(text.toString());
      if (event !== "task.assigned") return;
      const position = Number.parseInt(String(id).split(".")[1] ?? "", 36);
      const before = heard.get(position);
      if (before !== undefined && before !== data.title)
        faults.push(`${position} was ${before}, and is ${data.title}`);
      if (before === undefined && position !== last + 1)
        faults.push(`${position} came after ${last}`);
      heard.set(position, data.title);
      last = Math.max(last, position);
      lastId = String(id);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => void sleep(300).then(connect));
  };
  connect();
  return {
    heard,
    faults,
    get connections() {
      return connections;
    },
    close() {
      isClosed = true;
      current?.terminate();
    },
  };
}
