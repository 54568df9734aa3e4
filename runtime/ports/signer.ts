// The port of signing: for values that clients get from the service and send back, and for digests
// of tokens.

/** Signs text for one purpose. A signature made for one purpose never verifies for another. */
export interface Signer {
  /** The signature by the current secret. */
  sign(purpose: string, text: string): Buffer;
  /**
   * The signatures by all secrets, the current one's first: for looking up what an earlier secret
   * has signed.
   */
  all(purpose: string, text: string): readonly Buffer[];
  /** Whether the signature is that of any of the secrets. */
  verify(purpose: string, text: string, signature: Buffer): boolean;
}
