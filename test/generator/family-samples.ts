// A small registry of each family, for tests that every family passes.

export interface Sample {
  /** Its sections, as YAML. */
  readonly yaml: string;
  /** What else they need. */
  readonly beside?: string;
  /** The namespaces that it makes, each with the hole in the YAML that its mount can fill. */
  readonly mounted?: Readonly<Record<string, string>>;
  /** Whether nothing changes for clients until an operation names what it declares. */
  readonly isSilent?: true;
}

/** A registry of each family. A family without one fails the suite. */
export const samples: Readonly<Record<string, Sample>> = {
  identity: {
    yaml: "identity: {methods: [password, token, api_key], ingress: [{bearer: Authorization}, {api_key: X-API-Key}], <one>, api_keys: {<two>}, provisioning: {guard: staff, <three>}}",
    mounted: { authn: "<one>", api_keys: "<two>", principals: "<three>" },
  },
  tenancy: {
    yaml: "tenancy: {selector: {<one>}, admin: {guard: staff, <two>}}",
    beside: "identity: {}",
    mounted: { tenants: "<one>", tenant_admin: "<two>" },
  },
  documents: {
    yaml: "documents: {notes: {type: {text: string}, tenant: false, guard: open, <one>}}",
    mounted: { notes: "<one>" },
  },
  search: {
    yaml: "search: {finds: {of: notes, text: [text], guard: open, <one>}}",
    beside: "documents: {notes: {type: {text: string}, tenant: false, guard: open}}",
    mounted: { finds: "<one>" },
  },
  storage: {
    yaml: "storage: {files: {guard: open, presign: true, multipart: true, <one>}}",
    mounted: { files: "<one>" },
  },
  composites: {
    yaml: "composites: {papers: {type: {text: string}, tenant: false, search: {text: [text]}, storage: {}, guard: open, <one>}}",
    mounted: { papers: "<one>", papers_search: "<one>", papers_blobs: "<one>" },
  },
  custom: {
    yaml: "operations: {shop.open: {post: /shop, in: {at: date-time}, out: {ok: boolean}, run: registry/shop.ts#open, guard: open}}",
  },
  errors: {
    yaml: "errors: {sold_out: {kind: conflict, detail: None are left., context: {left: integer}}}",
    isSilent: true,
  },
  outbox: {
    yaml: "outbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}",
  },
  jobs: {
    yaml: "jobs: {shop.tidy: {in: {at: date-time}, run: registry/shop.ts#open}}\njob_runs: {guard: staff, <one>}",
    beside: "identity: {}",
    mounted: { job_runs: "<one>" },
  },
  audit: {
    yaml: "audit: {guard: staff, <one>}",
    beside: "identity: {}",
    mounted: { audit: "<one>" },
  },
  webhooks: {
    yaml: "webhooks: {guard: staff, <one>}",
    beside:
      "identity: {}\noutbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}",
    mounted: { webhooks: "<one>" },
  },
  realtime: {
    yaml: "realtime: {events: {shop.opened: {data: {at: date-time}, audience: [topic], delivery: ephemeral}}}",
    beside: "identity: {}",
  },
};

/** The YAML of a sample, with a mount in one of its holes. */
export const textOf = ({ yaml, beside = "" }: Sample, hole = "", mount = ""): string =>
  `${beside}\n${yaml.replaceAll(/(, )?(<\w+>)/g, (_all, comma: string | undefined, found: string) =>
    found === hole ? `${comma ?? ""}${mount}` : "",
  )}`;

/** The files of a project with sections. */
export function filesOf(yaml: string): Readonly<Record<string, string>> {
  return {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], staff: [principal, {authorize: platform.admin}]}
${yaml}
`,
    "registry/shop.ts": "export const open = async () => ({ ok: true });\n",
  };
}
