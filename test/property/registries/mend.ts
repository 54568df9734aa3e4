// What random choices would almost always break is mended, so that most random registries are accepted.
import { mapRecord } from "../../../generator/model/records.js";
import { isMap } from "../../../generator/load/shape.js";
import type { Draw } from "./draw.js";
import { mendTenancy, withInvitations, withoutShown, withShown } from "./members.js";
import { verbs } from "./samples.js";
import { mendSearches } from "./searches.js";
import type { Json } from "./world.js";

type Fields = Readonly<Record<string, unknown>>;

/** The registry with its parts in agreement, but for one time of a hundred each. */
export function mended(made: Json, draw: Draw): Json {
  const isLeft = (): boolean => draw.chance(1);
  const each = (name: string, mend: (one: Fields) => Fields): Json => {
    const section = made[name];
    if (!isMap(section)) return {};
    return {
      [name]: Object.fromEntries(
        Object.entries(section).map(([key, one]) => [
          key,
          isMap(one) && !isLeft() ? mend(one) : one,
        ]),
      ),
    };
  };
  const { identity, outbox } = made;
  const { search, webhooks: _unmended, job_runs: _runs, audit, ...others } = made;
  const hasDocuments = isMap(made["documents"]) || isMap(made["composites"]);
  const whole = {
    ...others,
    ...ofService(made),
    ...each("operations", (one) => operation(one, draw)),
    ...each("documents", (one) => document(reminded(one), search === undefined)),
    ...each("composites", (one) => document(reminded(scanningWithin(one)), false)),
    ...each("storage", (one) => storage(scanning(one))),
    ...(hasDocuments && isMap(search) ? ofSearches(search, isLeft()) : {}),
    ...mendTenancy(made, (registered, one) => mountedAs(registered)(one)),
    ...ofWebhooks({ ...made, ...(isMap(outbox) ? { outbox: withData(outbox) } : {}) }),
    ...ofJobs(withScan(reminding(made))),
    ...(isMap(audit) ? { audit: ofAudit(made, audit) } : {}),
    ...(isMap(identity) && !isLeft() ? ofIdentity(made, identity) : {}),
    ...mounts(made, draw),
  };
  const { policies } = made;
  // Mostly, so that a policy without what it needs is refused now and then.
  if (isMap(policies) && !isLeft())
    Object.assign(whole, { policies: mapRecord(policies, (steps) => refusing(steps, made)) });
  const invited = { ...whole, ...(isMap(identity) ? withInvitations(whole) : {}) };
  if (isMap(identity) || isLeft()) return realtime(withoutReplies(withProfile(invited)), isLeft());
  const {
    tenancy: _tenancy,
    roles: _roles,
    authorization: _authorization,
    realtime: _realtime,
    webhooks: _webhooks,
    ...rest
  } = whole as Fields;
  return rest;
}

/** A trail without exceptions that are not there. */
function ofAudit({ documents }: Json, { except, ...audit }: Fields): Fields {
  const known = isMap(documents) ? Object.keys(documents) : [];
  const named = Array.isArray(except) ? except.filter((name) => known.includes(String(name))) : [];
  return mountedAs(verbs.audit)({ ...audit, ...(named.length === 0 ? {} : { except: named }) });
}

/** A policy that asks for no tenant where there are none, and no hook that runs too late to refuse. */
function refusing(steps: unknown, { tenancy, hooks }: Json): unknown {
  const isLate = (step: unknown): boolean => {
    const hook = isMap(hooks) ? hooks[String(step)] : undefined;
    return isMap(hook) && !["before", "wrap", "tx_before", "tx_after"].includes(`${hook["phase"]}`);
  };
  const isAsked = (step: unknown): boolean =>
    (step !== "tenant" || isMap(tenancy)) && !isLate(step);
  return Array.isArray(steps) ? steps.filter(isAsked) : steps;
}

