import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import {
  eventErrorBody,
  eventNotifications,
  maxHeartbeatMs,
} from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import { toOccurrence } from '../../../../packages/core/src/events/occurrence.ts';
import type { OpenStream, StreamEnd, StreamReader } from '../../../realtime/contract.ts';
import { createSseStream, sendStream } from '../../http/sse.ts';
import type { McpParts } from '../parts.ts';
import { McpHttpError, RpcError } from '../protocol/errors.ts';
import type { Caller } from '../protocol/exchange.ts';
import { requireStreams } from '../protocol/post.ts';
import { consumeBudget } from '../protocol/rate-limit.ts';
import type { serverInfo } from '../protocol/server.ts';
import type { StreamSet } from '../sessions/stream-set.ts';
import {
  createRequestStream,
  type Notification,
  notificationText,
  type RequestStream,
} from '../stateless/request-stream.ts';
import { dialectOf, toEventError } from './errors.ts';
import { mayHaveTooOld, readSubscription, type Subscription } from './subscription.ts';
import { steadyNow } from '../../../shared/clock.ts';

export interface EventStreamParts extends Pick<McpParts, 'realtime' | 'limits' | 'logger' | 'onSlowReader'> {
  streams: StreamSet;
  heartbeat_ms: number;
  serverInfo: ReturnType<typeof serverInfo>;
}

/** Serves `events/stream`. */
export type EventStream = (ctx: Context, caller: Caller, message: JSONRPCRequest) => Promise<void>;

/**
 * `events/stream` (MCP Events extension, draft): a stream of the events of one subscription, over the feed of the agent. Heartbeats carry
 * the position, so that it advances while nothing matches. A gap is a new `active` with `truncated: true`. A revoked token ends the
 * subscription with `terminated`; an expired one ends the stream only, because the client can open it again with its next token.
 */
export function createEventStream(parts: EventStreamParts): EventStream {
  async function open(caller: Caller, message: JSONRPCRequest): Promise<RequestStream> {
    const subscription = readSubscription(caller, message.params);
    await consumeBudget(parts.limits, 'event_stream', caller.actor);
    const isTruncated =
      subscription.has_oldest && (await mayHaveTooOld(parts.realtime, caller, subscription));
    let current: OpenStream | undefined;
    const sse = createSseStream(Math.min(parts.heartbeat_ms, maxHeartbeatMs), parts.onSlowReader, () =>
      current ? notificationText(toNotification('heartbeat', { cursor: current.cursor }), message.id) : '',
    );
    const stream = createRequestStream(sse, message.id, parts.serverInfo);
    const onOpen = (opened: OpenStream) => {
      current = opened;
    };
    await follow(
      parts,
      { caller, stream, subscription, onOpen },
      { cursor: subscription.cursor, isTruncated },
    );
    parts.streams.add({ sse: stream, session: undefined, actor: caller.actor });
    return stream;
  }

  return async function events(ctx, caller, message) {
    requireStreams(ctx);
    try {
      sendStream(ctx, await open(caller, message));
    } catch (error) {
      if (error instanceof McpHttpError) throw error;
      const { code, message: text, data } = toEventError(parts, caller, error);
      throw new McpHttpError(httpStatusOf(error), code, text, { data });
    }
  };
}

function httpStatusOf(error: unknown): number {
  if (error instanceof DomainError) return error.status;
  return error instanceof RpcError ? 400 : 500;
}

interface Following {
  caller: Caller;
  stream: RequestStream;
  subscription: Subscription;
  onOpen(opened: OpenStream): void;
}

/** Follows the feed from a position, and after a gap from where the feed continues. */
async function follow(
  parts: EventStreamParts,
  following: Following,
  { cursor, isTruncated }: { cursor: string; isTruncated: boolean },
): Promise<void> {
  const { caller, stream, subscription, onOpen } = following;
  let opened: OpenStream | undefined;

  function onEnded(reason: StreamEnd): void {
    if (reason === 'position_expired' && opened) {
      const start = { cursor: opened.cursor, isTruncated: true };
      follow(parts, following, start).catch((error: unknown) => {
        toEventError(parts, caller, error);
        stream.end();
      });
      return;
    }
    if (reason === 'token_ended' && caller.actor.expires_at > steadyNow()) {
      const error = eventErrorBody(dialectOf(caller), 'forbidden', { reason: 'The access was revoked.' });
      void stream.notify([toNotification('terminated', { error })]);
    }
    stream.end();
  }

  const reader: StreamReader = {
    transport: 'mcp',
    wants: subscription.wants,
    deliver: (events) =>
      stream.notify(
        events.map((event) => toNotification('event', { ...toOccurrence(event), cursor: event.cursor })),
      ),
    onEnded,
  };
  const feed = await parts.realtime.open(caller.actor, { cursor }, reader).catch((error: unknown) => {
    stream.body.destroy();
    throw error;
  });
  opened = feed;
  stream.body.once('close', () => feed.close());
  if (stream.body.destroyed) feed.close();
  onOpen(feed);
  await stream.notify([
    toNotification('active', { cursor: feed.cursor, truncated: feed.gap || isTruncated }),
  ]);
  feed.start();
}

function toNotification(name: keyof typeof eventNotifications, params: object): Notification {
  return { jsonrpc: '2.0', method: eventNotifications[name], params };
}
