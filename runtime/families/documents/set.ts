// What the service sets by itself is set here, whoever writes: callers, handlers, many at once, references that clear.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { isPending } from "../../operations/pending.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * The body with what the service sets, in the order of the declaration; functions see what is not of the document as well.
 * Throws `core.authentication` where nobody is signed in whom a member must name, and `core.internal` where a function of
 * the author's fails: nobody who calls could mend that.
 */
export function withSet(
  { name, set, nullable }: DocumentDeclaration,
  context: ExecutionContext,
  body: Body,
  on: "create" | "write",
): Body {
  if (set === undefined) return body;
  const due = set.filter((rule) => on === "create" || rule.on === "write");
  const base = {
    caller: context.identity?.principalId ?? null,
    now: new Date(context.clock.now()).toISOString(),
  };
  const plain = due.filter(({ isOfDocument }) => !isOfDocument);
  const known: Body = {
    ...body,
    ...Object.fromEntries(
      plain.map(({ member, value }) => {
        const given = value({ ...base, document: body });
        // Nobody is signed in, and somebody must be named.
        if (given === null && !nullable.includes(member)) throw fail("core.authentication");
        return [member, given];
      }),
    ),
  };
  const ofDocument = new Set(
    set.filter(({ isOfDocument }) => isOfDocument).map(({ member }) => member),
  );
  const document = Object.fromEntries(
    Object.entries(known).filter(([member]) => !ofDocument.has(member)),
  );
  const made = due
    .filter(({ isOfDocument }) => isOfDocument)
    .map(({ member, value }) => {
      const made = attempt(`${name}.${member}`, () => value({ ...base, document }));
      return [member, made] as const;
    });
  return { ...known, ...Object.fromEntries(made) };
}

function attempt(what: string, make: () => unknown): unknown {
  let made: unknown;
  try {
    made = make();
  } catch (cause) {
    throw fail("core.internal", {}, { cause });
  }
  if (isPending(made)) {
    const cause = new TypeError(`${what} is set by a function that waits: it must be pure`);
    throw fail("core.internal", {}, { cause });
  }
  return made ?? null;
}