/** The document that principals get has one for each, in no tenant. */
function withProfile(registry: Json): Json {
  const { identity, documents } = registry;
  if (!isMap(identity) || !isMap(identity["sign_up"])) return withoutShown(registry);
  const { profile, ...signUp } = identity["sign_up"];
  const [[name, one] = []] = isMap(documents) ? Object.entries(documents) : [];
  if (profile === undefined || name === undefined || !isMap(one))
    return { ...withoutShown(registry), identity: { ...identity, sign_up: signUp } };
  return {
    ...withShown(registry, one["type"]),
    identity: { ...identity, sign_up: { ...signUp, profile: name } },
    documents: {
      ...(documents as Fields),
      [name]: { ...one, tenant: false, unique: [["owner_id"]] },
    },
  };
}

/** A license has an identifier or an address. */
function ofService({ service }: Json): Json {
  if (!isMap(service) || !isMap(service["license"])) return {};
  const { url, ...license } = service["license"];
  const isLinked = url !== undefined && license["identifier"] === undefined;
  return { service: { ...service, license: isLinked ? { ...license, url } : license } };
}

const methods = ["get", "post", "put", "patch", "delete"];

/** Whether a type is fields by name, one at least. */
function isFieldMap(type: unknown): boolean {
  const names = isMap(type) ? Object.keys(type) : [];
  return names.length > 0 && !names.includes("type");
}

/** One method; what travels in the URL is declared, and can. */
function operation(one: Fields, draw: Draw): Fields {
  const given = methods.filter((method) => one[method] !== undefined);
  const method = given[0] ?? "post";
  const path = String(one[method] ?? `/posted${draw.below(1_000)}`);
  const rest = Object.fromEntries(Object.entries(one).filter(([key]) => !methods.includes(key)));
  const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const hasBody = ["post", "put", "patch"].includes(method);
  const body = hasBody ? one["body"] : undefined;
  const isPlain = hasBody && placeholders.length === 0 && body === undefined;
  const travels = ([name, type]: readonly [string, unknown]): boolean =>
    (hasBody && body === undefined) ||
    (!(body === "raw" && name === "body") && typeof type === "string" && /^[a-z]+\??$/.test(type));
  const fields = isFieldMap(one["in"]) ? Object.entries(one["in"] as Fields).filter(travels) : [];
  const named = Object.fromEntries([...fields, ...placeholders.map((name) => [name, "uuid"])]);
  const {
    status: _status,
    idempotency,
    transaction,
    credentials,
    headers,
    reply,
    isolation,
    retry,
    media,
    stream,
    body: _body,
    ...further
  } = rest;
  // Nobody is calling where credentials are ignored.
  const asksNobody = rest["guard"] === "open" && rest["hooks"] === undefined;
  const hasOutput = one["out"] !== undefined;
  const isMedia = media !== undefined && !hasOutput;
  const isRows = media === "text/csv" && isFieldMap(one["out"]);
  const writes = transaction === "write" || (transaction === undefined && method !== "get");
  const isStream = stream === true && hasOutput && !isRows;
  const isKeyed = idempotency === true && writes && !isMedia && !isRows && !isStream;
  return {
    [method]: path,
    ...further,
    ...(transaction === undefined ? {} : { transaction }),
    ...replyOf(headers, reply, isKeyed, hasOutput || isMedia),
    ...(credentials === undefined || !asksNobody ? {} : { credentials }),
    ...(isPlain ? {} : { in: named }),
    // A form has fields.
    ...(body === undefined || (body === "form" && Object.keys(named).length === 0) ? {} : { body }),
    ...(one["status"] === undefined ? {} : { status: hasOutput || isMedia ? 201 : 204 }),
    ...(idempotency === undefined ? {} : { idempotency: isKeyed }),
    ...(isMedia || isRows ? { media } : {}),
    ...(isStream ? { stream } : {}),
    ...(isolation === undefined || !writes ? {} : { isolation }),
    ...(retry === undefined || !writes ? {} : { retry }),
  };
}

/** Headers that are nobody's own; no reply under a key, and no redirect beside an output. */
function replyOf(headers: unknown, reply: unknown, isKeyed: boolean, hasOutput: boolean): Fields {
  const free = (names: unknown): readonly string[] =>
    Array.isArray(names) ? (names as string[]).filter((name) => name !== "Authorization") : [];
  const read = free(headers);
  const { redirect, headers: set, ...rest } = isMap(reply) && !isKeyed ? reply : ({} as Fields);
  const said = {
    ...rest,
    ...(free(set).length === 0 ? {} : { headers: free(set) }),
    ...(redirect === undefined || hasOutput ? {} : { redirect }),
  };
  return {
    ...(read.length === 0 ? {} : { headers: read }),
    ...(Object.keys(said).length === 0 ? {} : { reply: said }),
  };
}

