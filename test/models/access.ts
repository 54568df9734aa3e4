// What may be done with each document of a model, and by whom: the same steps for all of them.
import { expect } from "vitest";
import type { Somebody } from "../support/people.js";
import type { Answer } from "../support/service.js";

/** Status of an answer, and its code where it has failed. */
export const failed = ({ status, headers }: Answer) => [
  status,
  headers.get("x-error-code") ?? undefined,
];
export const forbidden = [403, "core.authorization"];
export const missing = [404, "core.not_found"];

/** One document: who writes it, and who may not. */
export interface Access {
  readonly path: string;
  readonly body: object;
  readonly patch: object;
  readonly writer: Somebody;
  /** Somebody who may not write it. */
  readonly other: Somebody;
  /** What they get to hear if they try to create one; 201 where they may. */
  readonly refusal?: readonly unknown[];
  /** What they get to hear if they change that of the writer. */
  readonly unchanged?: readonly unknown[];
  /** What they get to hear if they remove it. */
  readonly unremoved?: readonly unknown[];
  /** What they get to hear if they read it. */
  readonly unread?: readonly unknown[];
  /** Who removes it, if the writer may not. */
  readonly remover?: Somebody;
}

/** Makes, reads, lists, changes and removes each document, and tries the same as somebody else. */
export async function checkAccess(cases: readonly Access[]): Promise<void> {
  for (const { path, body, patch, writer, other, ...more } of cases) {
    const { refusal = forbidden, unchanged = refusal, unread = [200, undefined] } = more;
    const { unremoved = unchanged, remover = writer } = more;
    const said = async (answer: Promise<Answer>) => [path, ...failed(await answer)];
    expect(await said(other.call("POST", `/${path}`, body))).toEqual([path, ...refusal]);
    const id = await writer.make(path, body);
    const read = await writer.call("GET", `/${path}/${id}`);
    expect([read.status, read.body]).toMatchObject([200, { id, rev: 1, ...body }]);
    const query = { filters: { $values: { id } } };
    const listed = await writer.call("POST", `/${path}/list`, query);
    expect([path, listed.body.count]).toEqual([path, 1]);
    expect(await said(other.call("GET", `/${path}/${id}`))).toEqual([path, ...unread]);
    const hidden = (await other.call("POST", `/${path}/list`, query)).body.count ?? 0;
    expect([path, hidden]).toEqual([path, unread[0] === 200 ? 1 : 0]);
    const at = `/${path}/${id}?rev=1`;
    expect(await said(other.call("PATCH", at, patch))).toEqual([path, ...unchanged]);
    const blind = await said(writer.call("PATCH", `/${path}/${id}`, patch));
    expect(blind).toEqual([path, 428, "revision_required"]);
    const changed = await writer.call("PATCH", at, patch);
    expect([changed.status, changed.body.data]).toMatchObject([200, { rev: 2, ...patch }]);
    expect(await said(other.call("DELETE", `/${path}/${id}`))).toEqual([path, ...unremoved]);
    if (remover !== writer)
      expect(await said(writer.call("DELETE", `/${path}/${id}`))).toEqual([path, ...forbidden]);
    expect((await remover.call("DELETE", `/${path}/${id}`)).status).toBe(204);
    expect(await said(writer.call("GET", `/${path}/${id}`))).toEqual([path, ...missing]);
  }
}
