import type { Context } from 'koa';
import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { OpenStream, Realtime } from '../realtime/contract.ts';
import { requireVersion, resumeHeader, sessionHeader, versionHeader } from './headers.ts';
import { gapNotification, notificationOf } from './notifications.ts';
import { Refusal, rpcCodes } from './refusal.ts';
import type { Sessions } from './sessions.ts';
import { createSseStream, sseEvent, type SseStream } from './sse.ts';

export interface StreamParts {
  sessions: Sessions;
  realtime: Realtime;
  heartbeat_ms: number;
}

export interface Streams {
  /** GET /mcp (MCP, Transports: Listening for Messages from the Server; Resumability). */
  get(ctx: Context, actor: Actor): Promise<void>;
  /** Ends the streams of one session. */
  endSession(id: string): void;
  /** Ends all streams; their clients come back with `Last-Event-ID`, to whichever process answers. */
  close(): void;
}

/** First revision whose clients understand an event without data, which tells them where they are before anything happened. */
const primingSince = '2025-11-25';

/** The notification streams of this process. A stream without a session id has the rights of its token alone. */
export function createStreams({ sessions, realtime, heartbeat_ms }: StreamParts): Streams {
  const open = new Map<SseStream, string>();

  async function follow(ctx: Context, actor: Actor, sse: SseStream): Promise<OpenStream> {
    const cursor = ctx.get(resumeHeader) || undefined;
    try {
      return await realtime.open(
        actor,
        { cursor },
        {
          deliver: (events) => sse.write(events.map(notificationOf).join('')),
          ended: () => sse.end(),
        },
      );
    } catch (error) {
      sse.body.destroy();
      if (!(error instanceof DomainError) || error.code !== 'INVALID_CURSOR') throw error;
      const data = { code: error.code };
      throw new Refusal(400, rpcCodes.invalidParams, `Bad Request: Last-Event-ID: ${error.message}`, {
        data,
      });
    }
  }

  return {
    async get(ctx, actor) {
      requireVersion(ctx);
      if (!ctx.accepts('text/event-stream')) {
        throw new Refusal(406, rpcCodes.refused, 'Not Acceptable: accept text/event-stream.');
      }
      const id = ctx.get(sessionHeader);
      const session = id === '' ? undefined : await sessions.check(id, actor);
      const sse = createSseStream(heartbeat_ms);
      const stream = await follow(ctx, actor, sse);

      open.set(sse, id);
      sse.body.once('close', () => {
        open.delete(sse);
        stream.close();
      });
      ctx.set({ 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' });
      ctx.type = 'text/event-stream';
      ctx.body = sse.body;
      // Headers leave with the first bytes. How soon to come back is spread, so that a restart does not bring all at once.
      await sse.write(`: connected\nretry: ${500 + Math.floor(Math.random() * 1_000)}\n`);
      const version = session?.protocol_version ?? ctx.get(versionHeader);
      if (stream.gap) await sse.write(gapNotification(stream.cursor));
      else if (version >= primingSince) await sse.write(sseEvent(stream.cursor, ''));
      stream.start();
    },
    endSession(id) {
      for (const [sse, session] of open) if (session === id) sse.end();
    },
    close() {
      for (const sse of open.keys()) sse.end();
    },
  };
}
