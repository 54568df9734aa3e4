// Requests at signed addresses, for object engines that have none of their own (decisions.md
// "Object storage").
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail } from "../contract/errors.js";
import { ByteReply } from "../operations/byte-reply.js";
import { directPath, type Addresses, type DirectRequest } from "../ports/direct-addresses.js";
import { readPreconditions } from "../operations/preconditions.js";
import type { Conditions } from "../families/storage/conditions.js";
import { downloadReply } from "../families/storage/download.js";
import { limitBytes } from "../ports/bounded.js";
import { changeOf, writeShortly, type Noting } from "../families/storage/changes.js";
import { takeUpload, uploadAt } from "../families/storage/quarantine.js";
import { storageResources } from "../families/storage/resources.js";
import { admitType, isStrict } from "../families/storage/content-type.js";
import type { ObjectDescription } from "../ports/object-head.js";
import type { ObjectStore } from "../ports/objects.js";
import { quarantineStore, type QuarantinedFile } from "../ports/quarantine.js";
import { placeOf, type StorageSpec } from "../ports/storage-spec.js";
import type { Resources } from "../operations/resources.js";
import { incomingForm } from "./input/incoming-form.js";
import { readMetadata } from "./input/metadata.js";
import { replyError, replyOutcome } from "./reply.js";
import type { ServiceEndpoint, Surroundings } from "./service-endpoint.js";

/** Milliseconds without a byte after which an upload is aborted. */
const idleMillis = 60_000;

export interface DirectEndpointOptions {
  readonly store: ObjectStore;
  readonly addresses: Addresses;
  /** Notes changes of objects for the index of lists. */
  readonly noting: Noting;
  readonly resources: Resources;
  readonly storages: readonly StorageSpec[];
}

/**
 * The endpoint of signed addresses, unless the engine answers them or the service has no storage.
 */
export function storageEndpoints(
  storages: readonly StorageSpec[],
  { service }: Surroundings,
): readonly ServiceEndpoint[] {
  const direct = storages.length === 0 ? null : service.of(storageResources).direct;
  if (direct === null) return [];
  const { clock, log } = service;
  const noting = { store: direct.store, clock, log, write: writeShortly(service) };
  return [
    {
      isOwn: (path) => path.startsWith(directPath),
      answer: directEndpoint({ ...direct, storages, noting, resources: service }),
    },
  ];
}

/**
 * Answers requests below `/_objects/`; returns whether it did. No address is ever logged: it is a
 * credential.
 */
export function directEndpoint({
  store,
  addresses,
  noting,
  resources,
  storages,
}: DirectEndpointOptions): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    const url = req.url ?? "";
    if (!url.startsWith(directPath)) return false;
    const metadata = readMetadata(req.headers);
    const aborted = new AbortController();
    res.once("close", () => aborted.abort(fail("core.timeout")));
    answer({ store, addresses, noting, resources, storages }, req, aborted.signal)
      .then(
        (output) => replyOutcome(req, res, metadata, 200, { output, replayed: false }),
        (error: unknown) => replyError(req, res, metadata, error),
      )
      .catch(() => res.destroy());
    return true;
  };
}

async function answer(
  { store, addresses, noting, resources, storages }: DirectEndpointOptions,
  req: IncomingMessage,
  signal: AbortSignal,
): Promise<ByteReply> {
  const token = (req.url ?? "").slice(directPath.length).split("?", 1)[0] ?? "";
  const request = addresses.verify(token, req.method ?? "");
  if (request.kind === "download")
    return downloadReply(store, request.key, conditionsOf(req), Number.MAX_SAFE_INTEGER, signal);
  // An address outlives a storage that is no longer declared.
  const spec = storages.find((one) => request.key.startsWith(`${placeOf(one)}/`));
  if (spec === undefined) throw fail("direct_transfer_forbidden");
  const etag =
    request.kind === "form"
      ? await receivedForm({ noting, resources, spec }, request, req, signal)
      : await receiveUpload({ noting, resources, spec }, request, req, signal);
  return new ByteReply(200, { ETag: `"${etag}"`, "Content-Length": "0" }, null);
}

