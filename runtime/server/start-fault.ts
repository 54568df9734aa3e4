// What an operator reads when a process cannot do its work: one line where the cause is known, the stack where it is not.
import { ServiceError } from "../contract/errors.js";
import { SettingsError } from "./settings.js";

/** The text for standard error, without a line break at its end. `host` is where the process was to listen. */
export function startFault(error: unknown, host: string | undefined): string {
  if (error instanceof SettingsError) return error.message;
  if (error instanceof ServiceError) {
    const what = error.cause instanceof Error ? error.cause.message : JSON.stringify(error.context);
    return `${error.code}: ${what}`;
  }
  if (!(error instanceof Error)) return String(error);
  return listenFault(error, host) ?? error.stack ?? error.message;
}

/** What Node tells of a socket that cannot be bound. */
interface SystemFault {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
}

function listenFault(error: Error & SystemFault, host: string | undefined): string | null {
  const { code, syscall, address, port, hostname } = error;
  // A database that is not found has the same code, and another name.
  if (syscall === "getaddrinfo" && hostname === host)
    return `HOST ${host} cannot be resolved (${code}): set it to an address of this machine`;
  // A process of `opwright dev` asks the one that has the listener, whose fault it is then.
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
