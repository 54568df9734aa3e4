// What operations sign and verify with, each for one use (service.md "Keys and secrets").
import type { TokenIssuer } from "../ports/tokens.js";
import type { Signer } from "../ports/signer.js";

export interface Keys {
  readonly tokens: TokenIssuer;
  /** Peppers the digests of refresh tokens. */
  readonly refresh: Signer;
  /** Peppers the digests of reset tokens. */
  readonly reset: Signer;
}