/** An upload that has not arrived yet. Throws `direct_transfer_forbidden` for others. */
async function expectedUpload({ database }: Resources, id: string): Promise<QuarantinedFile> {
  const file = await database.reader.of(quarantineStore).find(id);
  if (file?.state !== "expected") throw fail("direct_transfer_forbidden");
  return file;
}

/** Where an upload goes. */
interface Target {
  readonly noting: Noting;
  readonly resources: Resources;
  readonly spec: StorageSpec;
}

async function receiveUpload(
  target: Target,
  request: Extract<DirectRequest, { readonly kind: "upload" | "part" }>,
  req: IncomingMessage,
  signal: AbortSignal,
): Promise<string> {
  req.setTimeout(idleMillis, () => req.destroy());
  const { store } = target.noting;
  const body = limitBytes(wholeBody(req), request.maxBytes);
  if (request.kind === "part") {
    if (store.direct?.receivePart === undefined) throw fail("direct_transfer_forbidden");
    return store.direct.receivePart(request.key, request.uploadId, request, body, signal);
  }
  const { key, contentType } = request;
  if (contentType !== null && req.headers["content-type"] !== contentType)
    throw fail("direct_transfer_forbidden");
  const type = contentType ?? req.headers["content-type"] ?? "application/octet-stream";
  const filename = key.split("/").at(-1) ?? "file";
  const description = { contentType: type, filename, description: null };
  return writeAndNote(target, key, body, description, signal);
}

/** Writes an object that its storage takes in, and notes the change; returns its tag. */
async function writeAndNote(
  { noting, resources, spec }: Target,
  key: string,
  body: AsyncIterable<Buffer>,
  description: ObjectDescription,
  signal: AbortSignal,
): Promise<string> {
  const id = uploadAt(spec, key);
  // An address of before the storage scanned leads past the scan.
  if (id === null && spec.scan !== undefined) throw fail("direct_transfer_forbidden");
  const upload = id === null ? null : await expectedUpload(resources, id);
  const { contentType, filename } = description;
  const told = { filename, told: contentType };
  const content = isStrict(spec) ? (await admitType(spec, body, told)).content : body;
  if (upload !== null) {
    const taken = await takeUpload(spec, resources, upload, null, (to) =>
      noting.store.write(to, content, description, signal),
    );
    // Another one has been faster.
    if (taken === null) throw fail("direct_transfer_forbidden");
    return taken.etag;
  }
  const change = changeOf(noting, key);
  const head = await noting.store.write(key, change.noted(content), description, signal);
  await change.settle(head);
  return head.etag;
}

/** The file of a form, up to the size that the address permits. */
async function receivedForm(
  target: Target,
  { key, contentType, maxBytes }: Extract<DirectRequest, { readonly kind: "form" }>,
  req: IncomingMessage,
  signal: AbortSignal,
): Promise<string> {
  return incomingForm(req).receive(
    {
      store(file) {
        const type = contentType ?? file.contentType;
        const description = { contentType: type, filename: file.filename, description: null };
        return writeAndNote(target, key, limitBytes(file.content, maxBytes), description, signal);
      },
      late: null,
      // The caller chose the key, so there may already be an object.
      undo: null,
    },
    signal,
  );
}

/** The body, which fails if the client leaves before its end. */
async function* wholeBody(req: IncomingMessage): AsyncGenerator<Buffer> {
  // Whoever stops reading still answers on this connection.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  if (!req.complete) throw fail("core.malformed");
}

function conditionsOf({ headers, method }: IncomingMessage): Conditions {
  const given = {
    ...readPreconditions(headers),
    ifRange: headers["if-range"],
    range: method === "HEAD" ? undefined : headers.range,
  };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => typeof value === "string"),
  ) as Conditions;
}
