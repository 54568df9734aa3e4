// A client of a service that is being broken: every request has a time limit of its own, and no answer is an outcome as well.
import { Agent, request as httpRequest } from "node:http";

/** What became of a request. `status` is 0 where no answer came; `fault` then says why. */
export interface Outcome {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly fault: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The parsed body, or null. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
  readonly body: any;
  readonly bytes: Buffer;
  readonly millis: number;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** After which the client gives up. */
  readonly patienceMillis?: number;
}

export interface Client {
  readonly token: string;
  call(method: string, path: string, options?: RequestOptions): Promise<Outcome>;
  close(): void;
}

/** A client with connections that stay open; `address` is the loopback address it comes from. */
export function newClient(
  url: string,
  options: { readonly token?: string; readonly address?: string; readonly sockets?: number } = {},
): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: options.sockets ?? 16 });
  const { token = "", address = "127.0.0.1" } = options;
  return {
    token,
    call: (method, path, given = {}) =>
      send(new URL(path, url), method, {
        ...given,
        agent,
        address,
        headers: {
          ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
          ...given.headers,
        },
      }),
    close: () => agent.destroy(),
  };
}

function send(
  url: URL,
  method: string,
  given: RequestOptions & { readonly agent: Agent; readonly address: string },
): Promise<Outcome> {
  const began = performance.now();
  const { body, headers = {}, patienceMillis = 30_000, agent, address } = given;
  const isBytes = Buffer.isBuffer(body);
  const payload = body === undefined || isBytes ? body : Buffer.from(JSON.stringify(body));
  return new Promise((resolve) => {
    const end = (
      outcome: Partial<Pick<Outcome, "status" | "fault" | "headers" | "bytes">>,
    ): void => {
      clearTimeout(timer);
      const millis = performance.now() - began;
      const { status = 0, fault = "", headers: got = {}, bytes = Buffer.alloc(0) } = outcome;
      const { pathname: path } = url;
      resolve({ method, path, status, fault, headers: got, bytes, body: parsed(bytes), millis });
    };
    const request = httpRequest(
      url,
      {
        method,
        agent,
        localAddress: address,
        headers: {
          ...(payload === undefined
            ? {}
            : {
                "content-type": isBytes ? "application/octet-stream" : "application/json",
                "content-length": payload.length,
              }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const { statusCode: status = 0, headers: got } = response;
          end({ status, headers: got, bytes: Buffer.concat(chunks) });
        });
        response.on("error", (error) => end({ fault: `cut: ${codeOf(error)}` }));
      },
    );
    const timer = setTimeout(() => {
      end({ fault: "no answer" });
      request.destroy();
    }, patienceMillis);
    request.on("error", (error) => end({ fault: codeOf(error) }));
    request.end(payload);
  });
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}
