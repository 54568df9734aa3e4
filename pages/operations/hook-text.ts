// Hooks of operations in words.
import type { Entry } from "../openapi/catalog.js";

/** What a hook does, in words. */
export function hookText({ phase, id }: Entry["hooks"][number]): string {
  const [name = "", ...rest] = id.split(" ");
  const given = rest.join(" ");
  const texts: Readonly<Record<string, string>> = {
    principal: "The caller has to be signed in.",
    session: "The caller needs a session of its own, not an API key.",
    any: "The caller needs a session, with or without a tenant.",
    tenant: "The caller has to be in a tenant.",
    authorize: `The caller needs the permission ${given}.`,
    rate_limit: `At most ${given} a caller.`,
    idempotency: "A request that is repeated with its key is answered as before.",
  };
  return (
    texts[name] ??
    `${phase === "before" ? "Before" : phase === "after" ? "After" : "Around"} it runs ${id}.`
  );
}
