// Signed addresses: a request as a token, with an HMAC over it and its end (RFC 2104).
import { fail } from "../../contract/errors.js";
import type { Clock } from "../../ports/clock.js";
import type { Signer } from "../../ports/signer.js";
import { directPath, type Addresses, type DirectRequest } from "../../ports/direct-addresses.js";

/** Addresses below the result of `base`: never below the host that a request names. */
export function signedAddresses(signer: Signer, clock: Clock, base: () => string): Addresses {
  return {
    sign(request, seconds) {
      const expiresAt = Math.floor(clock.now() / 1000) + seconds;
      const claims = Buffer.from(JSON.stringify({ ...request, expiresAt })).toString("base64url");
      const signature = signer.sign("objects", claims).toString("base64url");
      return `${base()}${directPath}${claims}.${signature}`;
    },

    verify(token, method) {
      const [claims = "", signature = "", ...rest] = token.split(".");
      const mac = Buffer.from(signature, "base64url");
      const isOurs = rest.length === 0 && mac.toString("base64url") === signature;
      if (!isOurs || !signer.verify("objects", claims, mac))
        throw fail("direct_transfer_forbidden");
      // The signature proves that `sign` made it.
      const { expiresAt, ...request } = JSON.parse(
        Buffer.from(claims, "base64url").toString("utf8"),
      ) as DirectRequest & { readonly expiresAt: number };
      if (expiresAt * 1000 <= clock.now()) throw fail("direct_transfer_forbidden");
      const allowed = method === "HEAD" ? "GET" : method;
      if (methodOf(request) !== allowed) throw fail("direct_transfer_forbidden");
      return request;
    },
  };
}

function methodOf({ kind }: DirectRequest): "GET" | "POST" | "PUT" {
  if (kind === "form") return "POST";
  return kind === "download" ? "GET" : "PUT";
}
