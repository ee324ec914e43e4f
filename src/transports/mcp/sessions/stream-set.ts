import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import type { McpLogger } from '../parts.ts';
import { McpHttpError } from '../protocol/errors.ts';
import type { Sessions, TakenSession } from './sessions.ts';
import type { SseStream } from '../../http/sse.ts';

interface OpenSseStream {
  sse: SseStream;
  /** Undefined for a stream without a session. */
  session: TakenSession | undefined;
  actor: Actor;
}

export interface StreamSet {
  /** Keeps a stream until it closes. It ends the earlier streams of its session. */
  add(stream: OpenSseStream): void;
  endSession(id: string): void;
  /** Ends all streams and stops the checks. */
  close(): void;
}

/**
 * The open streams of this process. Every `interval_ms` it checks their sessions one by one, because another process may have
 * ended them, or have opened a newer stream.
 */
export function createStreamSet(sessions: Sessions, logger: McpLogger, interval_ms: number): StreamSet {
  const streams = new Set<OpenSseStream>();
  let isChecking = false;
  const timer = setInterval(() => void checkSessions(), interval_ms).unref();

  async function checkSessions(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      for (const { sse, session, actor } of streams) {
        if (session && !(await isReceiving(session, actor))) sse.end();
      }
    } catch (error) {
      // The database is unavailable; the streams stay open.
      logger.debug({ err: error }, 'checking the sessions of open streams failed');
    } finally {
      isChecking = false;
    }
  }

  async function isReceiving({ id, stream_number }: TakenSession, actor: Actor): Promise<boolean> {
    try {
      return (await sessions.check(id, actor)).stream_number === stream_number;
    } catch (error) {
      if (error instanceof McpHttpError) return false;
      throw error;
    }
  }

  function endStreams(id: string, below = Infinity): void {
    for (const { sse, session } of streams)
      if (session?.id === id && session.stream_number < below) sse.end();
  }

  return {
    add(stream) {
      if (stream.session) endStreams(stream.session.id, stream.session.stream_number);
      streams.add(stream);
      stream.sse.body.once('close', () => streams.delete(stream));
    },
    endSession: (id) => endStreams(id),
    close() {
      clearInterval(timer);
      for (const { sse } of streams) sse.end();
    },
  };
}
