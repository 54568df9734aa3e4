// A modal dialog, closed by its button, by Escape, and by what is done in it.
import { useId } from "preact/hooks";
import type { ComponentChildren, JSX, Ref } from "preact";

/** A dialog with a heading; `showModal` of its element opens it. */
export function Dialog({
  title,
  dialog,
  id,
  children,
}: {
  readonly title: string;
  readonly dialog: { current: HTMLDialogElement | null };
  /** By which others find it in the page. */
  readonly id?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const heading = useId();
  return (
    <dialog id={id} ref={dialog as Ref<HTMLDialogElement>} aria-labelledby={heading}>
      <div class="stack">
        <div class="row">
          <h2 id={heading}>{title}</h2>
          <button
            class="plain"
            type="button"
            style={{ marginLeft: "auto" }}
            onClick={() => dialog.current?.close()}
          >
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
