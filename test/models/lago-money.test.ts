// Stories of Lago about money: each cent once, whoever else pays, bills or credits at the same time.
import { expect, test } from "vitest";
import { onEachEngine } from "../support/on-each-engine.js";
import { outcomeOf, waitFor, worldOf } from "./lago/world.js";
import { modelFiles } from "./model.js";

const times = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
const numbersTo = (last: number) => times(last, (at) => at + 1);
const ascending = (values: readonly number[]) => values.toSorted((one, other) => one - other);

onEachEngine(modelFiles("lago"), ({ people, service }) => {
  test("parallel top-ups and debits lose none, and no wallet falls below zero", async () => {
    const world = await worldOf(people);
    const wallet = await world.wallet({ rate_amount: 2 });
    const path = `/wallets/${wallet}`;
    await world.perform("POST", `${path}/top_up`, { credits: 5 });
    const moves = await Promise.all(
      times(20, (at) =>
        at % 2 === 0
          ? world.call("POST", `${path}/top_up`, { credits: 1.1 })
          : world.call("POST", `${path}/debit`, { credits: 3.3 }),
      ),
    );
    const debits = moves.filter((_, at) => at % 2 === 1);
    const done = debits.filter(({ status }) => status === 200);
    for (const answer of debits.filter(({ status }) => status !== 200))
      expect(outcomeOf(answer)).toEqual([409, "wallet_exhausted"]);
    expect(moves.every(({ status }, at) => at % 2 === 1 || status === 200)).toBe(true);
    expect([done.length > 0, done.length < 10]).toEqual([true, true]);
    const after = await world.perform("GET", path);
    const left = (500 + 1100 - 330 * done.length) / 100;
    expect(after).toMatchObject({
      credits_balance: left,
      balance_cents: left * 200,
      consumed_credits: Math.round(330 * done.length) / 100,
    });
    const moved = await world.listed("wallet_transactions", { wallet });
    expect(moved.length).toBe(1 + 10 + done.length);
    const rest = await world.call("POST", `${path}/debit`, { credits: left + 0.0001 });
    expect([outcomeOf(rest), rest.body.context]).toEqual([
      [409, "wallet_exhausted"],
      { credits: left },
    ]);
    await world.perform("POST", `${path}/debit`, { credits: left });
    expect((await world.perform("GET", path)).credits_balance).toBe(0);
  });

  test("nobody writes a balance, and a closed wallet takes nothing", async () => {
    const world = await worldOf(people);
    const wallet = await world.wallet();
    const path = `/wallets/${wallet}`;
    expect((await world.call("PATCH", `${path}?rev=1`, { credits_balance: 9 })).status).toBe(422);
    const reader = await world.colleague("billing.read");
    expect(outcomeOf(await reader.call("POST", `${path}/top_up`, { credits: 1 }))).toEqual([
      403,
      "core.authorization",
    ]);
    await world.perform("PATCH", `${path}?rev=1`, { status: "terminated" });
    for (const move of ["top_up", "debit"])
      expect(outcomeOf(await world.call("POST", `${path}/${move}`, { credits: 1 }))).toEqual([
        409,
        "wallet_closed",
      ]);
    const back = await world.call("PATCH", `${path}?rev=2`, { status: "active" });
    expect(outcomeOf(back)).toEqual([409, "transition_not_allowed"]);
  });

  test("a top-up that is sent again counts once", async () => {
    const world = await worldOf(people);
    const path = `/wallets/${await world.wallet()}`;
    const headers = { authorization: `Bearer ${world.token}`, "idempotency-key": "once" };
    const body = { credits: 7 };
    const [one, two] = [
      await service.call("POST", `${path}/top_up`, { headers, body }),
      await service.call("POST", `${path}/top_up`, { headers, body }),
    ];
    expect([one.status, two.status, two.body]).toEqual([200, 200, one.body]);
    expect((await world.perform("GET", path)).credits_balance).toBe(7);
  });

  test("one code for each active wallet of a customer", async () => {
    const world = await worldOf(people);
    const customer = await world.customer();
    const main = await world.wallet({ customer, code: "main" });
    const body = { customer, code: "main", balance_currency: "USD" };
    const taken = await world.call("POST", "/wallets", body);
    expect(outcomeOf(taken)).toEqual([409, "unique_violation"]);
    await world.perform("PATCH", `/wallets/${main}?rev=1`, { status: "terminated" });
    await world.wallet({ customer, code: "main" });
  });

  test("a wallet ends when it expires, and then another may have its code", async () => {
    const world = await worldOf(people);
    const customer = await world.customer();
    const wallet = await world.wallet({ customer, code: "main" });
    await world.perform("PATCH", `/wallets/${wallet}?rev=1`, {
      expiration_at: "2026-01-01T00:00:00Z",
    });
    const ended = await waitFor(async () => {
      const given = await world.perform("GET", `/wallets/${wallet}`);
      return given.status === "terminated" ? given : undefined;
    });
    expect(ended.terminated_at).toEqual(expect.any(String));
    const { runs } = await world.perform("GET", "/job_runs?job=wallets.expire");
    expect(runs.length).toBe(1);
    await world.wallet({ customer, code: "main" });
  });

  test("one intent, and one payment by a provider, is under way for an invoice", async () => {
    const world = await worldOf(people);
    const customer = await world.customer();
    const invoice = await world.draft(customer, 100);
    const intent = { invoice, expires_at: "2026-01-01T00:00:00Z" };
    const first = await world.make("payment_intents", intent);
    expect(outcomeOf(await world.call("POST", "/payment_intents", intent))).toEqual([
      409,
      "unique_violation",
    ]);
    await world.perform("PATCH", `/payment_intents/${first}?rev=1`, { status: "expired" });
    await world.make("payment_intents", intent);
    const usd = { amount_cents: 1, amount_currency: "USD", status: "open" };
    const payment = { customer, invoice, ...usd };
    const tried = await world.make("payments", payment);
    await world.make("payments", { ...payment, payment_type: "manual", reference: "cash" });
    const second = await world.call("POST", "/payments", payment);
    expect([outcomeOf(second), second.body.context]).toEqual([
      [409, "unique_violation"],
      { members: ["invoice"] },
    ]);
    const failed = { payable_payment_status: "failed" };
    await world.perform("PATCH", `/payments/${tried}?rev=1`, failed);
    await world.make("payments", payment);
    const again = { payable_payment_status: "pending" };
    expect(outcomeOf(await world.call("PATCH", `/payments/${tried}?rev=2`, again))).toEqual([
      409,
      "unique_violation",
    ]);
  });

  test("invoices are numbered for each customer without a gap, finalized at once", async () => {
    const world = await worldOf(people);
    const [ann, bob] = [await world.customer(), await world.customer()];
    const drafts = await Promise.all(
      times(12, (at) => world.draft(at % 3 === 0 ? bob : ann, 100 + at)),
    );
    const refusedOnes = await world.colleague("billing.read");
    expect((await refusedOnes.call("POST", `/invoices/${drafts[0]}/finalize`)).status).toBe(403);
    // Each is asked for twice: one of both is refused, and takes no number.
    const answers = await Promise.all(
      [...drafts, ...drafts].map((id) => world.call("POST", `/invoices/${id}/finalize`)),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBe(12);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(outcomeOf(answer)).toEqual([409, "no_draft"]);
    for (const [customer, count] of [
      [ann, 8],
      [bob, 4],
    ] as const) {
      const { slug } = await world.perform("GET", `/customers/${customer}`);
      const invoices = await world.listed("invoices", { customer });
      const sequence = ascending(invoices.map(({ sequential_id }) => sequential_id));
      expect(sequence).toEqual(numbersTo(count));
      const wanted = numbersTo(count).map((number) => `${slug}-${String(number).padStart(3, "0")}`);
      expect(invoices.map(({ number }) => number).toSorted()).toEqual(wanted);
      expect(invoices.every(({ status }) => status === "finalized")).toBe(true);
    }
  });

  test("an invoice is voided by those who may void, and a draft by nobody", async () => {
    const world = await worldOf(people);
    const invoice = await world.draft(await world.customer(), 100);
    const path = `/invoices/${invoice}`;
    const early = await world.call("POST", `${path}/void`);
    expect([outcomeOf(early), early.body.context]).toMatchObject([
      [409, "transition_not_allowed"],
      { from: "draft", to: "voided" },
    ]);
    await world.perform("POST", `${path}/finalize`);
    const clerk = await world.colleague("billing.read", "billing.write");
    expect(outcomeOf(await clerk.call("POST", `${path}/void`))).toEqual([
      403,
      "core.authorization",
    ]);
    const { rev } = await world.perform("GET", path);
    for (const forged of [{ status: "voided" }, { number: "1" }, { total_amount_cents: 0 }])
      expect((await world.call("PATCH", `${path}?rev=${rev}`, forged)).status).toBe(422);
    const finance = await world.colleague("role:finance");
    expect((await finance.call("POST", `${path}/void`)).body).toEqual({ status: "voided" });
    const seen = await world.perform("GET", path);
    expect([seen.status, seen.voided_at]).toEqual(["voided", expect.any(String)]);
    const { hits } = await world.perform("GET", `${path}/revisions`);
    expect(hits.length).toBeGreaterThan(2);
  });

  test("a coupon that is no more than once is applied once", async () => {
    const world = await worldOf(people);
    const customer = await world.customer();
    const once = await world.make("coupons", {
      name: "Welcome",
      code: "hi",
      coupon_type: "fixed_amount",
      amount_cents: 500,
      amount_currency: "USD",
      frequency: "once",
      expiration: "no_expiration",
      reusable: false,
    });
    const answers = await Promise.all(
      times(5, () => world.call("POST", `/coupons/${once}/apply`, { customer })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(outcomeOf(answer)).toEqual([409, "unique_violation"]);
    expect((await world.listed("applied_coupons", { coupon: once })).length).toBe(1);
    const other = await world.customer();
    await world.perform("POST", `/coupons/${once}/apply`, { customer: other });
    await world.perform("PATCH", `/coupons/${once}?rev=1`, { status: "terminated" });
    const late = await world.call("POST", `/coupons/${once}/apply`, {
      customer: await world.customer(),
    });
    expect([outcomeOf(late), late.body.context]).toEqual([
      [409, "coupon_not_applicable"],
      { reason: "terminated" },
    ]);
  });

  test("a coupon for three invoices takes something off three, finalized at once", async () => {
    const world = await worldOf(people);
    const customer = await world.customer();
    const coupon = await world.make("coupons", {
      name: "Three",
      code: "three",
      coupon_type: "percentage",
      percentage_rate: 12.5,
      frequency: "recurring",
      frequency_duration: 3,
      expiration: "no_expiration",
    });
    await world.perform("POST", `/coupons/${coupon}/apply`, { customer });
    const drafts = await Promise.all(times(7, () => world.draft(customer, 1000)));
    const done = await Promise.all(
      drafts.map((id) => world.perform("POST", `/invoices/${id}/finalize`)),
    );
    expect(ascending(done.map(({ total_amount_cents: cents }) => cents))).toEqual([
      875, 875, 875, 1000, 1000, 1000, 1000,
    ]);
    const [applied] = await world.listed("applied_coupons", { customer });
    expect(applied).toMatchObject({ status: "terminated", frequency_duration_remaining: 0 });
    expect((await world.listed("credits", { applied_coupon: applied.id })).length).toBe(3);
  });

  test("no more is credited than a fee has left", async () => {
    const world = await worldOf(people);
    const invoice = await world.draft(await world.customer(), 1000);
    await world.perform("POST", `/invoices/${invoice}/finalize`);
    const [fee] = await world.listed("fees", { invoice });
    const issue = (...cents: readonly number[]) =>
      world.call("POST", "/credit_notes/issue", {
        invoice,
        items: cents.map((amount_cents) => ({ fee: fee.id, amount_cents })),
      });
    const answers = await Promise.all(times(8, () => issue(150, 50)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(5);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect([outcomeOf(answer), answer.body.context]).toEqual([
        [409, "nothing_left"],
        { fee: fee.id, left_cents: 0 },
      ]);
    const notes = await world.listed("credit_notes", { invoice });
    const sequence = ascending(notes.map(({ sequential_id }) => sequential_id));
    expect(sequence).toEqual(numbersTo(5));
    expect(notes.every(({ number }) => /-CN00[1-5]$/.test(number))).toBe(true);
    const items = await world.listed("credit_note_items", { fee: fee.id });
    expect([items.length, items.reduce((sum, { amount_cents: cents }) => sum + cents, 0)]).toEqual([
      10, 1000,
    ]);
    const manager = await world.colleague("role:manager");
    const voided = `/credit_notes/${notes[0].id}/void`;
    expect((await manager.call("POST", voided)).status).toBe(403);
    expect(await world.perform("POST", voided)).toEqual({ credit_status: "voided" });
  });

  test("an invoice is paid in parts, never twice, and receipts have no gap", async () => {
    const world = await worldOf(people);
    const customer = await world.customer();
    const invoice = await world.draft(customer, 1000);
    const path = `/invoices/${invoice}`;
    const pay = (amount_cents: number) =>
      world.call("POST", `${path}/pay`, { amount_cents, reference: "wire" });
    const early = await pay(1);
    expect([outcomeOf(early), early.body.context]).toEqual([[409, "overpaid"], { due_cents: 0 }]);
    await world.perform("POST", `${path}/finalize`);
    const answers = await Promise.all(times(9, () => pay(200)));
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBe(5);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect([outcomeOf(answer), answer.body.context]).toEqual([
        [409, "overpaid"],
        { due_cents: 0 },
      ]);
    expect(await world.perform("GET", path)).toMatchObject({
      payment_status: "succeeded",
      total_paid_amount_cents: 1000,
    });
    const receipts = await world.listed("payment_receipts", { customer });
    expect(ascending(receipts.map(({ sequence }) => sequence))).toEqual(numbersTo(5));
  });

  test("an invoice is printed as a file of the organization", async () => {
    const world = await worldOf(people);
    const invoice = await world.draft(await world.customer(), 1234);
    const path = `/invoices/${invoice}`;
    const early = await world.call("POST", `${path}/print`);
    expect(outcomeOf(early)).toEqual([409, "not_finalized"]);
    const { number } = await world.perform("POST", `${path}/finalize`);
    const { key, url } = await world.perform("POST", `${path}/print`);
    expect((await world.perform("GET", path)).file).toBe(key);
    const file = await fetch(new URL(url, service.url));
    expect([file.status, await file.text()]).toEqual([
      200,
      expect.stringContaining(`Invoice ${number}: 12.34 USD`),
    ]);
    const download = `/invoice_files/files/${key}`;
    expect((await world.call("GET", download)).status).toBe(200);
    const stranger = await worldOf(people);
    expect((await stranger.call("GET", download)).status).toBe(404);
    expect((await world.call("DELETE", download)).status).toBe(403);
  });
});
