import type { Context } from 'koa';
import { z } from 'zod';
import type { Actor } from '../../domain/auth/actor.ts';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { jsonBody } from '../http/json-body.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { parseInput } from '../../operations/execute/parse-input.ts';
import { feedScopes, requireFeedScope } from '../../realtime/feed-scopes.ts';
import type { Route, RouteDescription } from './route.ts';

const input = z.strictObject({});

const answer = z
  .object({
    ticket: z.string().describe('To be given once, as /ws?ticket=…'),
    expires_at: z
      .int()
      .describe('Milliseconds since the Unix epoch: a minute from now, or the end of your token.'),
  })
  .meta({ id: 'StreamTicket' });

const description: RouteDescription = {
  name: 'create_stream_ticket',
  summary: 'Get a ticket that opens one WebSocket',
  description:
    'For clients that can send no header with a handshake, such as browsers: `/ws?ticket=…` instead of your token. It works once, has the scopes of your token, and the connection ends with that.',
  scopes: feedScopes,
  input,
  status: 201,
  content: [
    {
      type: 'application/json',
      schema: answer,
      example: { ticket: 'Zm9yIG9uZSBjb25uZWN0aW9uLCBhbmQgZm9yIG9uY2U', expires_at: 1_794_000_060_000 },
    },
  ],
  errors: [],
  example: {},
};

/**
 * Tickets for the WebSocket (contract, section 4). They are no operation: to repeat a call, as an idempotency key would, must not
 * show the ticket again.
 */
export function streamTicketRoutes(
  issue: (actor: Actor) => Promise<z.infer<typeof answer>>,
  limits: RateLimits,
): Route[] {
  async function create(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    requireFeedScope(actor);
    await limits.consume('default', actor.agent_id, createRateLimitReporter(ctx));
    parseInput(input, ctx.request.body);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 201;
    ctx.body = await issue(actor);
  }
  return [{ method: 'POST', path: '/realtime/tickets', stages: [jsonBody, create], description }];
}
