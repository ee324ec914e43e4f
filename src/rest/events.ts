import { setMaxListeners } from 'node:events';
import type { Context } from 'koa';
import { z } from 'zod';
import { actorOf } from '../http/authenticate.ts';
import { budgetTeller } from '../http/budget-headers.ts';
import { jsonBody } from '../http/json-body.ts';
import { examplePage } from '../operations/event-examples.ts';
import type { Limits } from '../operations/limits.ts';
import { parseInput } from '../operations/parse.ts';
import type { Realtime } from '../realtime/contract.ts';
import { envelopeText, eventEnvelope } from '../realtime/envelope.ts';
import { keptPosition, pageQuery, pageStanding } from '../realtime/event-page.ts';
import { following, requireFollowing } from '../realtime/following.ts';
import { type FieldSchema, readQuery } from './input.ts';
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
    ...pageStanding,
  })
  .meta({ id: 'EventPage' });

const listing: RouteDescription = {
  name: 'list_events',
  summary: 'Read your feed, or wait for it',
  description: 'A token sees the events that its scopes show; `realtime:read` shows all of them.',
  scopes: following,
  input: eventsQuery,
  status: 200,
  content: [{ type: 'application/json', schema: eventsAnswer, example: examplePage }],
  errors: [],
  example: { cursor: examplePage.cursor, limit: 50, wait: 0 },
};

const acknowledging: RouteDescription = {
  name: 'acknowledge_events',
  summary: 'Keep a position in your feed for good',
  description: 'Where every door starts that is given no cursor. It only moves forward.',
  scopes: following,
  input: keptPosition,
  status: 204,
  content: [],
  errors: ['INVALID_CURSOR'],
  example: { cursor: examplePage.cursor },
};

/**
 * The long poll and the durable position (contract, section 4). They wait, so they are no operations.
 * @param draining aborted when the process begins to stop: who waits is answered at once.
 */
export function eventRoutes(realtime: Realtime, limits: Limits, draining: AbortSignal): Route[] {
  // Every caller that waits listens to it.
  setMaxListeners(0, draining);
  const { properties } = z.toJSONSchema(eventsQuery, { io: 'input' });
  const fields = properties as Record<string, FieldSchema>;

  async function list(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    requireFollowing(actor);
    await limits.spend('default', actor.agent_id, budgetTeller(ctx));
    const { wait, ...query } = parseInput(eventsQuery, readQuery(ctx.query, fields));
    const page = await whileListening(ctx, draining, (signal) =>
      realtime.page(actor, { ...query, wait_ms: wait * 1_000, signal }),
    );
    ctx.res.once('finish', () => realtime.taken(actor, page.events));
    const events = page.events.map(envelopeText).join(',');
    const gap = page.gap ? ',"gap":true' : '';
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'json';
    ctx.body = `{"events":[${events}],"cursor":"${page.cursor}","complete":${page.complete}${gap}}`;
  }

  async function acknowledge(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    requireFollowing(actor);
    await limits.spend('default', actor.agent_id, budgetTeller(ctx));
    await realtime.acknowledge(actor, parseInput(keptPosition, ctx.request.body).cursor);
    ctx.status = 204;
  }

  return [
    { method: 'GET', path: '/events', stages: [list], description: listing },
    { method: 'POST', path: '/events/ack', stages: [jsonBody, acknowledge], description: acknowledging },
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
