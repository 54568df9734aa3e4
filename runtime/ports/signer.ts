// Signing of values that leave the service and come back.

/** Signs text for one purpose. A signature made for one purpose never verifies for another. */
export interface Signer {
  sign(purpose: string, text: string): Buffer;
  /** What each secret signs, the first one's first: to look up what an earlier secret has signed. */
  all(purpose: string, text: string): readonly Buffer[];
  verify(purpose: string, text: string, signature: Buffer): boolean;
}
