// Exports are written by a job, and whoever asked for one is told.
import { collection, csvText } from "opwright/runtime";
import { dataExportPartsSpec } from "../generated/documents/data_export_parts.js";
import { dataExportsSpec } from "../generated/documents/data_exports.js";
import { invoicesSpec } from "../generated/documents/invoices.js";
import { enqueue, type ExportsWriteJob } from "../generated/jobs.js";
import { stageSignal } from "../generated/signals.js";
import type { DataExportsStartHandler } from "../generated/types/data_exports.js";
import { nowOf } from "./subscriptions.js";

export const startExport: DataExportsStartHandler = async ({ id }, context) => {
  await collection(dataExportsSpec, context).update(id, "any", {
    status: "processing",
    started_at: nowOf(context),
  });
  await enqueue(context, "exports.write", { export: id });
};

export const writeExport: ExportsWriteJob = async ({ export: id }, _context, { commit }) => {
  await commit("write", async (context) => {
    const invoices = await collection(invoicesSpec, context).find({
      sorts: { created_at: "asc" },
      size: 1000,
    });
    await collection(dataExportPartsSpec, context).create({
      data_export: id,
      index: 0,
      object_ids: invoices.map((invoice) => invoice.id),
      completed: true,
      csv_lines: String(csvText(["id", "number", "status", "total_amount_cents"], invoices)),
    });
    const exported = await collection(dataExportsSpec, context).update(id, "any", {
      status: "completed",
      completed_at: nowOf(context),
      rows: invoices.length,
    });
    const data = { export: id, rows: invoices.length };
    await stageSignal(context, "export.finished", data, { principals: [exported.requested_by] });
  });
};
