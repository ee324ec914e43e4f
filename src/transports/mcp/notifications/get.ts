import type { Context } from 'koa';
import type { Actor } from '../../../domain/auth/actor.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { OpenStream, Realtime } from '../../../realtime/contract.ts';
import { requireVersion, resumeHeader, sessionHeader, versionHeader } from '../protocol/headers.ts';
import { sseGapNotification, sseNotification, sseUpdatedNotifications } from './notifications.ts';
import { McpHttpError, rpcCodes } from '../protocol/errors.ts';
import { consumeBudget } from '../protocol/rate-limit.ts';
import { findChangedResources } from '../resources/changed-resources.ts';
import type { Sessions, SessionWithKey } from '../sessions/sessions.ts';
import { createSseStream, sseEvent, type SseStream } from './sse.ts';
import type { StreamSet } from '../sessions/stream-set.ts';
import { listSubscriptions } from '../resources/subscriptions.ts';

export interface GetParts {
  sessions: Sessions;
  limits: RateLimits;
  realtime: Realtime;
  streams: StreamSet;
  heartbeat_ms: number;
  onSlowReader: (() => void) | undefined;
}

/** First protocol version whose clients accept an event without data, which gives them a cursor before the first event. */
const firstPrimingVersion = '2025-11-25';

/**
 * GET /mcp: the notifications of the agent (MCP, Transports: Listening for Messages from the Server; Resumability and
 * Redelivery). The stream ends with the token, the session or the process.
 */
export function createGetHandler({
  sessions,
  limits,
  realtime,
  streams,
  heartbeat_ms,
  onSlowReader,
}: GetParts) {
  async function follow(
    ctx: Context,
    actor: Actor,
    {
      sse,
      session_id,
      session,
    }: { sse: SseStream; session_id: string | undefined; session: SessionWithKey | undefined },
  ): Promise<OpenStream> {
    const cursor = ctx.get(resumeHeader) || (session?.stream_cursor ?? undefined);
    let sent: string | undefined;
    if (session) sse.body.once('close', () => sent && sessions.moveStreamCursor(session.key, sent));
    const deliver: Parameters<Realtime['open']>[2]['deliver'] = async (events) => {
      const subscribed = await listSubscriptions(sessions, session_id, actor);
      // Another process has ended the session.
      if (!subscribed) {
        sse.end();
        return;
      }
      const changed = findChangedResources(events, subscribed);
      await sse.write(sseUpdatedNotifications(changed) + events.map(sseNotification).join(''));
      sent = events.at(-1)?.cursor ?? sent;
    };
    try {
      return await realtime.open(actor, { cursor }, { transport: 'mcp', deliver, onEnded: () => sse.end() });
    } catch (error) {
      sse.body.destroy();
      if (!(error instanceof DomainError) || error.code !== 'INVALID_CURSOR') throw error;
      const data = { code: error.code };
      throw new McpHttpError(400, rpcCodes.invalidParams, `Bad Request: Last-Event-ID: ${error.message}`, {
        data,
      });
    }
  }

  return async function get(ctx: Context, actor: Actor): Promise<void> {
    requireVersion(ctx);
    if (!ctx.accepts('text/event-stream')) {
      throw new McpHttpError(406, rpcCodes.serverError, 'Not Acceptable: accept text/event-stream.');
    }
    await consumeBudget(limits, 'event_stream', { actor, id: null });
    const session_id = ctx.get(sessionHeader) || undefined;
    const session = session_id === undefined ? undefined : await sessions.check(session_id, actor);
    const sse = createSseStream(heartbeat_ms, onSlowReader);
    const stream = await follow(ctx, actor, { sse, session_id, session });
    sse.body.once('close', () => stream.close());
    streams.add({ sse, session_id, actor });

    ctx.set({ 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' });
    ctx.set('Content-Type', 'text/event-stream');
    ctx.body = sse.body;
    // The first bytes send the headers. The random retry spreads reconnects after a restart.
    await sse.write(`: connected\nretry: ${500 + Math.floor(Math.random() * 1_000)}\n`);
    const version = session?.protocol_version ?? ctx.get(versionHeader);
    // The missed events may have changed any resource.
    if (stream.gap)
      await sse.write(
        sseUpdatedNotifications(session?.subscriptions ?? []) + sseGapNotification(stream.cursor),
      );
    else if (version >= firstPrimingVersion) await sse.write(sseEvent(stream.cursor, ''));
    stream.start();
  };
}
