// Chromium's own EventSource and WebSocket as clients of the realtime plane, in a page of the service's origin.
import type { Browser, Page } from "playwright-core";
import { eventNames, hearing, type Connect, type Heard } from "./realtime-clients.js";

/** A page of the service's origin whose cookie is the token. */
async function pageOf(browser: Browser, url: string, token: string): Promise<Page> {
  const context = await browser.newContext();
  await context.addCookies([{ name: "session", value: token, url }]);
  await context.route(`${url}/page`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><title>page</title>" }),
  );
  const page = await context.newPage();
  await page.goto(`${url}/page`);
  return page;
}

/** What a client in a page does besides connecting. */
async function clientOf(page: Page, ack: (id: string) => Promise<void>) {
  const { heard, presence, hear } = hearing();
  let ended = false;
  await page.exposeFunction("hear", (frame: Heard) => hear(frame));
  await page.exposeFunction("end", () => {
    ended = true;
  });
  return {
    heard,
    presence,
    ack,
    /** Nothing in the page runs for a while. */
    lag: (millis: number) =>
      void page
        .evaluate((most) => {
          const until = Date.now() + most;
          while (Date.now() < until);
        }, millis)
        .catch(() => undefined),
    close: () => void page.context().close(),
    hasEnded: () => ended,
  };
}

/** `new EventSource(…)`, whose credential is a cookie. */
export function browserEventSource(browser: Browser): Connect {
  return async ({ url }, { token }, { device, topics, lastEventId } = {}) => {
    const page = await pageOf(browser, url, token);
    const named = device === undefined ? "" : `device_id=${device}`;
    const client = await clientOf(page, (id) =>
      page.evaluate(
        async ([path, upTo]) => {
          const body = JSON.stringify({ up_to: upTo });
          const headers = { "content-type": "application/json" };
          const answer = await fetch(path, { method: "POST", headers, body });
          if (!answer.ok) throw new Error(await answer.text());
        },
        [`/realtime/sse/ack?${named}`, id] as const,
      ),
    );
    const query = new URLSearchParams(named);
    if (topics !== undefined) query.set("topics", topics.join(","));
    if (lastEventId !== undefined) query.set("last_event_id", lastEventId);
    await page.evaluate(
      ([path, names]) =>
        new Promise<void>((resolve, reject) => {
          const { hear, end } = globalThis as unknown as {
            hear(frame: object): void;
            end(): void;
          };
          const source = new EventSource(path);
          for (const name of names)
            source.addEventListener(name, (event) => {
              const { data } = event as Event & { readonly data: string };
              hear({ event: name, ...JSON.parse(data) });
            });
          source.addEventListener("open", () => resolve());
          source.addEventListener("error", () => {
            source.close();
            end();
            reject(new Error("refused"));
          });
        }),
      [`/realtime/sse?${query}`, eventNames] as const,
    );
    return client;
  };
}

/** `new WebSocket(…)`, whose credential is a subprotocol. */
export function browserWebSocket(browser: Browser): Connect {
  return async ({ url }, { token }, { device, topics, lastEventId } = {}) => {
    const page = await pageOf(browser, url, "");
    const client = await clientOf(page, (id) =>
      page.evaluate((upTo) => {
        const { talk } = globalThis as unknown as { talk(frame: object): Promise<void> };
        return talk({ type: "realtime.ack", up_to: upTo });
      }, id),
    );
    const query = new URLSearchParams();
    if (device !== undefined) query.set("device_id", device);
    if (topics !== undefined) query.set("topics", topics.join(","));
    if (lastEventId !== undefined) query.set("last_event_id", lastEventId);
    await page.evaluate(
      ([address, credential]) =>
        new Promise<void>((resolve, reject) => {
          const page = globalThis as unknown as {
            hear(frame: object): void;
            end(): void;
            talk(frame: object): Promise<void>;
          };
          const socket = new WebSocket(address, ["realtime.v1", `bearer.${credential}`]);
          let answered = (): void => undefined;
          socket.addEventListener("message", ({ data }) => {
            const frame = JSON.parse(data);
            if ("event" in frame) page.hear(frame);
            else answered();
          });
          // What is answered behind a frame says that it has been taken.
          page.talk = (frame) =>
            new Promise((done) => {
              answered = done;
              socket.send(JSON.stringify(frame));
              socket.send(JSON.stringify({ type: "cmd", event: "nothing" }));
            });
          socket.addEventListener("open", () => void page.talk({ type: "cmd" }).then(resolve));
          socket.addEventListener("close", ({ code, reason }) => {
            page.end();
            reject(new Error(`${code} ${reason}`));
          });
        }),
      [`${url.replace("http", "ws")}/realtime/ws?${query}`, token] as const,
    );
    return client;
  };
}
