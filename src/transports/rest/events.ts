import { z } from 'zod';
import { setMaxListeners } from 'node:events';
import type { Context } from 'koa';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { jsonBody } from '../http/json-body.ts';
import { whileListening } from '../http/while-listening.ts';
import { examplePage } from '../../operations/examples/events.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import type { Realtime } from '../../realtime/contract.ts';
import { envelopeText, eventEnvelope } from '../../operations/event-envelope.ts';
import type { TransportDescription } from '../../realtime/transport-description.ts';
import { acknowledgeInput, eventsQuery, pageState } from '../../../packages/core/src/inputs/events.ts';
import {
  feedScopes,
  requireFeedScope,
  requireOwnerScope,
  watchScopes,
} from '../../../packages/core/src/events/feed-scopes.ts';
import { createQueryReader } from './read-input.ts';
import type { Route, RouteDescription } from './route.ts';

/** Response of `GET /v1/events`. */
export const eventPage = z
  .object({
    events: z.array(eventEnvelope).describe('Oldest first.'),
    ...pageState,
  })
  .meta({ id: 'EventPage' });

const listDescription: RouteDescription = {
  name: 'list_events',
  summary: 'List or wait for events',
  description:
    'Returns the next events of your feed. If there are none, the request waits up to `wait` seconds for the first one. You get the event types that the scopes of your token allow; `realtime:read` allows all of them, and `conversations:read` alone only opens `watch=owner`.',
  scopes: watchScopes,
  input: eventsQuery,
  status: 200,
  content: [{ type: 'application/json', schema: eventPage, example: examplePage }],
  errors: [],
  example: { cursor: examplePage.cursor, limit: 50, wait: 0 },
};

/** The long poll, for the AsyncAPI document. */
export const longPollDescription: TransportDescription = {
  name: 'long_poll',
  title: 'Long poll',
  description:
    '`GET /v1/events`, the operation `list_events` of the REST API (`/v1/openapi.json`). It returns a page of events, at once or when the first one arrives, and the cursor for the next request. `gap` means that events after your cursor are no longer kept.',
  protocol: 'http',
  address: '/v1/events',
  method: 'GET',
  query: eventsQuery,
  sends: [{ name: 'page', summary: 'A page of events.', schema: eventPage, example: examplePage }],
  receives: [],
};

const acknowledgeDescription: RouteDescription = {
  name: 'acknowledge_events',
  summary: 'Acknowledge events',
  description:
    'Stores a position in your feed. Streams and requests without a cursor start there. The position only moves forward.',
  scopes: feedScopes,
  input: acknowledgeInput,
  status: 204,
  content: [],
  errors: ['INVALID_CURSOR'],
  example: { cursor: examplePage.cursor },
};

/**
 * The long poll and the acknowledgement. They wait for events or for a batch, so they are not operations.
 * @param draining aborted when the process begins to shut down: waiting requests are then answered at once.
 */
export function eventRoutes(realtime: Realtime, limits: RateLimits, draining: AbortSignal): Route[] {
  // Every waiting request adds a listener.
  setMaxListeners(0, draining);
  const { read: readQuery } = createQueryReader('GET', '/events', eventsQuery);

  async function list(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    const { wait, watch, ...query } = parseInput(eventsQuery, readQuery(ctx));
    if (watch === 'owner') requireOwnerScope(actor);
    else requireFeedScope(actor);
    await limits.consume('default', actor.agent_id, createRateLimitReporter(ctx));
    const page = await whileListening(ctx, draining, (signal) => {
      const options = { ...query, wait_ms: wait * 1_000, signal };
      return watch === 'owner' ? realtime.ofOwner.page(actor, options) : realtime.page(actor, options);
    });
    if (watch === undefined) ctx.res.once('finish', () => realtime.markDelivered(actor, page.events));
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
