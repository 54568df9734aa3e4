// The people and goods of a pharmacy under test.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Somebody } from "../../support/people.js";
import type { Stage } from "../../support/on-each-engine.js";

export type Role = "super_admin" | "manager" | "pharmacist" | "cashier";

export const year = new Date().getUTCFullYear();
/** Today and some days, as a date. */
export const day = (more = 0): string =>
  new Date(Date.now() + more * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
export const named = (what: string): string => `${what} ${randomUUID()}`;

export function openShop({ people }: Pick<Stage, "people">) {
  const staff = async (role: Role): Promise<Somebody & { readonly id: string }> => {
    const { id } = await people.person(`role:${role}`);
    return { id, ...people.by((await people.session(id, null)).access_token) };
  };
  const warehouseOf = (by: Somebody) => by.make("warehouses", { name: named("Main") });
  const drugOf = (by: Somebody, more = {}) =>
    by.make("drugs", { name: named("Aspirin"), price: 4.99, ...more });
  const lotOf = (by: Somebody, drug: string, expire_date = day(400)) =>
    by.make("drug_lots", { drug, lot_number: named("L"), expire_date });
  /** Goods come in: so many of a lot. */
  const receive = async (by: Somebody, warehouse: string, drug_lot: string, quantity: number) => {
    const receipt = await by.make("receipts", { warehouse });
    await by.make("receipt_items", { receipt, drug_lot, quantity, cost: 2.1 });
    const { status } = await by.call("POST", `/receipts/${receipt}/complete`);
    expect(status).toBe(200);
    return receipt;
  };
  /** A drug of which a warehouse has so many. */
  const stocked = async (quantity: number, more = {}) => {
    const manager = await staff("manager");
    const warehouse = await warehouseOf(manager);
    const drug = await drugOf(manager, more);
    const lot = await lotOf(manager, drug);
    await receive(manager, warehouse, lot, quantity);
    return { manager, warehouse, drug, lot, cashier: await staff("cashier") };
  };
  const stockOf = async (by: Somebody, warehouse: string, drug_lot: string) => {
    const filters = { $values: { warehouse, drug_lot } };
    return (await by.call("POST", "/inventory/list", { filters })).body.hits[0];
  };
  const leftOf = async (by: Somebody, warehouse: string, lot: string): Promise<number> =>
    (await stockOf(by, warehouse, lot)).quantity;
  const sell = (by: Somebody, warehouse: string, drug: string, quantity = 1, more = {}) =>
    by.call("POST", "/sales", { warehouse, items: [{ drug, quantity }], ...more });
  const prescribe = async (drug: string, quantity: number, more = {}) => {
    const pharmacist = await staff("pharmacist");
    const customer = await pharmacist.make("customers", { name: "Ann" });
    const issued = { customer, prescriber: "Dr. Roe", issued_on: day(), ...more };
    const prescription = await pharmacist.make("prescriptions", issued);
    const item = { prescription, drug, dosage: "1-0-1", quantity };
    const id = await pharmacist.make("prescription_items", item);
    return { pharmacist, customer, prescription, item: id };
  };
  return { staff, warehouseOf, drugOf, lotOf, receive, stocked, stockOf, leftOf, sell, prescribe };
}
