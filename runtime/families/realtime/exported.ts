// The signals that wait in somebody's mailboxes.
import type { ExecutionContext } from "../../operations/context.js";
import type { ExportedLine, ExportedPerson } from "../../operations/exported.js";
import { readPiece } from "../../operations/read-piece.js";
import { mailboxStore, type MailboxEntry } from "../../ports/mailbox.js";
import type { RealtimeSpec } from "./spec.js";
import { entriesTold } from "./told-entries.js";

/** Entries that are read at once. */
const readAtOnce = 100;

/** All that their mailboxes still have; signals that this version can't tell are left out. */
export async function* exportMailboxes(
  spec: RealtimeSpec,
  context: ExecutionContext,
  { principalId }: ExportedPerson,
): AsyncGenerator<ExportedLine> {
  const tell = entriesTold(spec, context.resources);
  for (const tenant of await readPiece(context).of(mailboxStore).placesOf(principalId))
    for (let after = 0; ;) {
      const entries: readonly MailboxEntry[] = await readPiece(context)
        .of(mailboxStore)
        .read({ tenant, principalId }, after, readAtOnce);
      for (const entry of entries) {
        const signal = tell(entry);
        if (signal === "undeclared" || signal === "lost") continue;
        const data = { name: signal.name, data: JSON.parse(signal.data) as unknown };
        yield { kind: "signal", tenant_id: tenant, data };
      }
      after = entries.at(-1)?.position ?? after;
      if (entries.length < readAtOnce) break;
    }
}
