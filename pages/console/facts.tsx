// What is known of a document or an object, to read.
import type { JSX } from "preact";
import { Value } from "./value.js";

/** A table of members and their values. */
export function Facts({
  members,
}: {
  readonly members: readonly (readonly [name: string, value: unknown])[];
}): JSX.Element {
  return (
    <table>
      <tbody>
        {members.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <Value value={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
