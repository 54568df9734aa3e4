// What is known of a document or an object, to read.
import type { JSX } from "preact";
import { CopiedId, isId } from "./short-id.js";
import { Value } from "./value.js";

/** A table of members and their values; ids are copied with a click. */
export function Facts({
  members,
  factFor = () => null,
}: {
  readonly members: readonly (readonly [name: string, value: unknown])[];
  /** What stands for a value that means more than its text; null for nothing. */
  readonly factFor?: (name: string, value: unknown) => JSX.Element | null;
}): JSX.Element {
  return (
    <table>
      <tbody>
        {members.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              {factFor(name, value) ??
                (isId(value) ? <CopiedId id={value} /> : <Value value={value} />)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
