// The servers that a Redis URL names: one, or the Sentinels that know which one is the master.

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export type RedisAddresses =
  | { readonly kind: "server"; readonly url: string }
  | {
      readonly kind: "sentinels";
      /** A plain URL of each Sentinel. */
      readonly urls: readonly string[];
      /** The name by which the Sentinels know the master. */
      readonly master: string;
      /** The plain URL of a server that they name, with the login for it. */
      readonly urlOf: (server: ServerAddress) => string;
    };

const form =
  /^(rediss?)\+sentinel:\/\/(?:([^/?#]*)@)?([^/?#@]*)\/([^/?#]+)(?:\/(\d{1,5}))?(?:\?(.*))?$/s;
const hostAndPort = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;
const sentinelPort = 26_379;

/**
 * Reads `redis://…` and `rediss://…`, as the package `redis` takes them, or
 * `redis+sentinel://user:password@a:26379,b:26379/master/database`, with `sentinel_username` and
 * `sentinel_password` in its query if the Sentinels ask for a login. `rediss+sentinel` encrypts all
 * connections. Throws a fault of the URL.
 */
export function redisAddresses(url: string): RedisAddresses {
  if (!/^rediss?\+sentinel:/.test(url)) {
    checkPlain(url);
    return { kind: "server", url };
  }
  const [, scheme, login = "", hosts = "", master = "", database = "0", query = ""] =
    form.exec(url) ?? [];
  if (scheme === undefined)
    throw new Error("must name Sentinels and a master: redis+sentinel://a:26379,b:26379/mymaster");
  const parameters = new URLSearchParams(query);
  const valueOf = (name: string): string => encodeURIComponent(parameters.get(name) ?? "");
  const own = `${valueOf("sentinel_username")}:${valueOf("sentinel_password")}`;
  for (const name of parameters.keys())
    if (!["sentinel_username", "sentinel_password"].includes(name))
      throw new Error("may have sentinel_username and sentinel_password, and no other parameter");
  const urlAt = (user: string, { host, port }: ServerAddress, path = ""): string =>
    `${scheme}://${user === "" ? "" : `${user}@`}${host}:${port}${path}`;
  const urls = hosts
    .split(",")
    .map((place, at) => urlAt(own === ":" ? "" : own, sentinelAt(place, at)));
  const urlOf = ({ host, port }: ServerAddress): string =>
    urlAt(login, { host: host.includes(":") ? `[${host}]` : host, port }, `/${database}`);
  for (const one of [...urls, urlOf({ host: "master", port: 1 })]) checkPlain(one);
  return { kind: "sentinels", urls, master: decodeName(master), urlOf };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Error(`names a master that can't be read: ${JSON.stringify(text)}`, { cause });
  }
}

/** Throws if the package couldn't read a URL. What can't be read may be part of a password. */
function checkPlain(url: string): void {
  const fault = "can't be read: encode special characters of the password, such as %23 for #";
  if (!URL.canParse(url)) throw new Error(fault);
  const { username, password, pathname } = new URL(url);
  try {
    decodeURIComponent(`${username} ${password}`);
  } catch (cause) {
    throw new Error(fault, { cause });
  }
  if (!/^\/?\d{0,5}$/.test(pathname))
    throw new Error("must name a database by its number, such as /0, or none");
}

function sentinelAt(place: string, at: number): ServerAddress {
  const [, host, port = String(sentinelPort)] = hostAndPort.exec(place) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`names a host that can't be read: number ${at + 1}`);
  return { host, port: Number(port) };
}

/** What is wrong with a Redis URL; null if it can be connected to. */
export function redisAddressFault(url: string): string | null {
  try {
    redisAddresses(url);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
