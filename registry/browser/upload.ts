// The upload page: a file goes up in parts, and goes on where it was after the page was reloaded.
/// <reference lib="dom" />
import { files, upload, type KeptSession } from "../../generated/client/index.js";
import { element, say, sayError, signIn, valueOf } from "./page.js";

const partBytes = 5 * 1024 * 1024;

async function send(file: File): Promise<void> {
  const client = await signIn(valueOf("login"), valueOf("password"));
  const name = `upload:${[file.name, file.size, file.lastModified].join(":")}`;
  const kept = localStorage.getItem(name);
  const session = kept === null ? null : (JSON.parse(kept) as KeptSession);
  const count = Math.max(1, Math.ceil(file.size / partBytes));
  const told = session === null ? "" : "Resumed: ";
  const head = await upload(client, files, file, {
    key: session?.key ?? `demo/${crypto.randomUUID()}/${file.name}`,
    partBytes,
    ...(session === null ? {} : { session }),
    onSession: (begun) => localStorage.setItem(name, JSON.stringify(begun)),
    onProgress(sent, total) {
      element<HTMLProgressElement>("progress").value = total === 0 ? 1 : sent / total;
      say(`${told}${Math.ceil(sent / partBytes)} of ${count} parts`);
    },
  });
  localStorage.removeItem(name);
  say(`Done: ${head.key}, ${head.size} bytes`);
}

const choose = (file: File | null | undefined): void => {
  if (file !== null && file !== undefined)
    send(file).catch((error: unknown) => {
      sayError(error instanceof Error ? new Error(`Failed: ${error.message}`) : error);
    });
};
const drop = element("drop");
element<HTMLInputElement>("file").addEventListener("change", ({ currentTarget }) =>
  choose((currentTarget as HTMLInputElement).files?.[0]),
);
drop.addEventListener("dragover", (event) => event.preventDefault());
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  choose(event.dataTransfer?.files[0]);
});
