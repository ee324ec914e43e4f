import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkReceived } from '../../support/asyncapi/received.ts';

export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
}

export type AnswerPost = (response: ServerResponse, post: ReceivedPost) => void;

/**
 * Somebody's server, at a loopback address. It takes every post unless told otherwise. A post that is not as the service's own
 * AsyncAPI document describes it is answered with 500, and whoever looks at the posts then hears of it.
 */
export async function startReceiver() {
  const posts: ReceivedPost[] = [];
  const wrong: unknown[] = [];
  function received(): ReceivedPost[] {
    if (wrong.length > 0) throw wrong[0];
    return posts;
  }
  const taken = { answer: ((response) => void response.writeHead(204).end()) as AnswerPost };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const post = { path: request.url ?? '', headers: request.headers, text, json: JSON.parse(text) };
      posts.push(post);
      try {
        checkReceived('webhooks', post.json);
        taken.answer(response, post);
      } catch (error) {
        wrong.push(error);
        response.writeHead(500).end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get posts() {
      return received();
    },
    /** Of these at this path. */
    at: (path: string) => received().filter((post) => post.path === path),
    /** How it answers from now on. */
    answers(answer: AnswerPost) {
      taken.answer = answer;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export const status =
  (code: number, headers: Record<string, string> = {}): AnswerPost =>
  (response) =>
    void response.writeHead(code, headers).end();