/** Commands have no headers, and answer no more than a body. */
function withoutReplies(registry: Json): Json {
  const { realtime: plane, operations } = registry;
  if (!isMap(plane) || plane["commands"] === undefined || !isMap(operations)) return registry;
  const plain = Object.entries(operations).map(([key, one]) => {
    const all = isMap(one) ? one : {};
    const {
      headers: _headers,
      reply: _reply,
      media: _media,
      stream: _stream,
      body: _body,
      ...rest
    } = all;
    return [key, rest] as const;
  });
  return { ...registry, operations: Object.fromEntries(plain) };
}

/** Only verbs that the document registers are spoken of. */
function document(given: Fields, maySensitive: boolean): Fields {
  const { sensitive, ...others } = given;
  const one = maySensitive && sensitive !== undefined ? given : others;
  const isSoft = one["soft_delete"] !== undefined && one["soft_delete"] !== false;
  const isComposite = one["search"] !== undefined;
  const isKeyed =
    one["upsert"] === true &&
    Array.isArray(one["unique"]) &&
    one["unique"].length > 0 &&
    one["read_only"] !== true;
  const registered: readonly string[] =
    one["read_only"] === true
      ? verbs.reading
      : verbs.documents.filter(
          (verb) =>
            (isSoft || isComposite || !["delete", "restore"].includes(verb)) &&
            (one["bulk"] !== undefined || !/_(?:many|where)$/.test(verb)) &&
            (isKeyed || verb !== "upsert"),
        );
  const {
    mount,
    idempotency,
    unique,
    upsert,
    set,
    personal,
    retention,
    no_overlap: overlap,
    states,
    emits,
    ...unmended
  } = one;
  const carrying = isMap(emits) ? { emits: carried(emits, isSoft || isComposite) } : {};
  const rest = { ...unmended, ...carrying };
  const isOff = one["sensitive"] === true;
  return {
    ...only(rest, ["guard", "hooks", "emits", "deprecated"], [...registered, "read", "write"]),
    ...(idempotency === undefined || one["read_only"] === true ? {} : { idempotency }),
    ...(mount === undefined || isOff ? {} : { mount: mountOf(mount, registered) }),
    ...(upsert === undefined || !isKeyed ? {} : { upsert }),
    ...(isMap(set) ? { set: settable(set, one) } : {}),
    ...(isMap(retention) ? { retention: retained(retention, one, isSoft || isComposite) } : {}),
    ...(isBetweenFields(overlap) ? { no_overlap: overlap } : {}),
    ...(isMap(states) && isStated(states, set) ? { states } : {}),
    ...(personal === undefined ? {} : { personal: erasable(personal, unique, overlap) }),
    ...(Array.isArray(unique)
      ? { unique: unique.map((rule) => uniqueOf(rule, isSoft || isComposite)) }
      : {}),
  };
}

/** A payload that is the whole document has the fields of all documents as well. */
function carried(emits: Fields, isSoft: boolean): Fields {
  const base = ["id", "rev", "created_at", "last_update_at", ...(isSoft ? ["is_deleted"] : [])];
  const every = Object.fromEntries(base.map((field) => [field, field]));
  const whole = (one: unknown): unknown =>
    isMap(one) && isMap(one["data"]) ? { ...one, data: { ...every, ...one["data"] } } : one;
  return Object.fromEntries(
    Object.entries(emits).map(([verb, one]) => [
      verb,
      Array.isArray(one) ? one.map(whole) : whole(one),
    ]),
  );
}

/** Whether there is a field of states that the service doesn't compute. */
function isStated({ field }: Fields, set: unknown): boolean {
  const rule = isMap(set) ? set[String(field)] : undefined;
  return field !== "" && (rule === undefined || rule === "$handler");
}

