/** The part of a WebSocket that is used: that of browsers, of Node, and of `ws`. */
export interface Socket {
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: SocketEvent) => void,
  ): void;
  send(text: string): void;
  close(): void;
  /** Of `ws`: ends the connection at once. */
  terminate?(): void;
  /** Of `ws`: stops and continues reading. */
  pause?(): void;
  resume?(): void;
}

/** Text of a message, or the code of a close frame. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
}

export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

/** What a socket reports. */
export interface SocketHandlers {
  onText(text: string): void;
  /** Called once. `code` is that of the close frame, or 1006. */
  onEnd(code: number): void;
}

/** An open socket, which is closed when nothing comes for too long. */
export interface WatchedSocket {
  /** Stops reading. False: this kind of socket cannot, and must be closed instead. */
  pause(): boolean;
  resume(): void;
  close(): void;
}

/**
 * Opens a socket. After a silence of `pingMs` it sends a ping; without any frame in the same time again, the connection is dead.
 * @param openMs how long opening may take
 */
export function openSocket(
  Constructor: SocketConstructor,
  { url, protocols, pingMs, openMs }: { url: string; protocols: string[]; pingMs: number; openMs: number },
  handlers: SocketHandlers,
): WatchedSocket {
  const socket = new Constructor(url, protocols);
  let isOver = false;
  let isPinged = false;
  let isPaused = false;
  let timer = setTimeout(() => end(1006), openMs);

  function end(code: number): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (socket.terminate) socket.terminate();
    else socket.close();
    handlers.onEnd(code);
  }

  function watch(): void {
    clearTimeout(timer);
    if (isOver || isPaused) return;
    timer = setTimeout(() => {
      if (isPinged) {
        end(1006);
        return;
      }
      isPinged = true;
      socket.send('{"type":"ping"}');
      watch();
    }, pingMs);
  }

  socket.addEventListener('open', watch);
  socket.addEventListener('message', ({ data }) => {
    if (isOver) return;
    isPinged = false;
    watch();
    handlers.onText(String(data));
  });
  socket.addEventListener('error', () => end(1006));
  socket.addEventListener('close', ({ code }) => end(code ?? 1006));
  return {
    pause() {
      if (!socket.pause || !socket.resume) return false;
      isPaused = true;
      clearTimeout(timer);
      socket.pause();
      return true;
    },
    resume() {
      isPaused = false;
      isPinged = false;
      socket.resume?.();
      watch();
    },
    close: () => end(1000),
  };
}
