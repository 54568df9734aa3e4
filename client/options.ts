// What a client is made of and what a call may be given: types alone.
import type { ApiError, ClientCode } from "./error.js";

/** Where tokens are kept: in memory, in a browser's storage, wherever the application likes. */
export interface TokenStore extends CallerSource {
  get(): Tokens | null | Promise<Tokens | null>;
  /** Null forgets them: nobody is signed in any more. */
  set(tokens: Tokens | null): void | Promise<void>;
}

/** Who calls. The application knows; a client never reads it from a token. */
export interface CallerSource {
  /**
   * Who is signed in: any text that is another one for each caller in each tenant, such as `${login}@${tenant}`. Null is
   * nobody. It has to change together with the credentials, and stays the same when tokens are refreshed.
   */
  caller(): string | null;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string | null;
}

export interface ClientOptions extends Partial<CallerSource> {
  /** The address of the service, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /**
   * What the service is called in keys of caches: a server that renders pages and the browser have one name for it, also
   * where their addresses of it differ. The generated `createClient` knows it; a page that talks to two services of one
   * kind gives each its own.
   */
  readonly service?: string;
  readonly tokens?: TokenStore;
  /** Sent with every request, such as `X-API-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How often a call that may be repeated is tried again; 2 where left out. */
  readonly retries?: number;
  /** How long a call takes at most, its repetitions included, in milliseconds; 30 000 where left out. */
  readonly timeoutMillis?: number;
  readonly fetch?: typeof fetch;
  /** The path that gives new tokens for a refresh token; the generated `createClient` knows it. Empty is none. */
  readonly refreshPath?: string;
  /** The header that carries the token; the generated `createClient` knows it. */
  readonly tokenHeader?: string;
  /** What stands before it; Bearer where left out. */
  readonly tokenScheme?: string;
}

export interface Client extends ClientOptions {
  /** Refreshes that are under way, by the token that they replace: calls that need one share it. */
  readonly refreshing: Map<string, Promise<boolean>>;
  /** Calls that end the session of a token, by that token; they resolve with whether they did. */
  readonly leaving: Map<string, Promise<boolean>>;
}

/** A client that is told who calls, as caches need it: its token store has a `caller`, or it was made with one. */
export type CallerClient = Client & CallerSource;

/** What is kept when a call begins: the credentials, and whose they are. */
export interface Held {
  readonly tokens: Tokens | null;
  readonly caller: string | null;
}

/** What a generated function knows of its operation. */
export interface Operation {
  readonly method: string;
  /** With `{name}` for members of the input; `{+name}` may have slashes. */
  readonly path: string;
  /** Members of the input that travel in the query. */
  readonly query?: readonly string[];
  /** What the body is: the input (`input`), the members that travel nowhere else (`rest`), a form of them, or one member. */
  readonly body?: "input" | "rest" | "form" | { readonly member: string };
  /** `safe` changes nothing; `keyed` honours an Idempotency-Key. Others are not tried again. */
  readonly repeats?: "safe" | "keyed";
  /** Whether it answers with bytes, which are handed over as the response. */
  readonly isBytes?: true;
  /** Whether it looks at no credential: it is sent without, and its 401 is its own. */
  readonly ignoresTokens?: true;
  /** Whether it answers with the tokens of another session and may end the one that calls. */
  readonly leavesSession?: true;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMillis?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** One of the caller's own; a call that honours one has one of its own otherwise. */
  readonly idempotencyKey?: string;
  /** Whose call it is: where somebody else is signed in, it is `client.aborted`, and nothing is sent. */
  readonly caller?: string | null;
  /** Is told the status and the headers of an answer before the call resolves. */
  readonly onAnswer?: (answer: Pick<Response, "status" | "headers">) => void;
}

/** What an operation answers whose result is bytes: a response, to be read as a stream. */
export type Bytes = Response;

/** A result, or its error as a value. */
export type Settled<Result, Code extends string> =
  | { readonly ok: true; readonly data: Result }
  | { readonly ok: false; readonly error: ApiError<Code> };

/** A call that is under way. Awaited, it throws its error. */
export interface Call<Result, Code extends string = string> extends Promise<Result> {
  /** Resolves with the result or with the error, whose `code` tells which. Never rejects. */
  settled(): Promise<Settled<Result, Code | ClientCode>>;
}
