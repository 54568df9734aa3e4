// What a service answers besides its operations: paths of a family's own (architecture.md "A family
// is one value").
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { PrintError } from "../operations/error-envelope.js";
import type { Probes, ServiceAtWork } from "../operations/family.js";
import type { DeclaredMetrics } from "../operations/metric.js";
import type { SignalBus } from "../ports/bus.js";
import type { SignalPlane } from "../ports/signals.js";
import type { Bind, CredentialPlaces } from "./boundary.js";
import { answerGet } from "./get-only.js";
import { KeptText } from "./kept-text.js";
import { jsonType } from "./reply.js";
import { securityHeaderList } from "./security-headers.js";
import { pathOf } from "./target.js";

export interface ServiceEndpoint {
  /** Whether a path, without its query, is one of its own. */
  isOwn(path: string): boolean;
  /** Answers a request for one of its paths; returns whether it did. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
  /**
   * Takes an upgrade of one of its paths; returns whether it did. Throws the error that refuses it.
   */
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  readonly probes?: Partial<Probes>;
  readonly metrics?: DeclaredMetrics;
  /** Ends what is open; called once, before the listener closes. */
  stop?(): Promise<void>;
}

/** What endpoints are made from. */
export interface Surroundings {
  readonly service: ServiceAtWork;
  readonly bind: Bind;
  readonly allowedOrigins: readonly string[];
  readonly credentials: CredentialPlaces;
  readonly defaultTenant: string;
  readonly printError: PrintError;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
  /** Seconds that running requests get to finish. */
  readonly drainSeconds: number;
  /** The URL at which clients reach the service, if a setting says it. */
  readonly publicUrl: string | undefined;
  /** Reads a document of the generated folder. */
  readDocument(name: string): Promise<Buffer>;
  /** Opens the bus that the settings name; null if there is none. */
  openBus(): Promise<SignalBus | null>;
  /** Sends signals to this plane from now on. */
  signalsTo(plane: SignalPlane): void;
}

/** An endpoint that answers one path with a JSON text, which is read once. */
export function textEndpoint(
  path: string,
  caching: string,
  read: () => Promise<string | Buffer>,
): ServiceEndpoint {
  const text = new KeptText(read);
  const headers = ["Cache-Control", caching, "Content-Type", jsonType, ...securityHeaderList];
  return {
    isOwn: (asked) => asked === path,
    answer(req, res) {
      if (pathOf(req.url ?? "") !== path) return false;
      answerGet(req, res, () => text.answer(req, res, [...headers]));
      return true;
    },
  };
}

/**
 * An endpoint that answers an API document, with the service's address in it where that is known.
 */
export function documentEndpoint(
  name: string,
  { publicUrl, readDocument }: Pick<Surroundings, "publicUrl" | "readDocument">,
  withAddress: (document: string, publicUrl: string) => string,
): ServiceEndpoint {
  return textEndpoint(`/${name}`, "no-cache", async () => {
    const document = await readDocument(name);
    return publicUrl === undefined ? document : withAddress(document.toString("utf8"), publicUrl);
  });
}
