import type { Context } from 'koa';
import type { Actor } from '../domain/actor.ts';
import { DomainError } from '../domain/errors.ts';
import type { OpenStream, Realtime } from '../realtime/contract.ts';
import { requireVersion, resumeHeader, sessionHeader, versionHeader } from './headers.ts';
import { gapNotification, notificationOf, updatedNotifications } from './notifications.ts';
import { Refusal, rpcCodes } from './refusal.ts';
import { changedResources } from './resource-changes.ts';
import type { Sessions } from './sessions.ts';
import { createSseStream, sseEvent, type SseStream } from './sse.ts';
import type { StreamSet } from './stream-set.ts';
import { subscribedBy } from './subscriptions.ts';

export interface GetParts {
  sessions: Sessions;
  realtime: Realtime;
  streams: StreamSet;
  heartbeat_ms: number;
  slow: (() => void) | undefined;
}

/** First revision whose clients understand an event without data, which tells them where they are before anything happened. */
const primingSince = '2025-11-25';

/**
 * GET /mcp (MCP, Transports: Listening for Messages from the Server; Resumability and Redelivery). The notifications of the
 * actor's agent; without a session id with the rights of the token alone. Ends with the token, the session or the process.
 */
export function createGet({ sessions, realtime, streams, heartbeat_ms, slow }: GetParts) {
  async function follow(
    ctx: Context,
    actor: Actor,
    { sse, session_id }: { sse: SseStream; session_id: string | undefined },
  ): Promise<OpenStream> {
    const cursor = ctx.get(resumeHeader) || undefined;
    const deliver: Parameters<Realtime['open']>[2]['deliver'] = async (events) => {
      const changed = changedResources(events, await subscribedBy(sessions, session_id, actor));
      await sse.write(updatedNotifications(changed) + events.map(notificationOf).join(''));
    };
    try {
      return await realtime.open(actor, { cursor }, { door: 'mcp', deliver, ended: () => sse.end() });
    } catch (error) {
      sse.body.destroy();
      if (!(error instanceof DomainError) || error.code !== 'INVALID_CURSOR') throw error;
      const data = { code: error.code };
      throw new Refusal(400, rpcCodes.invalidParams, `Bad Request: Last-Event-ID: ${error.message}`, {
        data,
      });
    }
  }

  return async function get(ctx: Context, actor: Actor): Promise<void> {
    requireVersion(ctx);
    if (!ctx.accepts('text/event-stream')) {
      throw new Refusal(406, rpcCodes.refused, 'Not Acceptable: accept text/event-stream.');
    }
    const session_id = ctx.get(sessionHeader) || undefined;
    const session = session_id === undefined ? undefined : await sessions.check(session_id, actor);
    const sse = createSseStream(heartbeat_ms, slow);
    const stream = await follow(ctx, actor, { sse, session_id });
    sse.body.once('close', () => stream.close());
    streams.add({ sse, session_id, actor });

    ctx.set({ 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' });
    ctx.set('Content-Type', 'text/event-stream');
    ctx.body = sse.body;
    // Headers leave with the first bytes. How soon to come back is spread, so that a restart does not bring all at once.
    await sse.write(`: connected\nretry: ${500 + Math.floor(Math.random() * 1_000)}\n`);
    const version = session?.protocol_version ?? ctx.get(versionHeader);
    // What was missed may have changed anything.
    if (stream.gap)
      await sse.write(updatedNotifications(session?.subscriptions ?? []) + gapNotification(stream.cursor));
    else if (version >= primingSince) await sse.write(sseEvent(stream.cursor, ''));
    stream.start();
  };
}
