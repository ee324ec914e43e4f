import { backOffMs, waitOrAbort } from '../calls/back-off.ts';
import type { Call } from '../calls/nouns.ts';
import { AgentMessagingError, ConnectionError, createConnectionError } from '../errors.ts';
import type { TokenSource } from '../sign-in/types.ts';
import type { EventBuffer } from './buffer.ts';
import { isTransient, maxWaitSeconds, readPage } from './poll.ts';
import type { Position } from './position.ts';
import { readSocket } from './read-socket.ts';
import type { SocketConstructor } from './socket.ts';
import type { ConnectionState, EventOptions } from './types.ts';

/** What the events of a client need. */
export interface EventAccess {
  call: Call;
  getToken: TokenSource;
  /** Of a client that has no token. */
  getTicket?: TokenSource;
  /** The address of the WebSocket. */
  socketUrl: string;
  /** Undefined: this platform has none. */
  loadSocket: () => Promise<SocketConstructor | undefined>;
}

/** A token that the service has closed a connection for. */
const tokenEnded = 1008;

/** Reads a feed into a buffer over changing connections. */
export class FeedReader {
  readonly #access: EventAccess;
  readonly #options: EventOptions;
  readonly #position: Position;
  readonly #buffer: EventBuffer;
  readonly #setState: (state: ConnectionState) => void;
  /** Until then, `auto` does not try a WebSocket. */
  #pollUntil = 0;
  #refused: string | undefined;

  constructor(
    access: EventAccess,
    options: EventOptions,
    position: Position,
    buffer: EventBuffer,
    setState: (state: ConnectionState) => void,
  ) {
    this.#access = access;
    this.#options = options;
    this.#position = position;
    this.#buffer = buffer;
    this.#setState = setState;
  }

  /** Reads until the signal is aborted. Throws what no later attempt can repair. */
  async run(signal: AbortSignal): Promise<void> {
    const Constructor = this.#options.transport === 'poll' ? undefined : await this.#access.loadSocket();
    if (!Constructor && (this.#options.transport === 'websocket' || this.#access.getTicket)) {
      throw new ConnectionError({
        code: 'NO_WEBSOCKET',
        message: 'There is no WebSocket here; on Node, install ws.',
      });
    }
    for (let failures = 0; !signal.aborted;) {
      await this.#buffer.waitForRoom();
      try {
        const isOpened = await this.#readOnce(Constructor, signal);
        failures = isOpened ? 0 : failures + 1;
        if (isOpened || signal.aborted) continue;
        await this.#pause(failures, undefined, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!isTransient(error)) throw error;
        failures += 1;
        await this.#pause(failures, error, signal);
      }
    }
  }

  /** One connection or one page. Returns whether the service had accepted it. */
  async #readOnce(Constructor: SocketConstructor | undefined, signal: AbortSignal): Promise<boolean> {
    const { getTicket } = this.#access;
    // The first page finds the position to start at, and shows errors that a WebSocket hides.
    const hasStarted = this.#position.cursor !== undefined || getTicket !== undefined;
    if (Constructor && hasStarted && Date.now() >= this.#pollUntil) {
      const { wasReady, code } = await this.#readSocket(Constructor, signal);
      if (signal.aborted) return true;
      if (wasReady && code !== tokenEnded) {
        // Many clients lose their connections together, when a server ends.
        await this.#pause(0, undefined, signal);
        return true;
      }
      if (getTicket) return false;
      if (!wasReady && this.#options.transport !== 'websocket') {
        this.#pollUntil = Date.now() + (this.#options.webSocketRetryMs ?? 30_000) * (0.5 + Math.random());
      }
      await this.#readPage(0, signal);
      if (this.#options.transport === 'websocket') return wasReady;
      if (!wasReady) this.#setState({ status: 'open', transport: 'poll' });
      return true;
    }
    const leftMs = Constructor ? Math.max(0, this.#pollUntil - Date.now()) : Infinity;
    await this.#readPage(hasStarted ? Math.min(maxWaitSeconds, Math.ceil(leftMs / 1_000)) : 0, signal);
    if (leftMs > 0) this.#setState({ status: 'open', transport: 'poll' });
    return true;
  }

  #readPage(waitSeconds: number, signal: AbortSignal): Promise<void> {
    const { start, watch } = this.#options;
    return readPage(this.#access.call, this.#position, { start, watch, waitSeconds, signal });
  }

  async #readSocket(Constructor: SocketConstructor, signal: AbortSignal) {
    const { getTicket, getToken, socketUrl } = this.#access;
    this.#setState({ status: 'connecting' });
    const url = new URL(socketUrl);
    const cursor = this.#position.cursor ?? this.#options.start;
    if (cursor !== undefined) url.searchParams.set('cursor', cursor);
    if (this.#options.watch) url.searchParams.set('watch', this.#options.watch);
    const secret = await getSecret(() => (getTicket ?? getToken)(this.#refused));
    const token = getTicket ? undefined : secret;
    if (getTicket) url.searchParams.set('ticket', secret);
    const end = await readSocket(
      {
        Constructor,
        url: url.href,
        protocols: token === undefined ? [] : ['bearer', token],
        pingMs: this.#options.pingMs ?? 25_000,
        signal,
        onReady: () => this.#setState({ status: 'open', transport: 'websocket' }),
      },
      this.#position,
      this.#buffer,
    );
    this.#refused = end.code === tokenEnded ? token : undefined;
    return end;
  }

  async #pause(failures: number, error: unknown, signal: AbortSignal): Promise<void> {
    this.#setState({
      status: failures > 0 ? 'waiting' : 'connecting',
      ...(error !== undefined && { error }),
    });
    const retryAfterMs = error instanceof AgentMessagingError ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(retryAfterMs, backOffMs(failures, 100));
    await waitOrAbort(delayMs, signal);
  }
}

/** A token that cannot be fetched now can be fetched later. */
async function getSecret(get: () => string | Promise<string>): Promise<string> {
  try {
    return await get();
  } catch (error) {
    throw error instanceof TypeError ? createConnectionError(error) : error;
  }
}
