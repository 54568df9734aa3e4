// Calls of a service by its URL alone, in somebody's name.

/** What a call was answered with. */
export interface OverAnswer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
  readonly body: any;
}

export interface Over {
  /** A body that is no form is sent as JSON; an answer of JSON is parsed. */
  call(method: string, path: string, body?: object): Promise<OverAnswer>;
}

/** `token` is "" for nobody. */
export function callerOver(url: string, token = ""): Over {
  return {
    async call(method, path, body) {
      const isJson = body !== undefined && !(body instanceof FormData);
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
          ...(isJson ? { "content-type": "application/json" } : {}),
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as FormData) }),
      });
      const text = await answer.text();
      const type = answer.headers.get("content-type") ?? "";
      const parsed: unknown = /json/.test(type) && text !== "" ? JSON.parse(text) : text;
      return { status: answer.status, headers: answer.headers, body: parsed };
    },
  };
}
