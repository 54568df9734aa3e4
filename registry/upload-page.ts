// The demo's upload page: drag a file, see it go up in parts, reload, drop it again and go on where it was.

/** The page. Its script is a file of its own, so that no inline script has to be allowed. */
export const uploadPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Upload in parts</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem; }
  #drop { border: 2px dashed #888; border-radius: 8px; padding: 3rem; text-align: center; }
  #drop.over { border-color: #06c; background: #eef5ff; }
  progress { width: 100%; }
</style>
<h1>Upload in parts</h1>
<p>Drop a file. Reload the page while it goes up and drop the file again: it goes on where it was.</p>
<p><label>As <input id="login" value="ada@example.test"></label>
<label>with <input id="password" type="password" value="correct horse battery staple"></label></p>
<label id="drop">Drop a file here, or choose one: <input type="file" id="file"></label>
<p><progress id="progress" value="0" max="1"></progress></p>
<p id="status" role="status">Ready</p>
<script type="module" src="/demo/upload.js"></script>
</html>
`;

/** The script: nothing but fetch, and the operations of \`files\`. */
export const uploadScript = `
const partBytes = 5 * 1024 * 1024;
const parallel = 3;
const element = (id) => document.getElementById(id);
const say = (text) => { element("status").textContent = text; };

async function call(path, body, token) {
  const response = await fetch(path, {
    method: "POST",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: "Bearer " + token }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = response.status === 204 ? undefined : await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.detail), { code: answer.code });
  return answer;
}

/** Signs in, into the first of the caller's tenants. */
async function signIn() {
  const given = { login: element("login").value, password: element("password").value };
  const first = await call("/auth/login", given);
  const listed = await fetch("/tenants", { headers: { authorization: "Bearer " + first.access_token } });
  const [tenant] = (await listed.json()).tenants;
  const scoped = await call("/tenants/" + tenant.tenant_id + "/activate", undefined, first.access_token);
  return scoped.access_token;
}

/** The session of this very file that an earlier visit began and its parts, or a new one. */
async function sessionOf(file, token) {
  const name = "upload:" + [file.name, file.size, file.lastModified].join(":");
  const kept = localStorage.getItem(name);
  if (kept !== null) {
    const session = JSON.parse(kept);
    try {
      const { parts } = await call("/files/uploads/parts", { session }, token);
      return { name, session, parts };
    } catch (error) {
      // It has ended, or was given up.
      if (error.code !== "core.not_found" && error.code !== "upload_session_invalid") throw error;
    }
  }
  const key = "demo/" + crypto.randomUUID() + "/" + file.name;
  const wanted = file.type === "" ? { key } : { key, content_type: file.type };
  const session = await call("/files/uploads", wanted, token);
  localStorage.setItem(name, JSON.stringify(session));
  return { name, session, parts: [] };
}

async function upload(file) {
  const token = await signIn();
  const { name, session, parts } = await sessionOf(file, token);
  const count = Math.max(1, Math.ceil(file.size / partBytes));
  const done = new Map(parts.map((part) => [part.part_number, part]));
  const show = () => {
    element("progress").value = done.size / count;
    say((parts.length > 0 ? "Resumed: " : "") + done.size + " of " + count + " parts");
  };
  show();
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !done.has(number));
  const work = async () => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const asked = { session, part_number: number, expires_in: "PT15M" };
      const signed = await call("/files/uploads/parts/url", asked, token);
      const body = file.slice((number - 1) * partBytes, number * partBytes);
      const put = await fetch(signed.url, { method: signed.method, headers: signed.headers, body });
      if (!put.ok) throw new Error("part " + number + ": " + put.status);
      done.set(number, { part_number: number, etag: put.headers.get("etag") });
      show();
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const listed = [...done.values()].map(({ part_number, etag }) => ({ part_number, etag }));
  const head = await call("/files/uploads/complete", { session, parts: listed }, token);
  localStorage.removeItem(name);
  say("Done: " + head.key + ", " + head.size + " bytes");
}

const start = (file) => {
  if (file) upload(file).catch((error) => say("Failed: " + error.message));
};
element("file").addEventListener("change", (event) => start(event.target.files[0]));
const drop = element("drop");
for (const kind of ["dragover", "dragleave", "drop"])
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop") start(event.dataTransfer.files[0]);
  });
`;
