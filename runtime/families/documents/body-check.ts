// Checks whole bodies, where their parts don't prove the whole.
import { fail } from "../../contract/errors.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { keyFaults } from "./keys.js";
import type { SetRule } from "../../ports/set-rules.js";

interface CheckedBody {
  /** Members that whoever creates has left out. */
  readonly left?: readonly string[];
  readonly before?: Readonly<Record<string, unknown>>;
}

/**
 * Throws `core.validation` if the parts of a body are valid and the whole is not, and
 * `core.internal` if a member is wrong that the service has set, such as one of `left`, which
 * whoever creates has left out.
 */
export function checkBody(
  spec: AnyDocumentSpec,
  body: Readonly<Record<string, unknown>>,
  { left = [], before }: CheckedBody = {},
): void {
  const faults = [
    ...keyFaults(spec, body, before),
    ...((spec.checksBody === true ? spec.validateBody(body) : null) ?? []),
  ];
  if (faults.length === 0) return;
  const isSet = ({ on, member }: SetRule): boolean => on !== "absent" || left.includes(member);
  const own = [...(spec.set ?? []).filter(isSet), ...(spec.numbers ?? [])].find(({ member }) =>
    faults.some(({ path }) => path === `/${member}` || path.startsWith(`/${member}/`)),
  );
  if (own === undefined) throw fail("core.validation", { errors: faults });
  // No caller could mend a member that the service has set.
  const cause = new TypeError(`${spec.name}.${own.member} is set to what it cannot be`);
  throw fail("core.internal", {}, { cause });
}
