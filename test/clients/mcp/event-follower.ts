import { setTimeout as pause } from 'node:timers/promises';
import { type EventFrame, pollEvents } from './events.ts';
import { buildStatelessRequest } from './stateless-request.ts';

export interface FollowerOptions {
  /** Where the service is, read before each request: processes come and go. */
  url(): string;
  token: string;
  mode: 'poll' | 'stream';
  name: string;
  /** The position from which it follows. */
  cursor: string;
  /** How often, for each event, the program dies before its position is stored, or loses its connection. */
  failureRate: number;
}

class Death extends Error {}

/** A program that follows a subscription. It dies and loses its connection at random, and continues at its stored position. */
export function startEventFollower({ url, token, mode, name, failureRate, ...options }: FollowerOptions) {
  let { cursor } = options;
  const stop = new AbortController();
  const report = {
    /** Ids of all handled events, in order, also of repeated ones. */
    handled: [] as string[],
    /** How often the service said that events may be missing. */
    truncated: 0,
    deaths: 0,
    /** Requests that failed, because a process was gone. */
    refused: 0,
  };

  function handle(id: string): void {
    report.handled.push(id);
    if (Math.random() < failureRate) throw new Death('the program died');
  }

  async function readPage(): Promise<void> {
    const page = await pollEvents(url(), token, { name, cursor, maxEvents: 20 });
    for (const { eventId } of page.events) handle(eventId);
    if (page.truncated) report.truncated += 1;
    ({ cursor } = page);
    if (!page.hasMore) await pause(5);
  }

  async function readStream(): Promise<void> {
    const connection = new AbortController();
    const end = () => connection.abort();
    stop.signal.addEventListener('abort', end, { once: true });
    const { headers, message } = buildStatelessRequest({ method: 'events/stream', params: { name, cursor } });
    try {
      const response = await fetch(`${url()}/mcp`, {
        method: 'POST',
        headers: { ...headers, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(message),
        signal: connection.signal,
      });
      if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
      for await (const { method, params } of readFrames(response.body)) {
        if (method === 'notifications/events/event') handle(String(params?.eventId));
        if (params?.truncated === true) report.truncated += 1;
        if (params?.cursor !== undefined) ({ cursor } = params);
      }
    } finally {
      stop.signal.removeEventListener('abort', end);
      connection.abort();
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await (mode === 'poll' ? readPage() : readStream());
      } catch (error) {
        if (error instanceof Death) report.deaths += 1;
        else {
          report.refused += 1;
          await pause(5);
        }
      }
    }
  }

  const done = run();
  return {
    report,
    /** The different events. */
    seen: () => new Set(report.handled),
    async stop() {
      stop.abort();
      await done;
      return report;
    },
  };
}

async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const line = block.split('\n').find((one) => one.startsWith('data: '));
      if (line !== undefined) yield JSON.parse(line.slice(6)) as EventFrame;
    }
  }
}
