// A device of a schedule: it connects by one transport, hears, acknowledges, lags and vanishes, and holds what it hears
// against what it is owed.
import { request } from "node:http";
import { io } from "socket.io-client";
import { WebSocket } from "ws";

export type Transport = "websocket" | "sse" | "socketio";

/** One connection, as the transport has it. */
interface Line {
  pause(): void;
  resume(): void;
  /** Ends it without a word. */
  cut(): void;
  ack(id: string): void;
}

interface Ears {
  hear(event: string, id: string | null, data: unknown): void;
  ended(): void;
}

export class Device {
  readonly name: string;
  readonly transport: Transport;
  readonly token: string;
  readonly places: Map<number, string>;
  readonly heard = new Set<string>();
  /** What is wrong with what it heard. */
  readonly faults: string[] = [];
  #line: Line | undefined;
  #lastId: string | null = null;
  #acked = 0;

  /** `places` is the order of the mailbox as its devices have seen it, which must be one. */
  constructor(name: string, transport: Transport, token: string, places: Map<number, string>) {
    this.name = name;
    this.transport = transport;
    this.token = token;
    this.places = places;
  }

  get isConnected(): boolean {
    return this.#line !== undefined;
  }

  /** Connects to a process; `resumes` names the last id that it has, where it has one. */
  connect(url: string, resumes: boolean): void {
    const lastId = resumes ? this.#lastId : null;
    let last: number | null = lastId === null ? null : positionOf(lastId);
    const line: Line = lines[this.transport](url, this, lastId, {
      hear: (event, id, data) => {
        if (this.#line !== line) return;
        if (event !== "seed.sent" || id === null) {
          this.faults.push(`heard ${event} ${JSON.stringify(data)}`);
          return;
        }
        const position = positionOf(id);
        const isNext = last === null ? position <= this.#acked + 1 : position === last + 1;
        if (!isNext) this.faults.push(`heard ${position} behind ${last ?? `ack ${this.#acked}`}`);
        last = position;
        this.#lastId = id;
        const place = `${id} ${JSON.stringify(data)}`;
        if ((this.places.get(position) ?? place) !== place)
          this.faults.push(`${position} is ${place}, and was ${this.places.get(position)}`);
        this.places.set(position, place);
        this.heard.add((data as { readonly text: string }).text);
      },
      ended: () => {
        if (this.#line === line) this.#line = undefined;
      },
    });
    this.#line = line;
  }

  /** Acknowledges what it heard last. */
  ack(): void {
    if (this.#line === undefined || this.#lastId === null) return;
    this.#acked = Math.max(this.#acked, positionOf(this.#lastId));
    this.#line.ack(this.#lastId);
  }

  vanish(): void {
    const line = this.#line;
    this.#line = undefined;
    line?.cut();
  }

  /** Reads nothing for a while. */
  lag(millis: number): void {
    const line = this.#line;
    line?.pause();
    setTimeout(() => line?.resume(), millis);
  }
}

function positionOf(id: string): number {
  return Number.parseInt(id.split(".")[1] ?? "", 36);
}

const nothing = (): void => undefined;

const lines: Readonly<
  Record<Transport, (url: string, device: Device, lastId: string | null, ears: Ears) => Line>
> = {
  websocket(url, { name, token }, lastId, ears) {
    const after = lastId === null ? "" : `&last_event_id=${lastId}`;
    const address = `${url.replace("http", "ws")}/realtime/ws?device_id=${name}${after}`;
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
    socket.on("message", (text: Buffer) => {
      const { event, id, data } = JSON.parse(text.toString());
      if (event !== undefined) ears.hear(event, id, data);
    });
    socket.on("close", ears.ended);
    socket.on("error", nothing);
    const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;
    return {
      pause: () => void (isOpen() && socket.pause()),
      resume: () => socket.resume(),
      cut: () => socket.terminate(),
      ack: (id) =>
        void (isOpen() && socket.send(JSON.stringify({ type: "realtime.ack", up_to: id }))),
    };
  },

  sse(url, { name, token }, lastId, ears) {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastId === null ? {} : { "last-event-id": lastId }),
    };
    let pause = nothing;
    let resume = nothing;
    const req = request(`${url}/realtime/sse?device_id=${name}`, { headers, agent: false });
    req.on("response", (res) => {
      let text = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => {
        text += chunk;
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const event = /^event: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (event === undefined || data === undefined) continue;
          const envelope = JSON.parse(data);
          ears.hear(event, envelope.id, envelope.data);
        }
      });
      res.on("error", nothing);
      pause = () => void res.pause();
      resume = () => void res.resume();
    });
    req.on("error", nothing);
    req.on("close", ears.ended);
    req.end();
    return {
      pause: () => pause(),
      resume: () => resume(),
      cut: () => void req.destroy(),
      ack: (id) =>
        void fetch(`${url}/realtime/sse/ack?device_id=${name}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ up_to: id }),
        }).then((answer) => answer.text(), nothing),
    };
  },

  socketio(url, { name, token }, lastId, ears) {
    const socket = io(url, {
      path: "/realtime/socket.io",
      transports: ["websocket"],
      forceNew: true,
      reconnection: false,
      auth: { token, device_id: name, ...(lastId === null ? {} : { last_event_id: lastId }) },
    });
    socket.onAny((event: string, { id, data }) => ears.hear(event, id, data));
    socket.on("disconnect", ears.ended);
    socket.on("connect_error", ears.ended);
    // It tells nothing of a server that ends between the upgrade and its first word, until 20 seconds are over.
    socket.io.engine.on("close", ears.ended);
    return {
      // Its client cannot be told to read nothing.
      pause: nothing,
      resume: nothing,
      cut: () => void socket.disconnect(),
      ack: (id) => void (socket.connected && socket.emit("realtime.ack", { up_to: id })),
    };
  },
};
