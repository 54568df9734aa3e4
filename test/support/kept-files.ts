// A project that keeps documents and files, for tests that take them away and bring them back.

export const keptFiles = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.2.3}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
storage:
  files: {guard: open, mount: {at: /files, style: rest}}
`,
};
