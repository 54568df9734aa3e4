// The options of clients and calls. Types only.
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
   * The current caller: any text that is unique for each caller in each tenant, such as
   * `${login}@${tenant}`; null if nobody is signed in. It changes together with the credentials,
   * but not when tokens are refreshed.
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
   * The service's name in cache keys, the same in the browser and on a server that renders pages,
   * even if they use different addresses. The generated `createClient` sets it; a page that talks
   * to two services of one kind names each.
   */
  readonly service?: string;
  readonly tokens?: TokenStore;
  /** Sent with every request, such as `X-API-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How often a call that may be repeated is tried again; 2 where left out. */
  readonly retries?: number;
  /**
   * How long a call takes at most, its repetitions included, in milliseconds; 30 000 where left
   * out.
   */
  readonly timeoutMillis?: number;
  readonly fetch?: typeof fetch;
  /**
   * The path that gives new tokens for a refresh token; the generated `createClient` knows it.
   * Empty is none.
   */
  readonly refreshPath?: string;
  /** The header that carries the token; the generated `createClient` knows it. */
  readonly tokenHeader?: string;
  /** The scheme before the token; Bearer by default. */
  readonly tokenScheme?: string;
}

export interface Client extends ClientOptions {
  /** Refreshes that are under way, by the token that they replace: calls that need one share it. */
  readonly refreshing: Map<string, Promise<boolean>>;
  /** Calls that end the session of a token, by that token; they resolve with whether they did. */
  readonly leaving: Map<string, Promise<boolean>>;
}

/**
 * A client that is told who calls, as caches need it: its token store has a `caller`, or it was
 * made with one.
 */
export type CallerClient = Client & CallerSource;

/** The credentials at the beginning of a call, and their owner. */
export interface Held {
  readonly tokens: Tokens | null;
  readonly caller: string | null;
}

/** The facts of an operation that its generated function passes on. */
export interface Operation {
  readonly method: string;
  /** With `{name}` for members of the input; `{+name}` may have slashes. */
  readonly path: string;
  /** Members of the input that travel in the query. */
  readonly query?: readonly string[];
  /**
   * The body: the input (`input`), the members sent nowhere else as JSON (`rest`), as a form with
   * files or as one without (`fields`); or a member, bytes as they are.
   */
  readonly body?: "input" | "rest" | "form" | "fields" | { readonly member: string };
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
  /** The caller. If somebody else is signed in, the call fails with `client.aborted`, unsent. */
  readonly caller?: string | null;
  /** Is told the status and the headers of an answer before the call resolves. */
  readonly onAnswer?: (answer: Pick<Response, "status" | "headers">) => void;
}

/** The result of an operation that answers with bytes: a response to read as a stream. */
export type Bytes = Response;

/** The result of an operation that answers with many values: `readItems` reads them. */
export type Items<Item> = Bytes & {
  /** Never set; it only carries the type. */
  readonly carries?: Item;
};

/** A result, or its error as a value. */
export type Settled<Result, Code extends string> =
  | { readonly ok: true; readonly data: Result }
  | { readonly ok: false; readonly error: ApiError<Code> };

/** A call that is under way. Awaited, it throws its error. */
export interface Call<Result, Code extends string = string> extends Promise<Result> {
  /** Resolves with the result or with the error, whose `code` tells which. Never rejects. */
  settled(): Promise<Settled<Result, Code | ClientCode>>;
}
