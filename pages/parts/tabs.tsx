// Tabs, operated as the ARIA Authoring Practices describe: one stop for Tab, arrows between them.
import { useId, useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";

export interface Tab {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly panel: () => ComponentChildren;
}

/** Tabs of which the first is shown at the beginning. */
export function Tabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
}): JSX.Element {
  const id = useId();
  const [chosen, choose] = useState("");
  const at = Math.max(
    0,
    tabs.findIndex(({ name }) => name === chosen),
  );
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step === undefined ? undefined : tabs.at((at + step) % tabs.length);
    if (next === undefined) return;
    choose(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <div>
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, label: text }, index) => (
          <button
            key={name}
            id={`${id}-${name}`}
            role="tab"
            type="button"
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => choose(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${tabs[at]?.name ?? ""}`}>
        {tabs[at]?.panel()}
      </div>
    </div>
  );
}