/** What nobody else says anything of. */
function settable(set: Fields, { create, update, defaults }: Fields): Fields {
  const named = [create, update].flatMap((list) => (Array.isArray(list) ? list : []));
  const taken = [...named, ...(isMap(defaults) ? Object.keys(defaults) : [])];
  return Object.fromEntries(Object.entries(set).filter(([field]) => !taken.includes(field)));
}

/** Only what documents have is kept for a time, and how many revisions that are is said once. */
function retained(retention: Fields, { history }: Fields, isSoft: boolean): Fields {
  const { deleted, history: kept } = retention;
  const isSaid = isMap(history) && history["keep"] !== undefined;
  const hasHistory = history !== undefined && history !== false && !isSaid;
  return {
    ...(deleted === undefined || !isSoft ? {} : { deleted }),
    ...(kept === undefined || !hasHistory ? {} : { history: kept }),
  };
}

/** Whether its range is between fields of the document, which it doesn't always have two of. */
function isBetweenFields(rule: unknown): boolean {
  return isMap(rule) && Array.isArray(rule["range"]) && rule["range"][0] !== "created_at";
}

/** Fields that nothing keeps apart. */
function erasable(personal: unknown, ...rules: readonly unknown[]): unknown {
  const isFree = (field: string): boolean => !JSON.stringify(rules).includes(`"${field}"`);
  if (Array.isArray(personal)) return (personal as string[]).filter(isFree);
  return Object.fromEntries(Object.entries(personal as Fields).filter(([field]) => isFree(field)));
}

/** Only documents that can be deleted can be told from those that are not. */
function uniqueOf(rule: unknown, isSoft: boolean): unknown {
  if (!isMap(rule) || isSoft || rule["where"] !== "not_deleted") return rule;
  const { where: _where, ...rest } = rule;
  return rest;
}

function storage(one: Fields): Fields {
  const registered = [
    ...verbs.storage,
    ...(one["presign"] === true ? verbs.presign : []),
    ...(one["multipart"] === true ? verbs.multipart : []),
  ];
  const { mount, sensitive, ...rest } = one;
  return {
    ...only(rest, ["guard", "hooks"], [...registered, "read", "write"]),
    // What is sensitive is on no mount.
    ...(sensitive === undefined || isMap(mount) ? {} : { sensitive }),
    ...(mount === undefined ? {} : { mount: mountOf(mount, registered) }),
  };
}

/** Searches that are whole; as they are where they are left. */
function ofSearches(search: Json, isLeft: boolean): Json {
  if (isLeft) return { search };
  const whole = mendSearches(search, (one, registered) =>
    mountedAs(registered)(only(one, ["hooks", "guard"], [...registered, "read"])),
  );
  return Object.keys(whole).length === 0 ? {} : { search: whole };
}

function mountedAs(registered: readonly string[]): (one: Fields) => Fields {
  return ({ mount, ...rest }) => ({
    ...rest,
    ...(mount === undefined ? {} : { mount: mountOf(mount, registered) }),
  });
}

/** The outbox, and webhooks of events that are there. */
function ofWebhooks({ webhooks, outbox }: Json): Json {
  const alone = isMap(outbox) ? { outbox } : {};
  if (!isMap(webhooks)) return alone;
  const { events: wanted, ...rest } = webhooks;
  const events = isMap(outbox) && isMap(outbox["events"]) ? Object.keys(outbox["events"]) : [];
  if (events.length === 0) return alone;
  const known = (Array.isArray(wanted) ? (wanted as string[]) : []).filter((name) =>
    events.includes(name),
  );
  // An event that tells of a document whose reading is narrowed takes a guard of its own.
  const guarded = Object.entries(
    isMap(outbox) && isMap(outbox["events"]) ? outbox["events"] : {},
  ).map(([name, event]) => {
    const isOfType = isMap(event) && typeof event["data"] === "string";
    return [name, isOfType ? { guard: webhooks["guard"], ...event } : event] as const;
  });
  return {
    outbox: { ...(isMap(outbox) ? outbox : {}), events: Object.fromEntries(guarded) },
    webhooks: {
      ...mountedAs(verbs.webhooks)(rest),
      ...(known.length === 0 ? {} : { events: known }),
    },
  };
}

