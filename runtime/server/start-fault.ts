// What an operator reads when a process can't do its work: one line if the cause is known, the
// stack if it isn't.
import { ServiceError } from "../contract/errors.js";
import { SettingsError } from "./settings.js";

/**
 * The text for standard error, without a line break at its end. `host` is the HOST setting,
 * undefined if it isn't known.
 */
export function startFault(error: unknown, host: string | undefined): string {
  if (error instanceof SettingsError) return error.message;
  if (error instanceof ServiceError) {
    const what = error.cause instanceof Error ? error.cause.message : JSON.stringify(error.context);
    return `${error.code}: ${what}`;
  }
  if (!(error instanceof Error)) return String(error);
  return listenFault(error, host) ?? error.stack ?? error.message;
}

/** What Node says about a socket that can't be bound. */
interface SystemFault {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
}

function listenFault(error: Error & SystemFault, host: string | undefined): string | null {
  const { code, syscall, address, port, hostname } = error;
  // A database whose host can't be resolved has the same code, but another host name.
  if (syscall === "getaddrinfo" && hostname === host)
    return `HOST ${host} cannot be resolved (${code}): set it to an address of this machine`;
  // In a process of `opwright dev`, the fault comes from the primary process, which opens the port,
  // and says `bind`.
  if (syscall !== "listen" && syscall !== "bind") return null;
  const place = `port ${port} of ${address}`;
  switch (code) {
    case "EADDRINUSE":
      return `${place} is in use: end the process that has it, or set PORT to another one`;
    case "EACCES":
      return `${place} may not be opened by this account: set PORT to one above 1023`;
    case "EADDRNOTAVAIL":
      return `HOST ${address} is no address of this machine: set it to one, or to 0.0.0.0 for all`;
    default:
      return null;
  }
}
