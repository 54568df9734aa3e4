// Worlds that differ in what a caller may not see: what somebody else has made, in the caller's tenant or in another one.
import fc from "fast-check";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import type { TestEngine } from "./engines.js";
import { peopleOf, type Member } from "./people.js";
import type { TestProject } from "./project-service.js";
import type { TestService } from "./service.js";

/** Callers see what they have made, unless they may see all of a document. */
export const registry = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {mine: [principal, tenant, {scope: own_rows, override: [admin]}], staff: [principal, tenant]}
documents:
  projects:
    type: {name: string, archived: boolean, size: integer?}
    guard: mine
    soft_delete: {read: mine}
    history: {revisions: true}
    bulk: {max: 20}
    upsert: true
    unique: [[name]]
  tasks:
    type:
      title: string
      points: {type: integer, default: 1}
      project: {ref: projects?, on_delete: set_null}
      parent: {ref: tasks?, on_delete: cascade}
    guard: mine
    soft_delete: {read: mine}
    history: {revisions: true}
    bulk: {max: 20}
    upsert: true
    unique: [[title]]
  seats: {type: {name: string, project: {ref: projects}}, guard: mine}
  domains: {type: {name: string}, guard: staff, unique: [{fields: [name], global: true}]}
search:
  task_search: {of: tasks, text: [title], facets: [points], guard: mine}
storage:
  files: {guard: staff}
`,
};

/** What every hidden task is called as well: other spellings of what the caller writes. */
const misspelt = "lanch atlass papr rockte blinda";
const title = fc
  .array(fc.constantFrom("launch", "atlas", "paper", "rocket"), { minLength: 1, maxLength: 3 })
  .map((words) => words.join(" "));
const others = fc.array(
  fc.record({
    title,
    points: fc.nat({ max: 3 }),
    isMarked: fc.boolean(),
    /** What of the caller's it names. */
    names: fc.constantFrom("none", "project", "parent"),
  }),
  { maxLength: 6 },
);

/** What the caller may not see. */
export const hidden = fc.record({
  /** The project that a task of the caller's names. */
  named: fc.record({ archived: fc.boolean(), size: fc.option(fc.nat({ max: 9 })) }),
  /** One that the caller knows by its id alone. */
  known: fc.constantFrom("there", "marked", "absent"),
  colleagues: others,
  strangers: others,
  files: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
});
export type Hidden = typeof hidden extends fc.Arbitrary<infer Value> ? Value : never;

/** A service with a caller, who has the same in every world, and what else there is. */
export interface World {
  readonly service: TestService;
  readonly caller: Member;
  /** Sees all of the caller's tenant. */
  readonly colleague: Member;
  readonly stranger: Member;
  /** The ids that the caller knows, by names that are the same in every world. */
  readonly ids: Readonly<Record<string, string>>;
  make(who: Member, path: string, body: object): Promise<string>;
  upload(who: Member, name: string, prefix: string): Promise<string>;
  close(): Promise<void>;
}

export async function worldOf(
  engine: TestEngine,
  project: TestProject,
  given: Hidden,
): Promise<World> {
  const service = await project.start(engine);
  const { identitySpec } = await project.load("generated/identity.ts");
  const people = peopleOf(service, identitySpec);
  const caller = await people.member("");
  const colleague = await people.member(caller.tenantId, "admin");
  const stranger = await people.member("", "admin");
  const send = async (who: Member, method: string, path: string, body?: object) => {
    const answer = await people.as(who.token, method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const make: World["make"] = async (who, path, body) => (await send(who, "POST", path, body)).id;
  const upload: World["upload"] = async ({ token }, name, prefix) => {
    const data = new FormData();
    data.set("prefix", prefix);
    data.set("tags", "stage=draft");
    data.set("file", new Blob([name]), `${name}.txt`);
    const headers = { authorization: `Bearer ${token}` };
    return (await service.call("POST", "/files", { body: data, headers })).body.key;
  };
  const atlas = await make(caller, "/projects", { name: "atlas", archived: false, size: 3 });
  const borg = await make(caller, "/projects", { name: "borg", archived: true });
  const launch = await make(caller, "/tasks", { title: "launch atlas", project: atlas });
  const paper = await make(caller, "/tasks", { title: "paper rockets", project: borg, points: 2 });
  const child = await make(caller, "/tasks", { title: "rocket child", parent: launch });
  const blind = await make(caller, "/tasks", { title: "blind", points: 3 });
  const gone = await make(caller, "/tasks", { title: "gone", parent: paper });
  await send(caller, "POST", `/tasks/${gone}/delete?rev=1`, {});
  await send(caller, "PATCH", `/tasks/${launch}?rev=1`, { points: 5 });
  const file = await upload(caller, "mine", "a");
  // What nobody but others sees.
  const concealed = await make(colleague, "/projects", { name: "concealed", ...given.named });
  await send(colleague, "PATCH", `/tasks/${blind}?rev=1`, { project: concealed });
  const known =
    given.known === "absent"
      ? uuidv7()
      : await make(colleague, "/projects", { name: "known", archived: true });
  if (given.known === "marked")
    await send(colleague, "POST", `/projects/${known}/delete?rev=1`, {});
  for (const [who, all] of [
    [colleague, given.colleagues],
    [stranger, given.strangers],
  ] as const)
    for (const [at, { title: called, points, isMarked, names }] of all.entries()) {
      const naming =
        who === stranger || names === "none"
          ? {}
          : { [names]: names === "project" ? atlas : launch };
      const unseen = `${called} ${misspelt} ${names} ${at}`;
      const id = await make(who, "/tasks", { title: unseen, points, ...naming });
      if (isMarked) await send(who, "POST", `/tasks/${id}/delete?rev=1`, {});
    }
  for (const name of given.files) await upload(stranger, name, "a");
  return {
    service,
    caller,
    colleague,
    stranger,
    ids: {
      caller: caller.id,
      atlas,
      borg,
      launch,
      paper,
      child,
      blind,
      gone,
      concealed,
      known,
      file,
    },
    make,
    upload,
    close: () => service.stop(),
  };
}
