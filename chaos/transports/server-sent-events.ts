/** Idle time after which a reader closes a stream, in milliseconds; shorter than the service's heartbeat interval. */
const timeoutMs = 5_000;

/** The fields of an event, by name. */
export type EventFields = ReadonlyMap<string, string>;

/** An event cannot be read. Everything else that ends a stream is the end of the connection. */
class UnreadableEvent extends Error {}

/**
 * Reads server-sent events until the stream ends, is idle for too long, or `signal` aborts.
 * @returns the answer if it is no stream, or the reason if an event cannot be read
 */
export async function readServerSentEvents(
  url: string,
  request: RequestInit,
  { signal, onEvent }: { signal: AbortSignal; onEvent: (fields: EventFields) => void },
): Promise<{ status: number; text: string } | { problem: string } | undefined> {
  const idle = new AbortController();
  const giveUp = () => idle.abort();
  let timer = setTimeout(giveUp, timeoutMs);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const response = await fetch(url, { ...request, signal: idle.signal });
    const { status, body } = response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!isStream || !body) return { status, text: await response.text() };
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs);
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) readBlock(block, onEvent);
      // `onEvent` can abort. If the response has ended by then, fetch of Node leaves the next read pending forever.
      if (idle.signal.aborted) break;
    }
  } catch (error) {
    if (error instanceof UnreadableEvent) return { problem: error.message };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
  return undefined;
}

function readBlock(block: string, onEvent: (fields: EventFields) => void): void {
  const fields = new Map(block.split('\n').map((line) => splitAt(line, line.indexOf(': '))));
  // Without data, it is a heartbeat or the start of the stream.
  if (!fields.get('data')) return;
  try {
    onEvent(fields);
  } catch (error) {
    throw new UnreadableEvent(`${String(error)} in ${block.slice(0, 200)}`);
  }
}

function splitAt(line: string, at: number): [name: string, value: string] {
  return [line.slice(0, Math.max(at, 0)), line.slice(at + 2)];
}
