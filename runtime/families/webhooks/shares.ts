// Who may call next: turns go round tenants, then owners, then webhooks, and each holds at most its
// share of the calls.
import type { WaitingWebhook } from "../../ports/webhooks.js";

/** Calls that are under way at most: of a process, of one owner in a tenant, of one webhook. */
export const most = { calls: 32, ofOwner: 4, ofWebhook: 2 } as const;
/** From so many calls on, only who has none under way begins one: an owner, and a tenant. */
const keptFrom = { owners: 16, tenants: 24 } as const;
/** How many names a deliverer remembers the last turn of. */
const mostRemembered = 4_096;

const levels = ["tenant", "owner", "webhook"] as const;

/** A webhook that waits, with the name of each level that it belongs to. */
interface Candidate {
  readonly given: WaitingWebhook;
  readonly tenant: string;
  readonly owner: string;
  readonly webhook: string;
}

/** The shares of one process. */
export class Shares {
  /** Calls under way, by name. */
  readonly #calls = new Map<string, number>();
  /** When each name had its last turn, oldest first. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #underWay = 0;

  /** Whether a call may begin at all. */
  get hasRoom(): boolean {
    return this.#underWay < most.calls;
  }

  /**
   * Whose deliveries begin now, in their order: a webhook once for each of them. They count as
   * under way until `end`. A webhook has at least one delivery that is due, but nobody knows how
   * many.
   */
  begin(waiting: readonly WaitingWebhook[]): readonly WaitingWebhook[] {
    const candidates = waiting.map(candidateOf);
    const begun: WaitingWebhook[] = [];
    while (this.hasRoom) {
      const next = this.#next(candidates.filter((candidate) => this.#may(candidate)));
      if (next === undefined) break;
      begun.push(next.given);
      this.#count(next, 1);
    }
    return begun;
  }

  /** A call has ended, or there was none to make. */
  end(webhook: WaitingWebhook): void {
    this.#count(candidateOf(webhook), -1);
  }

  #may({ tenant, owner, webhook }: Candidate): boolean {
    const under = (name: string): number => this.#calls.get(name) ?? 0;
    if (under(webhook) >= most.ofWebhook || under(owner) >= most.ofOwner) return false;
    if (this.#underWay >= keptFrom.owners && under(owner) > 0) return false;
    return this.#underWay < keptFrom.tenants || under(tenant) === 0;
  }

  /**
   * At each level the one with the fewest calls under way, then the one whose last turn is longest
   * ago.
   */
  #next(allowed: readonly Candidate[]): Candidate | undefined {
    let left = allowed;
    for (const level of levels) {
      const [first] = left;
      if (first === undefined) return undefined;
      let best = first[level];
      for (const { [level]: name } of left)
        if (name !== best && this.#isBefore(name, best)) best = name;
      left = left.filter(({ [level]: name }) => name === best);
    }
    return left[0];
  }

  #isBefore(left: string, right: string): boolean {
    const fewer = (this.#calls.get(left) ?? 0) - (this.#calls.get(right) ?? 0);
    if (fewer !== 0) return fewer < 0;
    return (this.#turns.get(left) ?? 0) < (this.#turns.get(right) ?? 0);
  }

  #count(candidate: Candidate, by: 1 | -1): void {
    this.#underWay += by;
    if (by === 1) this.#turn += 1;
    for (const level of levels) {
      const name = candidate[level];
      const calls = (this.#calls.get(name) ?? 0) + by;
      if (calls === 0) this.#calls.delete(name);
      else this.#calls.set(name, calls);
      if (by === 1) this.#remember(name);
    }
  }

  #remember(name: string): void {
    // Set anew, it stands behind all others.
    this.#turns.delete(name);
    this.#turns.set(name, this.#turn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > mostRemembered && oldest !== undefined) this.#turns.delete(oldest);
  }
}

/** Ids have no spaces. */
function candidateOf(given: WaitingWebhook): Candidate {
  const { tenant, principalId, id } = given;
  return {
    given,
    tenant: `tenant ${tenant}`,
    owner: `owner ${tenant} ${principalId}`,
    webhook: `webhook ${id}`,
  };
}
