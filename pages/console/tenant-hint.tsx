// What is shown depends on the tenant: a caller who is in none sees little, and is told why.
import type { JSX } from "preact";
import { claimsOf, heldToken } from "../shell/tokens.js";
import { useLoaded } from "../shell/use-loaded.js";
import type { Api } from "./api.js";

/** A sentence for whoever has tenants and is in none of them. */
export function TenantHint({ api }: { readonly api: Api }): JSX.Element | null {
  const isInside = claimsOf(heldToken())["tid"] !== undefined;
  const loaded = useLoaded(async () => {
    if (isInside || !api.can("tenants.list_tenants")) return 0;
    const { tenants } = await api.call<{ readonly tenants: readonly unknown[] }>(
      "tenants.list_tenants",
    );
    return tenants.length;
  });
  if (loaded.state !== "loaded" || loaded.value === 0) return null;
  return <p class="message hint">You are in no tenant. Choose one above to see what it holds.</p>;
}
