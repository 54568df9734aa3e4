// An endpoint whose protocol is loaded with its first request, so that the service starts without
// it.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { knownError } from "../contract/errors.js";
import type { PrintError } from "../operations/error-envelope.js";
import type { Log } from "../ports/log.js";
import { refuse } from "./client-error.js";
import { drainingError } from "./draining.js";
import { readMetadata } from "./input/metadata.js";
import { replyError } from "./reply.js";
import { pathOf } from "./target.js";
import { checkUpgrade } from "./upgrade.js";

/** What answers requests and takes upgrades of its own paths. */
export interface Endpoint {
  /** Answers a request that is this endpoint's; returns whether it was. */
  answer?(req: IncomingMessage, res: ServerResponse): boolean;
  /** Takes an upgrade that is this endpoint's; returns whether it was. Throws what refuses it. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  stop(): void | Promise<void>;
}

export interface LateEndpoint extends Required<Endpoint> {
  stop(): Promise<void>;
}

/** The paths of an endpoint: those of upgrades, and those of plain requests. */
export interface LatePaths {
  readonly upgrades: readonly string[];
  readonly answers: readonly string[];
}

interface Surroundings {
  readonly log: Log;
  readonly printError: PrintError;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
}

/** Stands in for an endpoint; requests that arrive before it is loaded wait for it. */
export function lateEndpoint(
  paths: LatePaths,
  { log, printError, isAccepting }: Surroundings,
  load: () => Promise<Endpoint>,
): LateEndpoint {
  let loaded: Endpoint | undefined;
  let loading: Promise<Endpoint> | undefined;
  /** Uses the endpoint, at once if it is loaded; `refused` gets what it throws later. */
  const use = (work: (endpoint: Endpoint) => void, refused: (error: unknown) => void): void => {
    if (loaded !== undefined) return work(loaded);
    loading ??= load();
    loading
      .then(
        (endpoint) => {
          loaded = endpoint;
          work(endpoint);
        },
        (error: unknown) => {
          log.error({ err: error }, "an endpoint could not be loaded");
          throw error;
        },
      )
      .catch(refused);
  };
  return {
    answer(req, res) {
      if (!paths.answers.includes(pathOf(req.url ?? ""))) return false;
      use(
        (endpoint) => endpoint.answer?.(req, res),
        (error) => replyError(req, res, readMetadata(req.headers), error),
      );
      return true;
    },
    upgrade(req, socket, head) {
      if (!paths.upgrades.includes(pathOf(req.url ?? ""))) return false;
      if (!isAccepting()) throw drainingError();
      checkUpgrade(req);
      use(
        (endpoint) => endpoint.upgrade(req, socket, head),
        (error) => refuse(socket, knownError(error), printError),
      );
      return true;
    },
    async stop() {
      await (await loading)?.stop();
    },
  };
}
