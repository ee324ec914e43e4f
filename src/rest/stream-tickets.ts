import type { Context } from 'koa';
import { z } from 'zod';
import type { Actor } from '../domain/actor.ts';
import { actorOf } from '../http/authenticate.ts';
import { budgetTeller } from '../http/budget-headers.ts';
import { jsonBody } from '../http/json-body.ts';
import type { Limits } from '../operations/limits.ts';
import { parseInput } from '../operations/parse.ts';
import { following, requireFollowing } from '../realtime/following.ts';
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
  scopes: following,
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
  limits: Limits,
): Route[] {
  async function create(ctx: Context): Promise<void> {
    const actor = actorOf(ctx);
    requireFollowing(actor);
    await limits.spend('default', actor.agent_id, budgetTeller(ctx));
    parseInput(input, ctx.request.body);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 201;
    ctx.body = await issue(actor);
  }
  return [{ method: 'POST', path: '/realtime/tickets', stages: [jsonBody, create], description }];
}
