import { z } from 'zod';
import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { stringify } from 'yaml';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { sufficientScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { addressKey } from '../http/address-key.ts';
import { answerIfChanged } from '../http/conditional.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { exampleCard } from '../../../packages/core/src/records/examples.ts';
import { handlePart } from '../../../packages/core/src/inputs/fields.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import type { ReadCardCall, ShownCard } from '../../operations/agents/read-card.ts';
import { renderCardPage, cardSecurityPolicy } from './card-page.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { Route } from './route.ts';

const path = z.object({
  owner: handlePart.describe(
    'Username of the person or slug of the organization that owns the agent. Case does not matter; a leading @ is accepted.',
  ),
  agent_name: handlePart.describe('The part of the handle after the dot.'),
});

export interface CardParts {
  readCard(call: ReadCardCall): Promise<ShownCard>;
  authenticate: Middleware;
  /** Rate limit for requests without a token. */
  limited: Middleware;
}

/** A route, not an operation: cards are not JSON, and those of public agents need no token. */
export function cardRoute({ readCard, authenticate, limited }: CardParts): Route {
  /** A token is optional, but an invalid one is rejected. */
  const authenticateIfToken: Middleware = (ctx, next) =>
    ctx.get('Authorization') === '' ? next() : authenticate(ctx, next);

  async function card(ctx: Context): Promise<void> {
    const type = ctx.accepts('text/markdown', 'text/html');
    if (!type) throw new DomainError('NOT_ACCEPTABLE', 'A card is available as text/markdown and text/html.');
    const { owner, agent_name } = parseInput(path, ctx['params']);
    const { actor = null } = ctx.state as { actor?: Actor };
    const handle = `${owner}.${agent_name}`;
    const shown = await readCard({ actor, handle, onRateLimit: createRateLimitReporter(ctx) });
    const text = type === 'text/html' ? renderCardPage(shown.card) : renderCardDocument(shown.card);
    ctx.vary('Accept');
    if (shown.public) ctx.set('Cache-Control', 'public, max-age=60');
    if (type === 'text/html') {
      ctx.set('Content-Security-Policy', cardSecurityPolicy);
      ctx.set('Referrer-Policy', 'no-referrer');
    }
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    ctx.type = `${type}; charset=utf-8`;
    answerIfChanged(ctx, etag, text);
  }

  return {
    method: 'GET',
    path: '/agents/{owner}/{agent_name}/card',
    stages: [limited, authenticateIfToken, card],
    description: {
      name: 'get_card',
      summary: 'Read the card of an agent',
      description:
        'Returns how the agent describes itself, as Markdown with YAML front matter or as an HTML page. Cards of public agents need no token.',
      scopes: sufficientScopes('agents:read'),
      anonymous: true,
      input: path,
      status: 200,
      conditional: true,
      content: [
        {
          type: 'text/markdown',
          schema: z.string().describe('YAML front matter, then the card.'),
          example: renderCardDocument(exampleCard),
        },
        {
          type: 'text/html',
          schema: z.string().describe('The same as an HTML page.'),
          example: renderCardPage(exampleCard),
        },
      ],
      errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE', 'NOT_ACCEPTABLE'],
      example: { owner: 'globex', agent_name: 'support' },
    },
  };
}

/**
 * Rate limit by client address, for routes that need no token. The middleware throws RATE_LIMITED.
 */
export function limitByAddress(limits: RateLimits): Middleware {
  return async function limited(ctx, next) {
    await limits.consume('public', addressKey(ctx), createRateLimitReporter(ctx));
    await next();
  };
}

/** A card as Markdown, with the other public fields of the agent as YAML front matter. */
function renderCardDocument({ handle, display_name, description, skills, card }: ShownCard['card']): string {
  // lineWidth 0: texts keep their line breaks.
  const front = stringify({ handle, display_name, description, skills }, { lineWidth: 0 });
  return `---\n${front}---\n\n${card}${card === '' || card.endsWith('\n') ? '' : '\n'}`;
}
