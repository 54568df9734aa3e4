// What stands where there is nothing to show: why, and what to do.
import type { ComponentChildren, JSX } from "preact";

/** An empty state. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty stack tight">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}
