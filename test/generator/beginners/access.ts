// First mistakes in policies, identity and scopes.
import { mistake, type Mistake } from "./mistake.js";

const policy = (steps: string): string => `policies: {editor: ${steps}}`;
const service = (more: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1\nservice: {name: shop, title: Shop, version: 1.0.0}\n${more}`,
});

export const inAccess: readonly Mistake[] = [
  mistake("a step in place of a list", policy("«principal»"), {
    code: "OPW011",
    says: "must be a list",
    hint: "[principal]",
  }),
  mistake("a step that is called otherwise", policy("[«authenticated»]"), {
    code: "OPW051",
    says: "authenticated",
    hint: "did you mean principal?",
  }),
  mistake("British authorize", policy('[principal, {«authorise»: "{resource}.write"}]'), {
    code: "OPW010",
    says: '"authorise"',
    hint: "did you mean authorize?",
  }),
  mistake("a role", policy("[principal, {«role»: admin}]"), {
    code: "OPW010",
    says: '"role"',
    hint: "{authorize: platform.admin}",
  }),
  mistake("a permission with a colon", policy("[principal, {authorize: «tasks:write»}]"), {
    code: "OPW013",
    says: '"tasks:write"',
    hint: "did you mean tasks.write?",
  }),
  mistake("a permission of one word", policy("[principal, {authorize: «write»}]"), {
    code: "OPW013",
    says: '"write"',
    hint: "did you mean {resource}.write?",
  }),
  mistake("a resource that is misspelt", policy('[principal, {authorize: «"{resouce}.write"»}]'), {
    code: "OPW013",
    says: '"{resouce}.write"',
    hint: "did you mean {resource}.write?",
  }),
  mistake("a rate in words", policy("[{rate_limit: «100/min»}]"), {
    code: "OPW013",
    says: '"100/min"',
    hint: "did you mean 100/1m?",
  }),
  mistake("a rate without a time", policy("[{rate_limit: «100»}]"), {
    code: "OPW011",
    says: "a rate",
    hint: "100/1m",
  }),
  mistake("a scope that is called otherwise", policy("[principal, {scope: «own»}]"), {
    code: "OPW051",
    says: "no scope is called own",
    hint: "did you mean own_rows?",
  }),
  mistake(
    "a principal without identity",
    {
      ...service("policies: {member: [«principal»]}"),
      "registry/shop.yaml":
        "registry: 1\ndocuments: {tasks: {type: {title: string}, guard: member}}",
    },
    { code: "OPW057", says: "identity", hint: "identity: {methods: [token, password]}" },
  ),
  mistake(
    "a way of signing in that there is not",
    {
      ...service("identity: {methods: [«jwt»]}\npolicies: {member: [principal]}"),
      "registry/shop.yaml":
        "registry: 1\ndocuments: {tasks: {type: {title: string}, guard: member}}",
    },
    { code: "OPW013", says: "token, password, api_key", hint: "did you mean token?" },
  ),
  mistake("identity switched on", service("identity: «true»\npolicies: {member: [principal]}"), {
    code: "OPW011",
    says: "must be a map",
    hint: "did you mean {}?",
  }),
  mistake(
    "a scope on what has no rows",
    `
    policies: {own: [principal, {scope: own_rows}]}
    documents: {tasks: {type: {title: string}, guard: own}}
    operations: {finder.find: {get: /find, run: registry/handlers/tasks.ts#find, guard: «own»}}`,
    { code: "OPW056", says: "finder", hint: "tasks.find" },
  ),
  mistake("auth for identity", service("policies: {open: []}\n«auth»: {methods: [token]}"), {
    code: "OPW010",
    says: '"auth"',
    hint: "did you mean identity?",
  }),
];
