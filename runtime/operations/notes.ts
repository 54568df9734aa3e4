// What an invocation says of itself, for the audit log and for entries of the trail.
import type { InvocationMetadata } from "./invocation-facts.js";
import type { Recorded, SaidNote } from "./recorded.js";
import type { TransactionEnd } from "./transaction-end.js";

type Fields = Readonly<Record<string, string>>;

interface Noted {
  all: Fields;
  /** Those that were said outside a transaction: they are about all that follows. */
  readonly outside: SaidNote[];
}

/** By what all contexts of an invocation share. */
const said = new WeakMap<InvocationMetadata, Noted>();

interface Noting {
  readonly metadata: InvocationMetadata;
  readonly tenant: string;
  readonly holdsTransaction: boolean;
  readonly ending: { readonly notes: SaidNote[] };
}

/** All that the invocation has said. */
export function notesOf({ metadata }: Pick<Noting, "metadata">): Fields {
  return said.get(metadata)?.all ?? {};
}

/** Says something of the invocation, and of what its transaction changes if it has one. */
export function noteDown(context: Noting, fields: Fields): void {
  const { metadata, tenant, holdsTransaction, ending } = context;
  const noted = said.get(metadata) ?? { all: {}, outside: [] };
  said.set(metadata, noted);
  noted.all = { ...noted.all, ...fields };
  if (holdsTransaction) ending.notes.push({ tenant, fields });
  else noted.outside.push({ tenant, fields });
}

interface Keeping extends Noting {
  readonly resources: {
    readonly recorded: ((context: object, changes: readonly Recorded[]) => Promise<void>) | null;
  };
}

/** Has families keep what a transaction has changed, with all that was said of it. */
export async function keepRecorded(context: Keeping, end: TransactionEnd): Promise<void> {
  end.say([...(said.get(context.metadata)?.outside ?? []), ...end.notes]);
  await context.resources.recorded?.(context, end.recorded);
}
