import { AgentMessagingError } from '../errors.ts';
import { EventBuffer } from './buffer.ts';
import { memoryCursor } from './cursors.ts';
import { type EventAccess, FeedReader } from './feed-reader.ts';
import { Position } from './position.ts';
import type { ClientEvent, ConnectionState, EventOptions, FeedEvent, GapPosition } from './types.ts';

/** The body of the loop did not call `accept` of a gap. The position is still before the gap. */
export class GapError extends AgentMessagingError {
  override name = 'GapError';
}

/** Events of the feed, for one `for await` loop. */
export interface EventStream extends AsyncIterable<ClientEvent> {
  readonly state: ConnectionState;
  /** Stores the position after an event at once, for example before `break`. */
  save(event: ClientEvent): Promise<void>;
  /** Ends the loop after its present event. */
  close(): void;
}

const defaultBufferSize = 500;

/**
 * Opens the events. The connection starts with the loop. The position is stored when the body of the loop has finished; a loop that ends by
 * `break`, `return` or an error gets its last event again.
 */
export function openEvents(access: EventAccess, options: EventOptions): EventStream {
  const store = options.cursor ?? memoryCursor();
  const stop = new AbortController();
  let state: ConnectionState = { status: 'connecting' };
  let isStarted = false;

  function setState(next: ConnectionState): void {
    const isSame = state.status === next.status && state.transport === next.transport;
    if (isSame && next.error === undefined) return;
    state = next;
    options.onState?.(next);
  }

  async function* iterate(): AsyncGenerator<ClientEvent, void> {
    const buffer = new EventBuffer(options.bufferSize ?? defaultBufferSize);
    const end = () => {
      buffer.clear();
      buffer.end();
    };
    stop.signal.addEventListener('abort', end, { once: true });
    if (stop.signal.aborted) end();
    const position = new Position(buffer, await store.load());
    const reader = new FeedReader(access, options, position, buffer, setState);
    void reader.run(stop.signal).then(
      () => buffer.end(),
      (error: unknown) => buffer.end(error),
    );
    try {
      for (let event = await buffer.take(); event; event = await buffer.take()) {
        if (isGap(event)) yield* yieldGap(event.cursor);
        else if (options.types?.includes(event.type) !== false) yield event;
        await store.save(event.cursor);
      }
    } finally {
      stop.abort();
      options.signal?.removeEventListener('abort', onAbort);
      setState({ status: 'closed' });
    }
  }

  const onAbort = () => stop.abort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) stop.abort();
  return {
    get state() {
      return state;
    },
    save: ({ cursor }) => store.save(cursor),
    close: () => stop.abort(),
    [Symbol.asyncIterator]() {
      if (isStarted) throw new TypeError('Events can be read by one loop only; call events() again.');
      isStarted = true;
      return iterate();
    },
  };
}

function isGap(event: FeedEvent | GapPosition): event is GapPosition {
  return event.type === 'gap';
}

function* yieldGap(cursor: string): Generator<ClientEvent, void> {
  let isAccepted = false;
  yield {
    type: 'gap',
    cursor,
    accept() {
      isAccepted = true;
    },
  };
  if (!isAccepted) {
    throw new GapError({
      code: 'GAP_NOT_ACCEPTED',
      message:
        'Events are missing before this position. Read your state again and call accept() of the gap event.',
    });
  }
}
