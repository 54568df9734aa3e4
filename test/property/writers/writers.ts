// Callers that write at random, beside each other, and note what they are told.
import fc from "fast-check";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { known, type Ledger, type Told } from "./ledger.js";
import { calledOf, type Kind, type Version } from "./world.js";

/** A service of some version at some address; a process that has been killed answers nobody. */
export interface Node {
  readonly url: string;
  readonly version: Version;
}

/** What a caller does next, as numbers that choose among what is there by then. */
const action = fc.record({
  what: fc.constantFrom(
    ...(["create", "create", "patch", "patch", "upsert", "mark", "restore", "kill"] as const),
    ...([
      "revert",
      "createMany",
      "updateMany",
      "deleteMany",
      "updateWhere",
      "deleteWhere",
    ] as const),
  ),
  node: fc.nat(),
  kind: fc.nat(),
  tenant: fc.nat({ max: 1 }),
  at: fc.array(fc.nat({ max: 30 }), { minLength: 3, maxLength: 3 }),
  values: fc.array(fc.nat({ max: 5 }), { minLength: 4, maxLength: 4 }),
  isStale: fc.boolean(),
  isAtomic: fc.boolean(),
});
export type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** What each of some callers does, one after the other. */
export const callers = (
  least: number,
  most: number,
): fc.Arbitrary<readonly (readonly Action[])[]> =>
  fc.array(fc.array(action, { minLength: least, maxLength: most }), { minLength: 8, maxLength: 8 });

/** Where callers write, as whom, and what they know. */
export interface Setting {
  readonly nodes: readonly Node[];
  /** A token a tenant. */
  readonly tokens: readonly string[];
  readonly ledger: Ledger;
  /** Is told of each answer. */
  readonly answered: () => void;
}

/** How a write may be refused beside others; anything else is a fault. */
const refusals = new Set(
  (
    "core.not_found core.validation core.conflict core.concurrency bulk_refused document_deleted " +
    "history_not_found_retry " +
    "revision_mismatch historical_consistency_violation unique_violation reference_in_use"
  ).split(" "),
);

type Body = Readonly<Record<string, unknown>>;

let notes = 0;

/** Runs a caller to its end. */
export async function write(setting: Setting, actions: readonly Action[]): Promise<void> {
  for (const one of actions) await new Caller(setting, one).act();
}

class Caller {
  readonly #setting: Setting;
  readonly #action: Action;
  readonly #node: Node;
  readonly #kind: Kind;
  readonly #word = `w${(notes += 1)}`;

  constructor(setting: Setting, chosen: Action) {
    this.#setting = setting;
    this.#action = chosen;
    this.#node = pick(setting.nodes, chosen.node);
    this.#kind = pick(this.#node.version, chosen.kind);
  }

  async act(): Promise<void> {
    const { what, at, isStale, isAtomic, values } = this.#action;
    const all = this.#known(this.#kind.name);
    const document = all.length === 0 ? undefined : pick(all, at[0] ?? 0);
    const some = [...new Set(at.map((one) => all[one % Math.max(1, all.length)]))].flatMap((one) =>
      one === undefined ? [] : [{ id: one.id, ...(isStale ? {} : { rev: one.rev }) }],
    );
    if (document === undefined) return this.#create();
    const { id, rev: last } = document;
    const rev = Math.max(1, isStale ? last - 1 : last);
    const filters = { $values: { [this.#called("code")]: pick(values, 0) % 4 } };
    switch (what) {
      case "create":
        return this.#create();
      case "patch":
        return this.#one(await this.#call("PATCH", `/${id}?rev=${rev}`, this.#patch()));
      case "upsert": {
        const [rule] = this.#kind.unique;
        const by = rule?.fields.map((field) => this.#called(field));
        return this.#one(await this.#call("POST", "/upsert", { by, document: this.#payload() }));
      }
      case "mark":
        if (!this.#kind.softDelete) return this.#create();
        return this.#one(await this.#call("POST", `/${id}/delete?rev=${rev}`, {}));
      case "restore":
        if (!this.#kind.softDelete) return this.#create();
        return this.#one(await this.#call("POST", `/${id}/restore?rev=${rev}`, {}));
      case "revert":
        return this.#reverted(id, rev);
      case "kill":
        return this.#killed(id);
      case "createMany":
        return this.#many("/create_many", {
          items: [this.#payload(), this.#payload(1), this.#payload(2)],
          atomic: isAtomic,
        });
      case "updateMany":
        return this.#many("/update_many", {
          items: some.map((one, index) => ({ ...one, patch: this.#patch(index) })),
          atomic: isAtomic,
        });
      case "deleteMany":
        this.#unwant(some.map((one) => one.id));
        return this.#many("/delete_many", { items: some, atomic: isAtomic });
      case "updateWhere":
        await this.#call("POST", "/update_where", { filters, patch: this.#patch() });
        return undefined;
      case "deleteWhere":
        this.#unwant([this.#kind.name]);
        await this.#call("POST", "/delete_where", { filters });
        return undefined;
    }
  }

  async #create(): Promise<void> {
    this.#one(await this.#call("POST", "", this.#payload()));
  }

  /** What goes back has the note that it had: it is told apart by its revision alone. */
  async #reverted(id: string, rev: number): Promise<void> {
    this.#one(await this.#call("POST", `/${id}/revert?rev=${rev}&to=1`, {}));
  }

  async #killed(id: string): Promise<void> {
    this.#unwant([id]);
    const answer = await this.#call("DELETE", `/${id}`);
    if (answer !== undefined) this.#setting.ledger.removed.add(id);
  }

  #unwant(what: readonly string[]): void {
    for (const one of what) this.#setting.ledger.unwanted.add(one);
  }

  #one(answer: Body | undefined): void {
    if (answer === undefined) return;
    this.#hear((answer["data"] ?? answer) as Body);
  }

  async #many(path: string, body: object): Promise<void> {
    const answer = await this.#call("POST", path, body);
    const outcomes = (answer?.["outcomes"] ?? []) as readonly { readonly document?: Body }[];
    const isRemoval = path === "/delete_many" && !this.#kind.softDelete;
    for (const { document } of outcomes) {
      if (document === undefined) continue;
      if (isRemoval) this.#setting.ledger.removed.add(String(document["id"]));
      else this.#hear(document);
    }
  }

