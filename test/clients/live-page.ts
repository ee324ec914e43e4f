import type { FormBrowser } from './form-browser.ts';

export interface LiveEvent {
  id: string;
  /** `message` for content, `end` when the page is no longer live. */
  type: string;
  data: string;
}

export interface LivePage {
  status: number;
  /** Everything that arrived, in order. */
  events: readonly LiveEvent[];
  /** The content of the last update. */
  shown(): string;
  /** Resolves when the server closes the stream. */
  closed: Promise<void>;
  close(): void;
}

/** Reads the live part of a page as a browser's EventSource does (HTML standard, section 9.2.6). */
export async function openLivePage(
  serviceUrl: string,
  { cookies }: Pick<FormBrowser, 'cookies'>,
  address: string,
  headers: Record<string, string> = {},
): Promise<LivePage> {
  const abort = new AbortController();
  const cookie = [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
  const response = await fetch(new URL(address, serviceUrl), {
    headers: { Accept: 'text/event-stream', Cookie: cookie, ...headers },
    signal: abort.signal,
  });
  const events: LiveEvent[] = [];
  return {
    status: response.status,
    events,
    shown: () => events.findLast(({ type }) => type === 'message')?.data ?? '',
    closed: response.body === null ? Promise.resolve() : readEvents(response.body, events),
    close: () => abort.abort(),
  };
}

async function readEvents(body: ReadableStream<Uint8Array>, events: LiveEvent[]): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.flatMap(parseBlock));
    }
  } catch {
    // The connection broke, or the test closed it: in both cases nothing more comes.
  }
}

function parseBlock(block: string): LiveEvent[] {
  const lines = block.split(/\r\n|\r|\n/).map((line) => /^(\w+): ?(.*)$/.exec(line));
  const fieldsOf = (name: string) => lines.flatMap((line) => (line?.[1] === name ? [line[2] ?? ''] : []));
  const data = fieldsOf('data');
  if (data.length === 0) return [];
  return [{ id: fieldsOf('id')[0] ?? '', type: fieldsOf('event')[0] ?? 'message', data: data.join('\n') }];
}

/** The address of the live part of a page, with the cursor that the page has. Of a conversation it is not that of the list beside it. */
export function findLiveAddress(page: { text: string }): string {
  const [, address = '', cursor = ''] =
    [...page.text.matchAll(/data-live="([^"]*)" data-cursor="([^"]*)"/g)].at(-1) ?? [];
  if (address === '') throw new Error('the page is not live');
  const url = new URL(address.replaceAll('&amp;', '&'), 'http://page.invalid');
  url.searchParams.set('cursor', cursor);
  return url.pathname + url.search;
}
