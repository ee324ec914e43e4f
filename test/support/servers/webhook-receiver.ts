import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { checkReceived } from '../asyncapi/check-received.ts';
import { listen } from './listen.ts';

export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
}

export type PostHandler = (response: ServerResponse, post: ReceivedPost) => void;

/**
 * Somebody's server, at a loopback address. It takes every post unless told otherwise. A post that is not as the service's own
 * AsyncAPI document describes it is answered with 500, and reading the posts then throws. Notifications of people are not in that document.
 */
export async function startWebhookReceiver({ isDescribed = true } = {}) {
  const posts: ReceivedPost[] = [];
  const wrong: unknown[] = [];
  function received(): ReceivedPost[] {
    if (wrong.length > 0) throw wrong[0];
    return posts;
  }
  const taken = { answer: ((response) => void response.writeHead(204).end()) as PostHandler };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const post = { path: request.url ?? '', headers: request.headers, text, json: JSON.parse(text) };
      posts.push(post);
      try {
        if (isDescribed) checkReceived('webhooks', post.json);
        taken.answer(response, post);
      } catch (error) {
        wrong.push(error);
        response.writeHead(500).end();
      }
    });
  });
  return {
    ...(await listen(server)),
    get posts() {
      return received();
    },
    /** Of these at this path. */
    postsAt: (path: string) => received().filter((post) => post.path === path),
    /** How it answers from now on. */
    setHandler(answer: PostHandler) {
      taken.answer = answer;
    },
  };
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;

export const respondWith =
  (code: number, headers: Record<string, string> = {}): PostHandler =>
  (response) =>
    void response.writeHead(code, headers).end();
