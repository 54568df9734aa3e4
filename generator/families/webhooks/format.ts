// `webhooks:`: integration events to which callers may subscribe.
import { listOf, mount, optional, requiredGuard } from "../../load/format-parts.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";

const webhooks = {
  kind: "object",
  members: {
    guard: requiredGuard({ kind: "name", of: "policies" }, "The policy of all operations."),
    events: optional(
      listOf(
        {
          kind: "string",
          pattern: /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/,
          what: "an event such as orders.placed",
          example: "orders.placed",
        },
        1,
      ),
      "The events of `outbox` that may be subscribed to; all of your own where left out.",
    ),
    max: optional(
      { kind: "integer", minimum: 1 },
      "Webhooks of a caller in a tenant; 20 where left out.",
    ),
    mount: optional(mount, "Where the routes are; /webhooks where left out."),
  },
} as const satisfies FormatShape;

export type WebhooksDeclaration = Declared<typeof webhooks>;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly webhooks: WebhooksDeclaration | undefined;
  }
}

/** The sections of the registry that this family reads. */
export const format: Readonly<Record<string, Member>> = {
  webhooks: optional(webhooks, "Integration events to which callers may subscribe."),
};
