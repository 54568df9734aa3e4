// What the console has, to choose from.
import { useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";

export interface Group {
  readonly title: string;
  readonly rooms: readonly { readonly title: string; readonly address: string }[];
}

/** The rooms in their groups; on a phone behind a button. */
export function Navigation({
  groups,
  address,
  children,
}: {
  readonly groups: readonly Group[];
  readonly address: string;
  /** What stands above the groups. */
  readonly children: ComponentChildren;
}): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const isIn = (room: string): boolean => address === room || address.startsWith(`${room}/`);
  return (
    <>
      <button class="menu" type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Menu
      </button>
      <nav class={isOpen ? "side" : "side closed"} aria-label="Console">
        {children}
        {groups
          .filter(({ rooms }) => rooms.length > 0)
          .map(({ title, rooms }) => (
            <details key={title} open>
              <summary>{title}</summary>
              <ul>
                {rooms.map((room) => (
                  <li key={room.address}>
                    <a
                      href={`#${room.address}`}
                      aria-current={isIn(room.address) ? "page" : undefined}
                      onClick={() => setIsOpen(false)}
                    >
                      {room.title}
                    </a>
                  </li>
                ))}
              </ul>
            </details>
          ))}
        <p class="small quiet">{`Times are those of ${timeZone()}.`}</p>
      </nav>
    </>
  );
}

/** `Europe/Berlin (GMT+1)`: the reader's. */
function timeZone(): string {
  const { timeZone: name } = Intl.DateTimeFormat().resolvedOptions();
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts();
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  return offset === "" || offset === name ? name : `${name} (${offset})`;
}
