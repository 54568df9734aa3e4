// What the console lists besides documents and objects: each list is one value.
import type { Json } from "./api.js";

/** Something that can be done with an item of a list. */
export interface ItemAction {
  readonly operation: string;
  readonly label: string;
  readonly done: string;
  readonly input: (item: Json, parent: string) => Json;
  /** What the user is asked before it is done; undefined to ask nothing. */
  readonly question?: (item: Json) => string | undefined;
  /** Whether it makes sense for this item. */
  readonly when?: (item: Json) => boolean;
}

export interface ListKind {
  /** Its place in the address. */
  readonly name: string;
  readonly title: string;
  /** The operation that lists it, and the member of its answer that has the items. */
  readonly operation: string;
  readonly items: string;
  /** The member of an item by which it is known. */
  readonly id: string;
  /** The input for a list within another, whose item is the parent. */
  readonly within?: (parent: string) => Json;
  /** A parameter that the user fills in. */
  readonly asks?: { readonly parameter: string; readonly label: string };
  /** The parameter that continues a page, and its value, from the last item. */
  readonly continues?: { readonly parameter: string; readonly from: string };
  /** The operation that adds one. */
  readonly create?: string;
  /** The member of what it takes that names the parent. */
  readonly parentMember?: string;
  readonly actions: readonly ItemAction[];
  /** What a list's members don't say of themselves. */
  readonly hint?: string;
  /** Whether an item stands before the others. */
  readonly isFirst?: (item: Json) => boolean;
  /** Whether it is of whoever is signed in. */
  readonly isOwn?: boolean;
  /** The list within each item. */
  readonly inner?: ListKind;
  /** The member that names an item to people, above the list within it. */
  readonly label?: string;
}

const isCurrent = (item: Json): boolean => item["is_current"] === true;

const byId = (item: Json): Json => ({ id: item["id"] });

const deliveries: ListKind = {
  name: "deliveries",
  title: "Deliveries",
  operation: "webhooks.deliveries",
  items: "deliveries",
  id: "id",
  within: (id) => ({ id }),
  continues: { parameter: "before", from: "id" },
  hint: "A failed delivery was given up after its last attempt. It is sent again only if you do so.",
  actions: [
    {
      operation: "webhooks.redeliver",
      label: "Send again",
      done: "It is on its way again: its state says what comes of it.",
      input: ({ id }, parent) => ({ id: parent, delivery: id }),
    },
  ],
};

const members: ListKind = {
  name: "members",
  title: "Members",
  operation: "tenant_admin.list_members",
  items: "members",
  id: "principal_id",
  within: (id) => ({ id }),
  create: "tenant_admin.invite_member",
  parentMember: "tenant_id",
  actions: [
    {
      operation: "tenant_admin.remove_member",
      label: "Remove",
      done: "Removed.",
      question: () => "Remove this member from the tenant?",
      input: (item, parent) => ({ tenant_id: parent, principal_id: item["principal_id"] }),
    },
  ],
};

const grants: ListKind = {
  name: "grants",
  title: "Permissions",
  operation: "principals.list_permissions",
  items: "permissions",
  id: "permission",
  within: (id) => ({ principal_id: id }),
  create: "principals.grant_permission",
  parentMember: "principal_id",
  actions: [
    {
      operation: "principals.revoke_permission",
      label: "Revoke",
      done: "Revoked.",
      input: ({ permission }, parent) => ({ principal_id: parent, permission }),
    },
  ],
};

/** The lists, in the order in which the console shows them. */
export const lists: readonly ListKind[] = [
  {
    name: "sessions",
    title: "Your sessions",
    operation: "authn.list_sessions",
    items: "sessions",
    id: "id",
    isFirst: isCurrent,
    hint: "The session that you use is the first. Changing the tenant begins a new one.",
    actions: [
      {
        operation: "authn.revoke_session",
        label: "Revoke",
        done: "The session has ended.",
        question: (item) =>
          isCurrent(item) ? "This is the session that you use. End it and sign out?" : undefined,
        input: byId,
      },
    ],
  },
  {
    name: "keys",
    title: "Your API keys",
    operation: "api_keys.list",
    items: "keys",
    id: "key_id",
    create: "api_keys.issue",
    actions: [
      {
        operation: "api_keys.revoke",
        label: "Revoke",
        done: "The key has ended.",
        question: () => "Revoke this key? Whatever uses it will be refused.",
        input: (item) => ({ id: item["key_id"] }),
      },
    ],
  },
  {
    name: "principals",
    title: "Principals",
    operation: "principals.find_principals",
    items: "principals",
    id: "principal_id",
    asks: { parameter: "login", label: "Login" },
    create: "principals.create_principal",
    inner: grants,
    actions: [
      {
        operation: "authn.deactivate_principal",
        label: "Deactivate",
        done: "Deactivated: their sessions and keys have ended.",
        question: () => "Deactivate this principal, and end their sessions and keys?",
        input: (item) => ({ principal_id: item["principal_id"] }),
        when: (item) => item["is_active"] === true,
      },
      {
        operation: "authn.reactivate_principal",
        label: "Reactivate",
        done: "Active again.",
        input: (item) => ({ principal_id: item["principal_id"] }),
        when: (item) => item["is_active"] === false,
      },
    ],
  },
  {
    name: "tenants",
    title: "Tenants",
    operation: "tenant_admin.list_tenants",
    items: "tenants",
    id: "tenant_id",
    continues: { parameter: "after", from: "tenant_id" },
    create: "tenant_admin.create_tenant",
    inner: members,
    label: "tenant_key",
    actions: [
      {
        operation: "tenant_admin.deactivate_tenant",
        label: "Deactivate",
        done: "Deactivated.",
        question: () => "Deactivate this tenant? Nobody can work in it until it is reactivated.",
        input: (item) => ({ id: item["tenant_id"] }),
        when: (item) => item["is_active"] === true,
      },
      {
        operation: "tenant_admin.reactivate_tenant",
        label: "Reactivate",
        done: "Active again.",
        input: (item) => ({ id: item["tenant_id"] }),
        when: (item) => item["is_active"] === false,
      },
    ],
  },
  {
    name: "webhooks",
    title: "Webhooks",
    operation: "webhooks.list",
    items: "webhooks",
    id: "id",
    create: "webhooks.create",
    inner: deliveries,
    label: "url",
    actions: [
      {
        operation: "webhooks.test",
        label: "Send a test",
        done: "A test is on its way.",
        input: byId,
      },
      {
        operation: "webhooks.delete",
        label: "Delete",
        done: "Deleted.",
        question: () => "Delete this webhook and its deliveries?",
        input: byId,
      },
    ],
  },
  {
    name: "devices",
    isOwn: true,
    title: "Your devices",
    operation: "realtime.devices",
    items: "devices",
    id: "device_id",
    hint: "Devices that have acknowledged signals of your mailbox. Connections without a device share a line.",
    actions: [],
  },
  {
    name: "mailbox",
    isOwn: true,
    title: "Your mailbox",
    operation: "realtime.history",
    items: "signals",
    id: "id",
    continues: { parameter: "after", from: "id" },
    actions: [],
  },
];
