import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
}

export type AnswerPost = (response: ServerResponse, post: ReceivedPost) => void;

/** Somebody's server, at a loopback address. It takes every post unless told otherwise. */
export async function startReceiver() {
  const posts: ReceivedPost[] = [];
  const taken = { answer: ((response) => void response.writeHead(204).end()) as AnswerPost };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const post = { path: request.url ?? '', headers: request.headers, text, json: JSON.parse(text) };
      posts.push(post);
      taken.answer(response, post);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    posts,
    /** Of these at this path. */
    at: (path: string) => posts.filter((post) => post.path === path),
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