  #hear(document: Body): void {
    const { ledger, tokens } = this.#setting;
    ledger.told.push({
      type: this.#kind.name,
      tenant: pick(tokens, this.#action.tenant),
      id: String(document["id"]),
      rev: Number(document["rev"]),
      note: String(document[this.#called("note")]),
      isDeleted: document["is_deleted"] === true,
    });
  }

  /** The body of what succeeded; undefined of what was refused, or answered by nobody. */
  async #call(method: string, path: string, body?: unknown): Promise<Body | undefined> {
    const { tokens, ledger, answered } = this.#setting;
    const token = pick(tokens, this.#action.tenant);
    const told = `${method} /${this.#kind.name}${path} ${JSON.stringify(body)}`;
    try {
      const response = await fetch(`${this.#node.url}/${this.#kind.name}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const given = (text === "" ? {} : JSON.parse(text)) as Body;
      if (response.ok) return given;
      if (!refusals.has(String(given["code"])))
        ledger.faults.push(`${told}: ${response.status} ${text}`);
      return undefined;
    } catch {
      // Killed: nobody knows whether it happened.
      return undefined;
    } finally {
      answered();
    }
  }

  #payload(shift = 0): Body {
    const { members, references } = this.#kind;
    const plain = Object.keys(members).map((member, index) => [
      member,
      this.#value(member, index + shift),
    ]);
    const named = references.map(({ member, target, isNullable }, index) => [
      member,
      this.#named(target, isNullable, index + shift),
    ]);
    return this.#asCalled(Object.fromEntries([...plain, ...named]) as Body);
  }

  /** The note, and what is drawn of the others. */
  #patch(shift = 0): Body {
    const entries = Object.entries(this.#payload(shift));
    const { values, at } = this.#action;
    const drawn = entries.filter(
      ([name], index) => name !== this.#called("note") && (pick(values, index) + shift) % 2 === 0,
    );
    return {
      ...Object.fromEntries(drawn.slice(0, 1 + (pick(at, 0) % 3))),
      [this.#called("note")]: this.#noted(shift),
    };
  }

  #asCalled(body: Body): Body {
    return Object.fromEntries(
      Object.entries(body).map(([member, value]) => [this.#called(member), value]),
    );
  }

  #noted(shift: number): string {
    return `${this.#word}x${shift}`;
  }

  #value(member: string, index: number): unknown {
    const type = this.#kind.members[member] ?? "";
    const drawn = pick(this.#action.values, index) + index;
    if (member === "note") return this.#noted(index);
    if (type.startsWith("uuid")) return type.endsWith("?") ? null : uuidv7();
    return type.endsWith("?") && drawn % 3 === 0 ? null : drawn % 5;
  }

  /** A document that is there as far as is known; seldom one that never was. */
  #named(target: string, isNullable: boolean, index: number): string | null {
    const { values, at } = this.#action;
    const drawn = pick(values, index);
    if (isNullable && drawn === 0) return null;
    const all = this.#known(target).filter(({ isDeleted }) => !isDeleted);
    return drawn === 1 || all.length === 0
      ? isNullable && drawn !== 1
        ? null
        : uuidv7()
      : pick(all, pick(at, index)).id;
  }

  #known(type: string): readonly Told[] {
    const { ledger, tokens } = this.#setting;
    return known(ledger, type, pick(tokens, this.#action.tenant));
  }

  #called(member: string): string {
    return calledOf(this.#kind, member);
  }
}

function pick<T>(list: readonly T[], at: number): T {
  const one = list[at % list.length];
  if (one === undefined) throw new Error("there is nothing to choose from");
  return one;
}
