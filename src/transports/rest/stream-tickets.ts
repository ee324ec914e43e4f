import { z } from 'zod';
import type { Context } from 'koa';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { jsonBody } from '../http/json-body.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { requireFeedScope, watchScopes } from '../../../packages/core/src/events/feed-scopes.ts';
import type { Route, RouteDescription } from './route.ts';

const input = z.strictObject({});

const ticketSchema = z
  .object({
    ticket: z.string().describe('Open the WebSocket with /ws?ticket=… It can be used once.'),
    expires_at: z
      .int()
      .describe(
        'When the ticket expires: after one minute, or with your token. Milliseconds since the Unix epoch.',
      ),
  })
  .meta({ id: 'StreamTicket' });

const description: RouteDescription = {
  name: 'create_stream_ticket',
  summary: 'Create a WebSocket ticket',
  description:
    'Browsers cannot set headers on a WebSocket handshake. Have your server create a ticket, and open `/ws?ticket=…` with it. A ticket can be used once and has the scopes of your token. The connection is closed when your token ends.',
  scopes: watchScopes,
  input,
  status: 201,
  content: [
    {
      type: 'application/json',
      schema: ticketSchema,
      example: { ticket: 'Zm9yIG9uZSBjb25uZWN0aW9uLCBhbmQgZm9yIG9uY2U', expires_at: 1_794_000_060_000 },
    },
  ],
  errors: [],
  example: {},
};

/**
 * One-time tickets for the WebSocket. A route, not an operation: a repeated request with an idempotency key must not return the
 * same ticket again.
 */
export function streamTicketRoutes(
  issue: (actor: Actor) => Promise<z.infer<typeof ticketSchema>>,
  limits: RateLimits,
): Route[] {
  async function create(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    if (!actor.scopes.has('conversations:read')) requireFeedScope(actor);
    await limits.consume('default', actor.agent_id, createRateLimitReporter(ctx));
    parseInput(input, ctx.request.body);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 201;
    ctx.body = await issue(actor);
  }
  return [{ method: 'POST', path: '/realtime/tickets', stages: [jsonBody, create], description }];
}