const reminder = "reminders.due";

/** A document whose reminders are of a job and a field that are there. */
function reminded(one: Fields): Fields {
  const [first] = [one["remind"]].flat();
  if (!isMap(first) || !isMap(first["at"])) return one;
  const where = isMap(first["where"]) ? { where: first["where"] } : {};
  return {
    ...one,
    remind: { job: reminder, at: { ...first["at"], field: "created_at" }, ...where },
  };
}

/** The registry with the job of its reminders. */
function reminding(made: Json): Json {
  const documents = [made["documents"], made["composites"]].flatMap((section) =>
    isMap(section) ? Object.values(section) : [],
  );
  if (!documents.some((one) => isMap(one) && one["remind"] !== undefined)) return made;
  const due = { in: { id: "uuid" }, run: "registry/reminders.ts#due" };
  return { ...made, jobs: { ...(isMap(made["jobs"]) ? made["jobs"] : {}), [reminder]: due } };
}

const scan = "uploads.scan";

/** A storage whose scan is a job that is there. */
function scanning(one: Fields): Fields {
  return one["scan"] === undefined ? one : { ...one, scan };
}

/** A composite whose storage, if it has one, is scanned so. */
function scanningWithin(one: Fields): Fields {
  return isMap(one["storage"]) ? { ...one, storage: scanning(one["storage"]) } : one;
}

/** The registry with the job of its scans. */
function withScan(made: Json): Json {
  const { storage: storages, composites } = made;
  const scans = [
    ...(isMap(storages) ? Object.values(storages) : []),
    ...(isMap(composites) ? Object.values(composites) : []).map(
      (one) => isMap(one) && one["storage"],
    ),
  ].some((one) => isMap(one) && one["scan"] !== undefined);
  if (!scans) return made;
  const decide = { in: { upload: "string" }, run: "registry/scan.ts#decide" };
  return { ...made, jobs: { ...(isMap(made["jobs"]) ? made["jobs"] : {}), [scan]: decide } };
}

/** Jobs that can run, by themselves or because they are enqueued; their runs where there are any. */
function ofJobs({ jobs, job_runs: runs, identity, tenancy }: Json): Json {
  if (!isMap(jobs) || Object.keys(jobs).length === 0) return {};
  const hasTenants = isMap(identity) && isMap(tenancy);
  const mended = Object.entries(jobs).map(([name, one]) => [
    name,
    isMap(one) ? job(one, hasTenants) : one,
  ]);
  return {
    jobs: Object.fromEntries(mended),
    ...(isMap(runs) ? { job_runs: mountedAs(verbs.job_runs)(runs) } : {}),
  };
}

function job(one: Fields, hasTenants: boolean): Fields {
  const { in: input, unique: _unique, timezone, per, missed, timeout, ...rest } = one;
  const { concurrency } = one;
  const limit = {
    ...(timeout === undefined ? {} : { timeout: timeout === "7d" ? "1h" : timeout }),
    ...(isMap(concurrency) && concurrency["per"] === "key"
      ? { concurrency: { ...concurrency, max: 1 } }
      : {}),
  };
  const planned = {
    ...(timezone === undefined ? {} : { timezone }),
    ...(per === undefined || !hasTenants ? {} : { per }),
    ...(missed === undefined ? {} : { missed }),
  };
  if (one["cron"] !== undefined) return { ...rest, ...limit, ...planned };
  if (!isMap(input)) return { ...rest, ...limit };
  const members = isMap(input["properties"]) ? input["properties"] : input;
  const [first] = Object.keys(members).filter((key) => /^[A-Za-z_]\w*$/.test(key));
  const isAlone = one["unique"] !== undefined && first !== undefined;
  return { ...rest, ...limit, in: input, ...(isAlone ? { unique: [first] } : {}) };
}

/** The members with those keys of theirs that are known. */
function only(one: Fields, members: readonly string[], known: readonly string[]): Fields {
  return Object.fromEntries(
    Object.entries(one).map(([name, value]) => [
      name,
      members.includes(name) && isMap(value)
        ? Object.fromEntries(Object.entries(value).filter(([key]) => known.includes(key)))
        : value,
    ]),
  );
}

