// What is looked at of a request to find out who is calling.
import type { IncomingMessage } from "node:http";

/** A request, or what a connection keeps of it. */
export type CallerRequest = Pick<IncomingMessage, "headers"> & {
  readonly method?: string | undefined;
  readonly socket: Pick<IncomingMessage["socket"], "remoteAddress">;
};
