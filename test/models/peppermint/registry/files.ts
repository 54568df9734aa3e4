// Files of tickets: uploaded first, then attached; whoever sees the ticket gets links to them.
import { collection, objects } from "opwright/runtime";
import { ticketFilesSpec } from "../generated/documents/ticket_files.js";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { filesSpec } from "../generated/storage/files.js";
import type {
  TicketFilesAttachHandler,
  TicketFilesLinkHandler,
} from "../generated/types/ticket_files.js";

export const attach: TicketFilesAttachHandler = async ({ id: ticket, path }, context) => {
  await collection(ticketsSpec, context).get(ticket);
  const { filename, content_type: mime, size } = await objects(filesSpec, context).head(path);
  const file = { ticket, path, filename: filename ?? path, mime, size };
  return collection(ticketFilesSpec, context).create(file);
};

export const link: TicketFilesLinkHandler = async ({ id }, context) => {
  const { path } = await collection(ticketFilesSpec, context).get(id);
  const { url } = await objects(filesSpec, context).presignDownload(path, { expires_in: "PT5M" });
  return { url };
};
