// Addresses of single requests that the service itself answers, for engines that have none
// (decisions.md "Object storage").
/** What a signed address permits. */
export type DirectRequest =
  | { readonly kind: "download"; readonly key: string }
  | {
      readonly kind: "upload";
      readonly key: string;
      readonly contentType: string | null;
      readonly maxBytes: number;
    }
  | {
      readonly kind: "form";
      readonly key: string;
      readonly contentType: string | null;
      readonly maxBytes: number;
    }
  | {
      readonly kind: "part";
      readonly key: string;
      readonly uploadId: string;
      readonly partNumber: number;
      readonly maxBytes: number;
    };

export interface Addresses {
  /** The address of a request, for so many seconds. */
  sign(request: DirectRequest, seconds: number): string;
  /**
   * The request of an address. Throws `direct_transfer_forbidden` if it is forged, expired, or
   * of another method.
   */
  verify(token: string, method: string): DirectRequest;
}

/** Where such addresses begin, below the service's own address. */
export const directPath = "/_objects/";
