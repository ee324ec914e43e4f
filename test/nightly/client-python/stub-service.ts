import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../support/servers/listen.ts';
import { stopAfterTest } from '../../support/use.ts';

/** An answer, or the end of the connection without one. */
export type StubAnswer = { status: number; headers?: Record<string, string>; body?: unknown } | 'cut';

export interface StubRequest {
  method: string;
  url: string;
  key: string | undefined;
  authorization: string | undefined;
  body: string;
}

/** A server that gives these answers in order, for faults that a healthy service does not have. */
export async function startStubService(...answers: StubAnswer[]) {
  const requests: StubRequest[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request;
      const key = headers['idempotency-key'] as string | undefined;
      requests.push({ method, url, key, authorization: headers.authorization, body });
      const answer = answers.shift() ?? { status: 500 };
      if (answer === 'cut') return void request.socket.destroy();
      response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
      return void response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
    });
  });
  const { url } = stopAfterTest(await listen(server));
  return { url, requests };
}

/** A refusal as the service writes it. */
export const refuse = (status: number, code: string, headers: Record<string, string> = {}): StubAnswer => ({
  status,
  headers,
  body: { error: { code, message: 'No.', request_id: 'request-1' } },
});

/** A page of events at the positions 1, 2, 3 … of a feed. */
export const page = (
  types: readonly string[],
  rest: Record<string, unknown> = {},
  data: Record<string, unknown> = {},
): StubAnswer => ({
  status: 200,
  body: {
    events: types.map((type, index) => ({ type, id: `evt_${index + 1}`, cursor: `c${index + 1}`, data })),
    cursor: `c${types.length}`,
    complete: true,
    ...rest,
  },
});
