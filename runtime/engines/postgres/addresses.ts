// The servers that a PostgreSQL URL names. libpq's form with several hosts is read here, because
// `pg` takes only one.
import { sessionSettings } from "./session-settings.js";

/** Where to connect, and what counts as a connection. */
export interface ServerAddresses {
  /** A URL for each server, in the order in which they are tried. */
  readonly urls: readonly string[];
  /**
   * Whether a server counts only if it accepts writes: there are several, or the URL asks for it.
   */
  readonly mustWrite: boolean;
  /**
   * The session settings in the URL's `options`, as the server reads them; undefined if it has
   * none.
   */
  readonly options: string | undefined;
  /** The URL without its password and its query, for messages. */
  readonly plain: string;
}

const sessions = ["any", "read-write", "primary"];
const whole = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?]*)(?:\?(.*))?$/s;
const hostAndPort = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;

/**
 * Reads a URL such as `postgres://user:password@a:5432,b/name?target_session_attrs=read-write`.
 * Throws a fault of the URL.
 */
export function serverAddresses(url: string): ServerAddresses {
  const [, scheme, user = "", hosts = "", path = "", query = ""] = whole.exec(url) ?? [];
  if (scheme === undefined) throw new Error("is not a postgres:// URL");
  const parameters = new URLSearchParams(query);
  const session = parameters.get("target_session_attrs") ?? "any";
  if (!sessions.includes(session))
    throw new Error(
      `has target_session_attrs=${session}: it must be one of ${sessions.join(", ")}`,
    );
  const options = parameters.get("options") ?? undefined;
  for (const name of ["target_session_attrs", "options"]) parameters.delete(name);
  nameVerification(parameters);
  const places = parameters.has("host") ? namedPlaces(parameters) : hosts.split(",");
  for (const name of ["host", "port"]) if (places.length > 1) parameters.delete(name);
  const isAlone = places.length === 1;
  const authorities = isAlone ? [hosts] : places;
  for (const [at, place] of authorities.entries())
    if (place !== "" || !isAlone) checkPlace(place, at);
  const rest = `${path}${parameters.size === 0 ? "" : `?${parameters}`}`;
  const urls = authorities.map((place) => `${scheme}${user}${place}${rest}`);
  if (!urls.every(isReadable))
    throw new Error("can't be read: encode special characters of the password, such as %23 for #");
  return {
    urls,
    mustWrite: !isAlone || session !== "any",
    options,
    plain: `${scheme}${user.replace(/(?::.*)?@$/s, "@")}${places.join(",")}${path}`,
  };
}

/**
 * Modes that `pg` takes for `verify-full`, with a warning on stderr, unless the URL asks for
 * libpq's meaning.
 */
const verifying = ["prefer", "require", "verify-ca"];

/**
 * Calls the mode what it is: the certificate is verified, now and with any later version of `pg`.
 */
function nameVerification(parameters: URLSearchParams): void {
  const mode = parameters.get("sslmode") ?? "";
  const isOfLibpq = parameters.get("uselibpqcompat") === "true";
  if (verifying.includes(mode) && !isOfLibpq) parameters.set("sslmode", "verify-full");
}

/** What is wrong with a URL; null if it can be connected to. */
export function addressFault(url: string): string | null {
  return faultOf(() => serverAddresses(url));
}

/** What of a URL's options can't be set in each transaction, for a pooler; null if all can. */
export function poolingFault(url: string): string | null {
  if (addressFault(url) !== null) return null;
  return faultOf(() => sessionSettings(serverAddresses(url).options));
}

function faultOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The hosts of the query (`?host=a,b&port=5432,5433`): one port for all of them, or one for each.
 */
function namedPlaces(parameters: URLSearchParams): readonly string[] {
  const hosts = (parameters.get("host") ?? "").split(",");
  const ports = (parameters.get("port") ?? "").split(",");
  if (hosts.length === 1) return hosts;
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new Error("must name one port, or as many as hosts");
  return hosts.map((host, at) => {
    const port = ports[ports.length === 1 ? 0 : at] ?? "";
    return port === "" ? host : `${host}:${port}`;
  });
}

/** What can't be read may be part of a password. */
function checkPlace(place: string, at: number): void {
  const [, host, port = "5432"] = hostAndPort.exec(place) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`names a host that can't be read: number ${at + 1}`);
}

/**
 * `pg` encodes spaces and stray percent signs, and takes an absent host for the machine's own
 * socket.
 */
function isReadable(url: string): boolean {
  const encoded = encodeURI(url).replaceAll(/%25([0-9a-fA-F]{2})/g, "%$1");
  return (
    URL.canParse(url) || URL.canParse(encoded) || URL.canParse(encoded.replace("@/", "@localhost/"))
  );
}
