import type { Actor } from '../../../domain/auth/actor.ts';
import type { McpLogger } from '../parts.ts';
import { McpHttpError } from '../protocol/errors.ts';
import type { Sessions } from './sessions.ts';
import type { SseStream } from '../notifications/sse.ts';

interface OpenSseStream {
  sse: SseStream;
  /** Undefined for a stream without a session. */
  session_id: string | undefined;
  actor: Actor;
}

export interface StreamSet {
  /** Keeps a stream until it closes. */
  add(stream: OpenSseStream): void;
  endSession(id: string): void;
  /** Ends all streams and stops the checks. */
  close(): void;
}

/**
 * The open streams of this process. Every `interval_ms` it checks their sessions one by one, because another process may have
 * ended them.
 */
export function createStreamSet(sessions: Sessions, logger: McpLogger, interval_ms: number): StreamSet {
  const streams = new Set<OpenSseStream>();
  let isChecking = false;
  const timer = setInterval(() => void checkSessions(), interval_ms).unref();

  async function checkSessions(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      for (const { sse, session_id, actor } of streams) {
        if (session_id !== undefined && !(await isSessionValid(session_id, actor))) sse.end();
      }
    } catch (error) {
      // The database is unavailable; the streams stay open.
      logger.debug({ err: error }, 'checking the sessions of open streams failed');
    } finally {
      isChecking = false;
    }
  }

  async function isSessionValid(id: string, actor: Actor): Promise<boolean> {
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
