// Equal items of a list, found in time linear in their bytes (JSON Schema 2020-12 validation
// §6.4.3).

/**
 * Numbers of values, equal for values that JSON takes for equal. Each value is looked at once, also
 * if lists within lists are compared: an object's number is kept while one value is validated.
 */
class ValueNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #ofObjects = new WeakMap<object, number>();

  numberOf(value: unknown): number {
    if (typeof value !== "object" || value === null) return this.#number(JSON.stringify(value));
    const known = this.#ofObjects.get(value);
    if (known !== undefined) return known;
    const number = this.#number(this.#textOf(value));
    this.#ofObjects.set(value, number);
    return number;
  }

  /** The value with a number in place of each member. */
  #textOf(value: object): string {
    if (Array.isArray(value)) return `[${value.map((item) => this.numberOf(item)).join(",")}]`;
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    const texts = members.map(
      ([name, member]) => `${this.numberOf(name)}:${this.numberOf(member)}`,
    );
    return `{${texts.sort().join(",")}}`;
  }

  #number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

let numbers: ValueNumbers | undefined;

/**
 * Forgets the values that were compared. To be called before a value is validated, since it may
 * have changed.
 */
export function forgetItems(): void {
  numbers = undefined;
}

/**
 * The first item that is equal to an earlier one: the places of both, or null if all are different.
 */
export function repeatedItems(items: readonly unknown[]): readonly [number, number] | null {
  if (items.length < 2) return null;
  numbers ??= new ValueNumbers();
  const places = new Map<number, number>();
  for (const [index, item] of items.entries()) {
    const number = numbers.numberOf(item);
    const earlier = places.get(number);
    if (earlier !== undefined) return [earlier, index];
    places.set(number, index);
  }
  return null;
}
