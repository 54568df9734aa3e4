// A control with its label, and what it takes.
import type { ComponentChildren, JSX } from "preact";

/** A labelled control; the control is the child. */
export function Field({
  label,
  hint,
  children,
}: {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint !== undefined && <small class="quiet">{hint}</small>}
    </label>
  );
}
