// A day or a moment, chosen from a calendar; its value is as it is sent.
import type { JSX } from "preact";

interface CalendarProps {
  readonly id: string;
  /** A day, or a moment in the reader's time zone. */
  readonly kind: "date" | "moment";
  /** RFC 3339, or "" for none. */
  readonly value: string;
  readonly required: boolean;
  readonly onValue: (value: string) => void;
}

/** A control for a day or a moment. What no calendar can show is a text. */
export function CalendarInput({ id, kind, value, required, onValue }: CalendarProps): JSX.Element {
  const shown = kind === "date" ? dayText(value) : localText(value);
  if (shown === null)
    return (
      <input
        id={id}
        required={required}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    );
  return (
    <input
      id={id}
      type={kind === "date" ? "date" : "datetime-local"}
      step="any"
      required={required}
      value={shown}
      onInput={({ currentTarget: { value: text, validity } }) => {
        // What is half written is neither a moment nor none.
        if (validity.badInput) return;
        onValue(kind === "date" || text === "" ? text : new Date(text).toISOString());
      }}
    />
  );
}

function dayText(value: string): string | null {
  return value === "" || /^(?!0000)\d{4}-\d\d-\d\d$/.test(value) ? value : null;
}

/** A moment in the reader's time zone; null for what is no moment of years 1 to 9999. */
function localText(value: string): string | null {
  if (value === "") return "";
  const moment = new Date(value);
  const local = moment.getTime() - moment.getTimezoneOffset() * 60_000;
  if (Number.isNaN(new Date(local).getTime())) return null;
  const text = new Date(local).toISOString().slice(0, -1);
  return /^(?!0000)\d{4}-/.test(text) ? text : null;
}
