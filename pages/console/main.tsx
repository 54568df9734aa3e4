// /console: what the service holds, to look at and to work on, as far as the user may.
import type { JSX } from "preact";
import type { Catalog } from "../openapi/catalog.js";
import type { OpenApi } from "../openapi/document.js";
import { Empty } from "../parts/empty.js";
import { askToSignIn, hasSignIn, useToken } from "../shell/session.js";
import { config } from "../shell/config.js";
import { mountPage } from "../shell/mount.js";
import { requestJson } from "../shell/request.js";
import { useVisit } from "../shell/use-location.js";
import { useLoaded } from "../shell/use-loaded.js";
import { apiOf, readAccess, type Api } from "./api.js";
import { documentsOf } from "./documents/document.js";
import { DocumentEditor, NewDocument } from "./documents/editor.js";
import { IdFinder } from "./documents/id-finder.js";
import { DocumentList } from "./documents/list.js";
import { ListPage, OuterItem } from "./list-page.js";
import { lists } from "./lists.js";
import { ObjectList, storagesOf } from "./objects.js";
import { ServiceLog } from "./service/log.js";
import { ServiceMails } from "./service/mails.js";
import { ServiceState } from "./service/state.js";
import { TenantHint } from "./tenant-hint.js";
import { Navigation, type Group } from "./navigation.js";

function Console({ openapi }: { readonly openapi: OpenApi }): JSX.Element {
  const token = useToken();
  const loaded = useLoaded(
    async () => ({
      token,
      api: apiOf(
        openapi,
        await requestJson<Catalog>("GET", `${config.files}/catalog.json`),
        await readAccess(),
      ),
    }),
    [token],
  );
  if (loaded.state === "failed")
    return (
      <main id="main" class="page">
        <Empty title="The console is not for you">{loaded.error.message}</Empty>
      </main>
    );
  // What somebody else may do must not be shown meanwhile.
  if (loaded.state === "loading" || loaded.value.token !== token)
    return <main id="main" class="page" />;
  return (
    <Rooms key={token} api={loaded.value.api} isGuest={token === null && hasSignIn(openapi)} />
  );
}

interface RoomsProps {
  readonly api: Api;
  /** Whether signing in would show more. */
  readonly isGuest: boolean;
}

function Rooms({ api, isGuest }: RoomsProps): JSX.Element {
  // Behind the question mark a list keeps what it shows (documents/listing-state.ts); the
  // menu leads to the list as it is at first, also from the list itself.
  const { fragment, count } = useVisit();
  const [address = ""] = fragment.split("?");
  const groups = groupsOf(api, isGuest);
  const isEmpty = groups.every(({ rooms }) => rooms.length === 0);
  if (isEmpty)
    return (
      <main id="main" class="page">
        <Welcome isGuest={isGuest}>Nothing here is public. Sign in to see your data.</Welcome>
      </main>
    );
  const first = groups.find(({ rooms }) => rooms.length > 0)?.rooms[0]?.address ?? "";
  const shown = address === "" && !isGuest ? first : address;
  return (
    <div class="shell">
      <Navigation groups={groups} address={shown}>
        <IdFinder api={api} />
      </Navigation>
      <main id="main">
        {shown === "" ? (
          <Welcome isGuest={isGuest}>Until you sign in, you only see what is public.</Welcome>
        ) : (
          <>
            {!isGuest && <TenantHint api={api} />}
            <Room key={`${shown} ${count}`} api={api} address={shown} />
          </>
        )}
      </main>
    </div>
  );
}

/** What stands where no room is shown: how to get in, or that there is nothing. */
function Welcome({
  isGuest,
  children,
}: {
  readonly isGuest: boolean;
  readonly children: string;
}): JSX.Element {
  return (
    <div class="stack">
      <h1>Console</h1>
      {isGuest ? (
        <>
          <Empty title="Nobody is signed in">{children}</Empty>
          <p>
            <button class="primary" type="button" onClick={askToSignIn}>
              Sign in to the console
            </button>
          </p>
        </>
      ) : (
        <Empty title="Nothing to see">There is nothing here that you may read.</Empty>
      )}
    </div>
  );
}

/** What the user may look at. */
function groupsOf(api: Api, isGuest: boolean): readonly Group[] {
  const documents = documentsOf(api).map((name) => ({
    title: name,
    address: `documents/${name}`,
  }));
  const objects = storagesOf(api).map((name) => ({ title: name, address: `objects/${name}` }));
  const found = lists
    .filter(({ operation, isOwn = false }) => api.can(operation) && !(isOwn && isGuest))
    .map(({ title, name }) => ({ title, address: `lists/${name}` }));
  const service = [
    ...(api.can("console.state") ? [{ title: "Service state", address: "service" }] : []),
    ...(api.can("console.log") ? [{ title: "Log", address: "log" }] : []),
    ...(api.can("console.mails") ? [{ title: "Mails", address: "mails" }] : []),
  ];
  return [
    { title: "Documents", rooms: documents },
    { title: "Objects", rooms: objects },
    { title: "People and webhooks", rooms: found },
    { title: "Service", rooms: service },
  ];
}

function Room({ api, address }: { readonly api: Api; readonly address: string }): JSX.Element {
  const [room = "", name = "", ...more] = address.split("/");
  const id = more.join("/");
  if (room === "documents" && documentsOf(api).includes(name)) {
    if (id === "") return <DocumentList api={api} name={name} />;
    if (id === "new" && api.can(`${name}.create`)) return <NewDocument api={api} name={name} />;
    return <DocumentEditor api={api} name={name} id={id} />;
  }
  if (room === "objects" && storagesOf(api).includes(name))
    return <ObjectList api={api} name={name} />;
  const list = lists.find((one) => one.name === name);
  if (room === "lists" && list !== undefined) {
    const { inner } = list;
    const outer = `lists/${name}`;
    if (id === "" || inner === undefined) return <ListPage api={api} kind={list} address={outer} />;
    return (
      <div class="stack">
        <p class="row small">
          <a href={`#${outer}`}>{list.title}</a>
          <OuterItem api={api} kind={list} id={id} />
        </p>
        <ListPage api={api} kind={inner} parent={id} address={`${outer}/${id}`} />
      </div>
    );
  }
  if (room === "service" && api.can("console.state")) return <ServiceState api={api} />;
  if (room === "log" && api.can("console.log")) return <ServiceLog api={api} />;
  if (room === "mails" && api.can("console.mails")) return <ServiceMails api={api} />;
  return <Empty title="Nothing here">It doesn't exist, or you may not see it.</Empty>;
}

mountPage(Console);
