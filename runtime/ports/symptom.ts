// What an examination of a running service, or of a part of it, has found (`server.js doctor`).

export interface Symptom {
  /** Look at a `notice`; what is `wrong` keeps the service from working, or will lose something. */
  readonly state: "ok" | "notice" | "wrong";
  /** What was looked at, such as `indexes`. */
  readonly what: string;
  /** What was found and, unless it is fine, what to do: one line. */
  readonly text: string;
}

export function ok(what: string, text: string): Symptom {
  return { state: "ok", what, text };
}

export function notice(what: string, text: string): Symptom {
  return { state: "notice", what, text };
}

export function wrong(what: string, text: string): Symptom {
  return { state: "wrong", what, text };
}

/** So many bytes, for people. */
export function tellBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
