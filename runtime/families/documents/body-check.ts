// Checks whole bodies, where their parts don't prove the whole.
import { fail } from "../../contract/errors.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";

/**
 * Throws `core.validation` if the parts of a body are valid and the whole is not, and
 * `core.internal` if a member is wrong that the service has set.
 */
export function checkBody(spec: AnyDocumentSpec, body: Readonly<Record<string, unknown>>): void {
  const faults = spec.checksBody === true ? spec.validateBody(body) : null;
  if (faults === null) return;
  const own = [...(spec.set ?? []), ...(spec.numbers ?? [])].find(({ member }) =>
    faults.some(({ path }) => path === `/${member}` || path.startsWith(`/${member}/`)),
  );
  if (own === undefined) throw fail("core.validation", { errors: faults });
  // No caller could mend a member that the service has set.
  const cause = new TypeError(`${spec.name}.${own.member} is set to what it cannot be`);
  throw fail("core.internal", {}, { cause });
}
