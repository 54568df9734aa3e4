// What the service sets by itself is set here, whoever writes: callers, handlers, many at once,
// references that clear.
import { fail } from "../../contract/errors.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { Writer } from "../../ports/set-rules.js";
import { isPending } from "../../work/pending.js";
import { rulesOn, type Occasioned } from "./writer.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * The body with what the service sets, in the order of the rules; functions see what is not
 * of the document as well, sums and counts what was made before them. Throws `core.authentication`
 * if nobody is signed in whom a member must name, `profile_required` where who is has no profile,
 * and `core.internal` where a function of the author's fails: nobody who calls could mend that.
 * `left` are members that whoever creates has left out.
 */
export function withSet(
  spec: AnyDocumentSpec,
  writer: Writer,
  body: Body,
  on: Occasioned,
  left: readonly string[] = [],
): Body {
  const { name, set, nullable } = spec;
  if (set === undefined) return body;
  const due = rulesOn(spec, on).filter(
    (rule) => rule.on !== "absent" || left.includes(rule.member),
  );
  const known: Body = {
    ...body,
    ...Object.fromEntries(
      due
        .filter(({ madeOf }) => madeOf !== "document")
        .map(({ member, value }) => {
          const given = value({ ...writer, document: body, made: {} });
          // Somebody must be named.
          if (given === null && !nullable.includes(member))
            throw fail(writer.caller === null ? "core.authentication" : "profile_required");
          return [member, given];
        }),
    ),
  };
  const ofDocument = new Set(
    set.filter(({ madeOf }) => madeOf === "document").map(({ member }) => member),
  );
  const document = Object.fromEntries(
    Object.entries(known).filter(([member]) => !ofDocument.has(member)),
  );
  const isDue = new Set(due.map(({ member }) => member));
  const made: Record<string, unknown> = Object.fromEntries(
    Object.entries(body).filter(([member]) => ofDocument.has(member) && !isDue.has(member)),
  );
  for (const { madeOf, member, value } of due)
    if (madeOf === "document")
      made[member] = attempt(`${name}.${member}`, () => value({ ...writer, document, made }));
  return { ...known, ...made };
}

/** Members that are set for a document whose payload leaves them out. */
export function membersLeft({ set = [] }: AnyDocumentSpec, payload: Body): readonly string[] {
  return set
    .filter(({ on, member }) => on === "absent" && !Object.hasOwn(payload, member))
    .map(({ member }) => member);
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
