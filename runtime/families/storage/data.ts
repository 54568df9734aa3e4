// The files of a storage as lines: what is known of each, with the hash of its bytes.
import { isDeepStrictEqual } from "node:util";
import { defaultTenant } from "../../contract/default-tenant.js";
import { fail } from "../../contract/errors.js";
import { isObject } from "../../contract/json-pointer.js";
import {
  differs,
  hashContent,
  importing,
  refuseLine,
  type Contents,
  type DataSet,
  type Naming,
} from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { ObjectTags } from "../../ports/object-head.js";
import { objectIndex, type IndexedObject } from "../../ports/object-index.js";
import { walkPages } from "../../ports/pages.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { membersOf } from "../../query/list-request.js";
import { admitType } from "./content-type.js";
import { checkTags, checkTexts } from "./description.js";
import { checkKey, keyFault, stagedPrefix } from "./key.js";
import { objects, type ObjectAbout } from "./objects.js";
import { storeFor } from "./resources.js";

/** Entries that are read at once. */
const pageSize = 200;

/** A line of a file. */
interface FileLine {
  readonly tenant: string;
  readonly key: string;
  readonly about: ObjectAbout;
  readonly hash: string;
}

/** The files of a storage. */
export function fileSet(spec: StorageSpec, service: ServiceAtWork): DataSet<FileLine> {
  return {
    name: `files/${spec.name}`,
    async *lines(contents) {
      for await (const object of allObjects(spec, service))
        yield lineOf(spec, object, await contents.keep(bytesOf(spec, service, object)));
    },
    read: (value, naming, contents) => readFile(spec, value, naming, contents),
    async add(lines, _naming, contents) {
      let added = 0;
      for (const line of lines) if (await addFile(spec, service, line, contents)) added += 1;
      return added;
    },
  };
}

async function* allObjects(
  spec: StorageSpec,
  { database }: ServiceAtWork,
): AsyncGenerator<IndexedObject> {
  const filter = { prefix: `${placeOf(spec)}/`, contentType: null, tags: {} };
  const all = walkPages(
    pageSize,
    (after: string | null) =>
      database.reader.of(objectIndex).select(filter, { after, offset: 0, limit: pageSize }),
    ({ key }) => key,
  );
  for await (const object of all) if (!object.key.startsWith(stagedPrefix(spec))) yield object;
}

async function* bytesOf(
  spec: StorageSpec,
  service: ServiceAtWork,
  { key }: IndexedObject,
): AsyncGenerator<Buffer> {
  const opened = await storeFor(spec, service).open(key);
  if (opened === null) throw fail("core.concurrency");
  yield* opened.body;
}

function lineOf(spec: StorageSpec, object: IndexedObject, hash: string): string {
  const { key, contentType, filename, description, tags } = object;
  const [tenant = "", ...segments] = key.slice(placeOf(spec).length + 1).split("/");
  return JSON.stringify({
    tenant_id: tenant,
    key: segments.join("/"),
    content_type: contentType,
    filename,
    ...(description === null ? {} : { description }),
    ...(tags === undefined ? {} : { tags: inOrder(tags) }),
    sha256: hash,
  });
}

function inOrder(tags: ObjectTags): ObjectTags {
  return Object.fromEntries(
    Object.entries(tags).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

async function readFile(
  spec: StorageSpec,
  value: unknown,
  naming: Naming,
  contents: Contents,
): Promise<FileLine> {
  const members = ["tenant_id", "key", "content_type", "filename", "description", "tags", "sha256"];
  const line = membersOf(value, "", members);
  const textOf = (name: string): string | undefined => {
    const text = line[name];
    if (text === undefined || typeof text === "string") return text;
    return refuseLine(`/${name}`, "type", "must be string");
  };
  const tenant = textOf("tenant_id") ?? defaultTenant;
  if (!/^[^/~]+$/u.test(tenant) || keyFault(tenant) !== null)
    return refuseLine("/tenant_id", "pattern", "must be the id of a tenant");
  if (tenant !== defaultTenant) naming.expect("tenants", tenant, "/tenant_id");
  const key = checkKey(textOf("key") ?? "", "/key");
  const hash = (textOf("sha256") ?? "").toLowerCase();
  const size = await contents.sizeOf(hash);
  if (size === null)
    return refuseLine("/sha256", "const", `must be the hash of the file contents/${hash}`);
  if (spec.maxUploadBytes !== null && size > spec.maxUploadBytes)
    return refuseLine("/sha256", "maximum", `${size} bytes are more than max_upload allows`);
  const { tags = {} } = line;
  if (!isObject(tags) || Object.values(tags).some((tag) => typeof tag !== "string"))
    return refuseLine("/tags", "type", "must be an object of texts");
  const said = ["content_type", "filename", "description"] as const;
  const texts = said.flatMap((name) => {
    const text = textOf(name);
    return text === undefined ? [] : [[name, text] as const];
  });
  // Its values were checked above.
  const about: ObjectAbout = { ...Object.fromEntries(texts), tags: tags as ObjectTags };
  checkTags(about.tags ?? {});
  checkTexts(about);
  const { filename = key.split("/").at(-1) ?? key, content_type: told } = about;
  const admitted = await admitType(spec, contents.open(hash), { filename, told });
  await admitted.content[Symbol.asyncIterator]().return?.();
  return { tenant, key, hash, about };
}

/** Writes a file that isn't there yet; returns whether it did. */
async function addFile(
  spec: StorageSpec,
  service: ServiceAtWork,
  { tenant, key, about, hash }: FileLine,
  contents: Contents,
): Promise<boolean> {
  const context = service.context(importing, tenant);
  // What was exported had been scanned.
  const { scan: _scan, ...unscanned } = spec;
  const held = objects(unscanned, context);
  if (!(await held.exists(key))) {
    await held.put(key, contents.open(hash), about);
    return true;
  }
  const is = await held.get(key);
  const { body, content_type: type, filename, description, tags = {} } = is;
  const isSame =
    (await hashContent(body)) === hash &&
    type === (about.content_type ?? type) &&
    filename === (about.filename ?? filename) &&
    description === about.description &&
    isDeepStrictEqual(tags, about.tags ?? {});
  if (!isSame) throw differs(`the file ${key}`);
  return false;
}
