// Invoices are paid, and printed.
import { collection, objects } from "opwright/runtime";
import { customersSpec } from "../generated/documents/customers.js";
import { invoicesSpec } from "../generated/documents/invoices.js";
import { paymentReceiptsSpec } from "../generated/documents/payment_receipts.js";
import { paymentsSpec } from "../generated/documents/payments.js";
import { fail } from "../generated/errors.js";
import { stageEvent } from "../generated/outbox.js";
import { invoiceFilesSpec } from "../generated/storage/invoice_files.js";
import type { InvoicesPayHandler, InvoicesPrintHandler } from "../generated/types/invoices.js";

export const payInvoice: InvoicesPayHandler = async ({ id, amount_cents, reference }, context) => {
  const invoices = collection(invoicesSpec, context);
  const invoice = await invoices.get(id, { lock: true });
  const isOpen = invoice.status === "finalized";
  const due_cents = isOpen ? invoice.total_amount_cents - invoice.total_paid_amount_cents : 0;
  if (amount_cents > due_cents) throw fail("overpaid", { due_cents });
  const payment = await collection(paymentsSpec, context).create({
    customer: invoice.customer,
    invoice: id,
    payment_type: "manual",
    amount_cents,
    amount_currency: invoice.currency,
    status: "succeeded",
    payable_payment_status: "succeeded",
    reference,
  });
  const paid = amount_cents === due_cents;
  const { payment_status } = await invoices.update(id, invoice.rev, {
    total_paid_amount_cents: invoice.total_paid_amount_cents + amount_cents,
    ...(paid ? { payment_status: "succeeded" } : {}),
  });
  const { slug } = await collection(customersSpec, context).get(invoice.customer);
  const receipts = collection(paymentReceiptsSpec, context);
  const made = await receipts.create({
    payment: payment.id,
    customer: invoice.customer,
    billing_entity: invoice.billing_entity,
  });
  const number = `${slug}-RCPT-${String(made.sequence).padStart(6, "0")}`;
  await receipts.update(made.id, made.rev, { number });
  await stageEvent(context, "payments.succeeded", {
    payment: payment.id,
    invoice: id,
    amount_cents,
  });
  return { payment: payment.id, receipt: number, payment_status };
};

export const printInvoice: InvoicesPrintHandler = async ({ id }, context) => {
  const invoices = collection(invoicesSpec, context);
  const { number, rev, total_amount_cents: total, currency } = await invoices.get(id);
  if (number === null) throw fail("not_finalized");
  const files = objects(invoiceFilesSpec, context);
  const key = `${id}/${rev}.pdf`;
  const text = `Invoice ${number}: ${(total / 100).toFixed(2)} ${currency}`;
  if (!(await files.exists(key)))
    await files.put(key, pdfOf(text), {
      content_type: "application/pdf",
      filename: `${number}.pdf`,
    });
  await invoices.update(id, rev, { file: key });
  const { url } = await files.presignDownload(key, { expires_in: "PT15M" });
  return { key, url };
};

/** The smallest PDF that says something. */
const pdfOf = (text: string): string =>
  `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n% ${text}\ntrailer<</Root 1 0 R>>\n%%EOF\n`;
