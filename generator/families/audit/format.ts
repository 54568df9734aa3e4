// `audit:`: a trail of who has changed what.
import { duration, listOf, mount, optional, requiredGuard } from "../../load/format-parts.js";
import type { Declared, FormatShape, Member } from "../../load/shape.js";

const audit = {
  kind: "object",
  members: {
    guard: requiredGuard({ kind: "name", of: "policies" }, "The policy of whoever reads it."),
    keep: optional(duration, "How long entries are kept; for ever where left out.", "365d"),
    except: optional(
      listOf({ kind: "string", what: "a document or storage", example: "places" }, 1),
      "Documents and storages whose changes have no entries, such as data that is loaded in bulk.",
      ["places"],
    ),
    mount: optional(mount, "Where the routes are; /audit where left out."),
  },
} as const satisfies FormatShape;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly audit: Declared<typeof audit> | undefined;
  }
}

/** The sections of the registry that this family reads. */
export const format: Readonly<Record<string, Member>> = {
  audit: {
    ...optional(
      audit,
      "A trail of who has changed what in a tenant, and the operations to read it.",
    ),
    alsoCalled: ["audit_log", "audit_trail", "activity"],
  },
};
