import type { Actor } from '../../../domain/auth/actor.ts';
import type { McpLogger } from '../parts.ts';
import { McpHttpError } from '../protocol/errors.ts';
import type { Sessions } from './sessions.ts';
import type { SseStream } from '../notifications/sse.ts';

interface OpenSseStream {
  sse: SseStream;
  /** Undefined for a stream that belongs to no session. */
  session_id: string | undefined;
  actor: Actor;
}

export interface StreamSet {
  /** Keeps a stream until it closes. */
  add(stream: OpenSseStream): void;
  endSession(id: string): void;
  /** Ends all streams and stops looking. */
  close(): void;
}

/**
 * The open streams of this process. From time to time it looks whether their sessions still stand, one after the other: a
 * session may have been ended at another process.
 */
export function createStreamSet(sessions: Sessions, logger: McpLogger, interval_ms: number): StreamSet {
  const streams = new Set<OpenSseStream>();
  let looking = false;
  const timer = setInterval(() => void look(), interval_ms).unref();

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      for (const { sse, session_id, actor } of streams) {
        if (session_id !== undefined && !(await stands(session_id, actor))) sse.end();
      }
    } catch (error) {
      // The database is away; the streams stay until it says otherwise.
      logger.debug({ err: error }, 'the sessions of open streams could not be looked up');
    } finally {
      looking = false;
    }
  }

  async function stands(id: string, actor: Actor): Promise<boolean> {
    try {
      await sessions.check(id, actor);
      return true;
    } catch (error) {
      if (error instanceof McpHttpError) return false;
      throw error;
    }
  }

  return {
    add(stream) {
      streams.add(stream);
      stream.sse.body.once('close', () => streams.delete(stream));
    },
    endSession(id) {
      for (const { sse, session_id } of streams) if (session_id === id) sse.end();
    },
    close() {
      clearInterval(timer);
      for (const { sse } of streams) sse.end();
    },
  };
}
