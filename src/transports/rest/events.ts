import { setMaxListeners } from 'node:events';
import type { Context } from 'koa';
import { z } from 'zod';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { jsonBody } from '../http/json-body.ts';
import { examplePage } from '../../operations/examples/events.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { parseInput } from '../../operations/execute/parse-input.ts';
import type { Realtime } from '../../realtime/contract.ts';
import { envelopeText, eventEnvelope } from '../../realtime/envelope.ts';
import { acknowledgeInput, pageQuery, pageState } from '../../realtime/event-page.ts';
import { feedScopes, requireFeedScope } from '../../realtime/feed-scopes.ts';
import { type FieldSchema, readQuery } from './read-input.ts';
import type { Route, RouteDescription } from './route.ts';

/** Query of `GET /v1/events`. */
export const eventsQuery = z.object({
  ...pageQuery,
  wait: z.int().min(0).max(30).default(0).describe('Seconds to wait for the first event, 0–30.'),
});

/** Answer of `GET /v1/events`. */
export const eventsAnswer = z
  .object({
    events: z.array(eventEnvelope).describe('In the order of your feed.'),
    ...pageState,
  })
  .meta({ id: 'EventPage' });

const listDescription: RouteDescription = {
  name: 'list_events',
  summary: 'Read your feed, or wait for it',
  description: 'A token sees the events that its scopes show; `realtime:read` shows all of them.',
  scopes: feedScopes,
  input: eventsQuery,
  status: 200,
  content: [{ type: 'application/json', schema: eventsAnswer, example: examplePage }],
  errors: [],
  example: { cursor: examplePage.cursor, limit: 50, wait: 0 },
};

const acknowledgeDescription: RouteDescription = {
  name: 'acknowledge_events',
  summary: 'Keep a position in your feed for good',
  description: 'Where every door starts that is given no cursor. It only moves forward.',
  scopes: feedScopes,
  input: acknowledgeInput,
  status: 204,
  content: [],
  errors: ['INVALID_CURSOR'],
  example: { cursor: examplePage.cursor },
};

/**
 * The long poll and the durable position (contract, section 4). They wait, so they are no operations.
 * @param draining aborted when the process begins to stop: who waits is answered at once.
 */
export function eventRoutes(realtime: Realtime, limits: RateLimits, draining: AbortSignal): Route[] {
  // Every caller that waits listens to it.
  setMaxListeners(0, draining);
  const { properties } = z.toJSONSchema(eventsQuery, { io: 'input' });
  const fields = properties as Record<string, FieldSchema>;

  async function list(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    requireFeedScope(actor);
    await limits.consume('default', actor.agent_id, createRateLimitReporter(ctx));
    const { wait, ...query } = parseInput(eventsQuery, readQuery(ctx.query, fields));
    const page = await whileListening(ctx, draining, (signal) =>
      realtime.page(actor, { ...query, wait_ms: wait * 1_000, signal }),
    );
    ctx.res.once('finish', () => realtime.markDelivered(actor, page.events));
    const events = page.events.map(envelopeText).join(',');
    const gap = page.gap ? ',"gap":true' : '';
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'json';
    ctx.body = `{"events":[${events}],"cursor":"${page.cursor}","complete":${page.complete}${gap}}`;
  }

  async function acknowledge(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    requireFeedScope(actor);
    await limits.consume('default', actor.agent_id, createRateLimitReporter(ctx));
    await realtime.acknowledge(actor, parseInput(acknowledgeInput, ctx.request.body).cursor);
    ctx.status = 204;
  }

  return [
    { method: 'GET', path: '/events', stages: [list], description: listDescription },
    {
      method: 'POST',
      path: '/events/ack',
      stages: [jsonBody, acknowledge],
      description: acknowledgeDescription,
    },
  ];
}

/** Runs with a signal that is aborted when the caller goes away or the process stops. */
async function whileListening<T>(
  ctx: Context,
  draining: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  ctx.res.once('close', abort);
  draining.addEventListener('abort', abort);
  if (draining.aborted) abort();
  try {
    return await run(gone.signal);
  } finally {
    ctx.res.off('close', abort);
    draining.removeEventListener('abort', abort);
  }
}