/** A mount that includes something, and has paths only for that. */
function mountOf(mount: unknown, registered: readonly string[]): unknown {
  if (!isMap(mount)) return mount;
  const { include, paths, ...rest } = mount;
  const kept = Array.isArray(include)
    ? (include as string[]).filter((verb) => registered.includes(verb))
    : [];
  const attached = kept.length === 0 ? registered : kept;
  const own = isMap(paths) ? Object.entries(paths).filter(([verb]) => attached.includes(verb)) : [];
  return {
    ...rest,
    ...(kept.length === 0 ? {} : { include: kept }),
    ...(own.length === 0 ? {} : { paths: Object.fromEntries(own) }),
  };
}

/** Places of credentials, each once; tokens name a route that is there. */
function ingressOf(
  ingress: unknown,
  routes: readonly string[],
  hasWebSockets: boolean,
): readonly Fields[] {
  const kinds = ["bearer", "api_key", "cookie", ...(hasWebSockets ? ["query"] : [])];
  const places = new Map<string, Fields>();
  for (const [at, entry] of (Array.isArray(ingress) ? (ingress as Fields[]) : []).entries()) {
    const { route: _route, scheme, ...place } = entry;
    const kind = kinds.find((one) => place[one] !== undefined) ?? "";
    // A query is looked at only where there are WebSockets.
    if (kind === "") continue;
    const name = String(place[kind]);
    const key =
      kind === "query" ? `?${name}` : `${kind === "cookie" ? kind : ""}${name.toLowerCase()}`;
    const route = routes[at % routes.length];
    if (places.has(key)) continue;
    places.set(key, {
      ...place,
      ...(kind === "bearer" && scheme !== undefined ? { scheme } : {}),
      ...(kind === "api_key" || route === undefined ? {} : { route }),
    });
  }
  return [...places.values()];
}

function hasWebSocketsOf(realtime: unknown): boolean {
  if (!isMap(realtime)) return false;
  const { transports } = realtime as Fields;
  return !Array.isArray(transports) || transports.includes("websocket");
}

/** A route with a resolver beside its verifier. */
function routeOf(routes: unknown, name: string): Json {
  const { verifier, resolver } = (isMap(routes) ? routes[name] : {}) as Fields;
  if (resolver === undefined) return {};
  return verifier === undefined ? { resolver } : { verifier, resolver };
}

/** Parts of identity have what they need. */
function ofIdentity({ outbox, realtime }: Json, identity: Fields): Json {
  const {
    verifier,
    reset,
    sign_up: signUp,
    ingress,
    api_keys: apiKeys,
    mount,
    openapi_exclude: excluded,
    routes,
    route,
    resolver,
    ...rest
  } = identity;
  const methods = (rest["methods"] ?? ["token", "password"]) as readonly string[];
  const known = isMap(routes) ? Object.keys(routes) : [];
  const entries = ingressOf(ingress, known, hasWebSocketsOf(realtime)).filter((entry: Fields) =>
    methods.includes(entry["api_key"] === undefined ? "token" : "api_key"),
  );
  const tokens = entries.filter((entry) => entry["api_key"] === undefined);
  // Each route has an ingress; those that none names are not there.
  const named = known.filter((name) => tokens.some((entry) => entry["route"] === name));
  const takesKeys = entries.some((entry: Fields) => entry["api_key"] !== undefined);
  const hasPasswords = methods.includes("password");
  const resets = reset !== undefined && hasPasswords;
  const signsUp = isMap(signUp) && hasPasswords;
  const isVerified = signsUp && signUp["verify"] === "email";
  const registered = verbs.authn.filter((verb) => {
    if (verb.includes("reset")) return resets;
    if (verb.endsWith("sign_up")) return signsUp && (verb === "sign_up" || isVerified);
    if (verb === "me") return true;
    if (verb === "export_own") return rest["export"] !== undefined;
    if (verb === "export_principal")
      return isMap(rest["export"]) && rest["export"]["guard"] !== undefined;
    if (verb === "erase_principal") return rest["erase"] !== undefined;
    if (verb.endsWith("activate_principal")) return rest["deactivate"] !== undefined;
    return methods.includes(verb.includes("password") ? "password" : "token");
  });
  const { provisioning } = rest;
  const keys = isMap(apiKeys) ? { mount: mountOf(apiKeys["mount"], verbs.api_keys) } : undefined;
  const mail = { destination: "mail" };
  const own = {
    ...(resets ? { "authn.password_reset_requested": mail } : {}),
    ...(isVerified ? { "authn.sign_up_requested": mail } : {}),
  };
  const { events, ...others } = isMap(outbox) ? withData(outbox) : ({} as Fields);
  return {
    identity: {
      ...rest,
      ...(isMap(provisioning) ? { provisioning: mountedAs(verbs.principals)(provisioning) } : {}),
      ...(named.length === 0
        ? {
            ...(route === undefined ? {} : { route }),
            ...(resolver === undefined ? {} : { resolver }),
            ...(verifier === undefined || resolver === undefined ? {} : { verifier }),
          }
        : { routes: Object.fromEntries(named.map((name) => [name, routeOf(routes, name)])) }),
      ...(entries.length === 0 ? {} : { ingress: entries }),
      ...(keys === undefined || !takesKeys
        ? {}
        : { api_keys: keys.mount === undefined ? {} : keys }),
      ...(resets ? { reset } : {}),
      ...(signsUp ? { sign_up: signUp } : {}),
      ...(excluded === undefined || registered.length === 0
        ? {}
        : { openapi_exclude: [`authn.${registered[0]}`] }),
      ...(mount === undefined || registered.length === 0
        ? {}
        : { mount: mountOf(mount, registered) }),
    },
    ...(resets || isVerified
      ? { outbox: { ...others, events: { ...(events as Fields), ...own } } }
      : {}),
  };
}

