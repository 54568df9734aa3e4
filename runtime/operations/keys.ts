// The secrets that operations work with, each for one use (service.md "Keys and secrets").
import type { Signer } from "./signer.js";

export interface Keys {
  /** Secrets of access tokens: the first signs, all verify. */
  readonly accessToken: readonly Buffer[];
  /** Peppers the digests of refresh tokens. */
  readonly refresh: Signer;
}
