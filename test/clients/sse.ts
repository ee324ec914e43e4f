import { checkReceived } from '../support/asyncapi/check-received.ts';

export interface SseEvent {
  id: string;
  data: string;
}

export interface SseClient {
  status: number;
  headers: Headers;
  /** Everything that came so far, comments too. */
  raw(): string;
  /**
   * Waits until that many events with data have arrived; rejects after 10 s, and when one of them is not as the service's own AsyncAPI
   * document describes it.
   */
  events(count: number): Promise<SseEvent[]>;
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  close(): void;
}

/** A reader of an event stream that keeps everything, for tests; a POST when there is a body. Rejects when the answer is not 200. */
export async function openSseStream(
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<SseClient> {
  const abort = new AbortController();
  const response = await fetch(url, {
    headers,
    signal: abort.signal,
    ...(body !== undefined && { method: 'POST', body }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  let text = '';
  let taken = 0;
  let over = false;
  const come: SseEvent[] = [];
  const ended = read(response.body, (chunk) => {
    text += chunk;
  }).finally(() => {
    over = true;
  });

  function takeUp(): void {
    const end = text.lastIndexOf('\n\n');
    if (end < taken) return;
    const fresh = parse(text.slice(taken, end));
    taken = end + 2;
    // The stream of notifications is described; the stream of one answer carries what MCP itself describes.
    if (body === undefined)
      for (const { data } of fresh) checkReceived('mcp_notifications', JSON.parse(data));
    come.push(...fresh);
  }

  async function events(count: number): Promise<SseEvent[]> {
    const deadline = Date.now() + 50_000;
    for (;;) {
      takeUp();
      if (come.length >= count) return [...come];
      if (over || Date.now() > deadline) throw new Error(`only ${come.length} of ${count} events:\n${text}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    raw: () => text,
    events,
    ended,
    close: () => abort.abort(),
  };
}

async function read(body: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) take(decoder.decode(chunk, { stream: true }));
  } catch (error) {
    // The connection broke, or the test closed it: in both cases nothing more comes.
    take(`\n: ${String(error)}\n`);
  }
}

function parse(text: string): SseEvent[] {
  return text
    .split('\n\n')
    .map((block) => ({ id: field(block, 'id'), data: field(block, 'data') }))
    .filter((event) => event.data !== '');
}

function field(block: string, name: string): string {
  const line = block.split('\n').find((one) => one.startsWith(`${name}: `));
  return line?.slice(name.length + 2) ?? '';
}
