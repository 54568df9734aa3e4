// Variables of the environment, read by kind; an unreadable value is a fault that names its
// variable.

/** Reads variables and collects their faults. An empty variable counts as one that is not set. */
export class Environment {
  readonly #values: Readonly<Record<string, string | undefined>>;
  readonly faults: string[] = [];

  constructor(values: Readonly<Record<string, string | undefined>>) {
    this.#values = values;
  }

  text(name: string, otherwise: string): string {
    return this.#values[name] || otherwise;
  }

  number(name: string, otherwise: number, lowest: number, highest: number): number {
    const given = this.text(name, "");
    if (given === "") return otherwise;
    const value = Number(given);
    if (/^\d+(?:\.\d+)?$/.test(given) && value >= lowest && value <= highest) return value;
    this.faults.push(`${name} must be a number from ${lowest} to ${highest}`);
    return otherwise;
  }

  integer(name: string, otherwise: number, lowest: number, highest: number): number {
    const value = this.number(name, otherwise, lowest, highest);
    if (!Number.isInteger(value)) this.faults.push(`${name} must be a whole number`);
    return value;
  }

  /** A whole number from 1, or null for `none`. */
  integerOrNone(name: string, otherwise: number): number | null {
    return this.text(name, "") === "none" ? null : this.integer(name, otherwise, 1, 1_000_000_000);
  }

  oneOf(name: string, otherwise: string, allowed: readonly string[]): string {
    const value = this.text(name, otherwise);
    if (allowed.includes(value)) return value;
    this.faults.push(`${name} must be one of ${allowed.join(", ")}`);
    return otherwise;
  }
}

/** Whether a text is an HTTP URL without credentials, query or fragment. */
export function isPlainUrl(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === "";
}