/** Events that say what they carry. */
function withData({ events, ...rest }: Fields): Fields {
  const entries = isMap(events) ? Object.entries(events) : [];
  return {
    ...rest,
    events: Object.fromEntries(
      entries.map(([name, event]) => [name, { data: { text: "string" }, ...(event as Fields) }]),
    ),
  };
}

/** Further mounts are of what is there and has none. */
function mounts(made: Json, draw: Draw): Json {
  const entries = isMap(made["mounts"]) ? Object.entries(made["mounts"]) : [];
  const documents = isMap(made["documents"]) ? Object.entries(made["documents"]) : [];
  const off = documents.flatMap(([name, one]) =>
    isMap(one) && one["mount"] === false && one["sensitive"] !== true ? [name] : [],
  );
  const kept = entries.flatMap(([key, one], at) => {
    const namespace = off[at];
    if (!isMap(one) || (namespace === undefined && !draw.chance(1))) return [];
    const { prefix: _prefix, namespace: _namespace, ...rest } = one;
    const mounted = namespace ?? "missing";
    // What every document registers.
    const more = mountOf(rest, verbs.reading) as Fields;
    const by = draw.chance(50) ? { namespace: mounted } : { prefix: `/${mounted}` };
    return [[key, { ...more, ...by }] as const];
  });
  return { mounts: Object.fromEntries(kept) };
}

/** What waits in mailboxes has no topics, and events do not bear the protocol's names. */
function realtime(registry: Json, isLeft: boolean): Json {
  const plane = registry["realtime"];
  if (!isMap(plane) || !isMap(plane["events"]) || isLeft) return registry;
  const events = Object.entries(plane["events"]).map(([name, event]) => {
    if (!isMap(event)) return [name, event];
    const isDurable = event["delivery"] === "durable";
    const isTopic = typeof event["to"] === "string" && !event["to"].startsWith("{");
    const audience = isDurable ? ["principal"] : isTopic ? ["topic"] : event["audience"];
    const { to, ...rest } = event;
    return [
      name,
      { ...rest, audience, ...(to === undefined || (isDurable && isTopic) ? {} : { to }) },
    ];
  });
  const commands =
    isMap(plane["commands"]) && registry["operations"] === undefined ? {} : plane["commands"];
  return {
    ...registry,
    realtime: {
      ...plane,
      ...(commands === undefined ? {} : { commands }),
      events: Object.fromEntries(events),
    },
  };
}
