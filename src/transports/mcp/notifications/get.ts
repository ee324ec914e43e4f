import type { Context } from 'koa';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { LiveEvent, OpenStream, Realtime } from '../../../realtime/contract.ts';
import { requireVersion, resumeHeader, sessionHeader, versionHeader } from '../protocol/headers.ts';
import { sseGapNotification, sseNotification, sseUpdatedNotifications } from './notifications.ts';
import { McpHttpError, rpcCodes } from '../protocol/errors.ts';
import { consumeBudget } from '../protocol/rate-limit.ts';
import { findChangedResources } from '../resources/changed-resources.ts';
import type { Sessions, TakenSession } from '../sessions/sessions.ts';
import { createSseStream, sendStream, sseEvent, sseRetry, type SseStream } from '../../http/sse.ts';
import type { StreamSet } from '../sessions/stream-set.ts';
import type { Resources } from '../resources/resources.ts';

export interface GetParts {
  sessions: Sessions;
  limits: RateLimits;
  realtime: Realtime;
  streams: StreamSet;
  features: { resources: Resources };
  heartbeat_ms: number;
  onSlowReader: (() => void) | undefined;
}

/** First protocol version whose clients accept an event without data, which gives them a cursor before the first event. */
const firstPrimingVersion = '2025-11-25';

/**
 * GET /mcp: the notifications of the agent (MCP, Transports: Listening for Messages from the Server; Resumability and
 * Redelivery). The stream ends with the token, the session or the process, or when a newer stream of its session receives.
 */
export function createGetHandler({ sessions, limits, realtime, streams, features, ...pace }: GetParts) {
  /** The text of these events for a stream; undefined if it must send nothing. */
  async function toText(events: readonly LiveEvent[], session: TakenSession | undefined) {
    const cursor = events.at(-1)?.cursor;
    const text = events.map(sseNotification).join('');
    if (!session || cursor === undefined) return text;
    const subscribed = await sessions.claimNotifications(session, cursor);
    return (
      subscribed &&
      sseUpdatedNotifications(findChangedResources(events, subscribed, features.resources)) + text
    );
  }

  async function follow(
    ctx: Context,
    actor: Actor,
    { sse, session }: { sse: SseStream; session: TakenSession | undefined },
  ): Promise<OpenStream> {
    const cursor = ctx.get(resumeHeader) || session?.stream_cursor;
    const deliver = async (events: readonly LiveEvent[]) => {
      const text = await toText(events, session);
      if (text === undefined) sse.end();
      else await sse.write(text);
    };
    try {
      return await realtime.open(actor, { cursor }, { transport: 'mcp', deliver, onEnded: () => sse.end() });
    } catch (error) {
      sse.body.destroy();
      throw error;
    }
  }

  return async function get(ctx: Context, actor: Actor): Promise<void> {
    requireVersion(ctx);
    if (!ctx.accepts('text/event-stream')) {
      throw new McpHttpError(406, rpcCodes.serverError, 'Not Acceptable: accept text/event-stream.');
    }
    await consumeBudget(limits, 'event_stream', actor);
    const sessionId = ctx.get(sessionHeader);
    // Before the session is taken: a wrong cursor must not end its open stream.
    if (ctx.get(resumeHeader)) {
      if (sessionId !== '') await sessions.check(sessionId, actor);
      await realtime.startOf(actor, ctx.get(resumeHeader)).catch(refuseCursor);
    }
    const session = sessionId === '' ? undefined : await sessions.takeStream(sessionId, actor);
    const sse = createSseStream(pace.heartbeat_ms, pace.onSlowReader);
    const stream = await follow(ctx, actor, { sse, session });
    sse.body.once('close', () => stream.close());
    streams.add({ sse, session, actor });

    sendStream(ctx, sse, `: connected\n${sseRetry()}`);
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

function refuseCursor(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== 'INVALID_CURSOR') throw error;
  const { code, message } = error;
  throw new McpHttpError(400, rpcCodes.invalidParams, `Bad Request: Last-Event-ID: ${message}`, {
    data: { code },
  });
}
