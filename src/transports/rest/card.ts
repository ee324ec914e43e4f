import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { sufficientScopes } from '../../domain/auth/scopes.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { exampleCard } from '../../operations/examples/records.ts';
import { handlePart } from '../../operations/fields.ts';
import { parseInput } from '../../operations/execute/parse-input.ts';
import type { ReadCardCall, ShownCard } from '../../operations/agents/read-card.ts';
import { renderCardDocument } from './card-document.ts';
import { renderCardPage, cardSecurityPolicy } from './card-page.ts';
import type { Route } from './route.ts';

const path = z.object({
  owner: handlePart.describe('Username or slug of the owner; a leading @ and any case are accepted.'),
  agent_name: handlePart.describe('The part of the handle behind the dot.'),
});

export interface CardParts {
  readCard(call: ReadCardCall): Promise<ShownCard>;
  authenticate: Middleware;
  /** Guards callers that nobody knows. */
  limited: Middleware;
}

/** Cards are no JSON, and those of public agents need no token: so this is a route of its own (contract, section 3). */
export function cardRoute({ readCard, authenticate, limited }: CardParts): Route {
  /** A token is not needed, but a bad one is refused. */
  const identified: Middleware = (ctx, next) =>
    ctx.get('Authorization') === '' ? next() : authenticate(ctx, next);

  async function card(ctx: Context): Promise<void> {
    const type = ctx.accepts('text/markdown', 'text/html');
    if (!type) throw new DomainError('NOT_ACCEPTABLE', 'A card comes as text/markdown or text/html.');
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
    ctx.set('ETag', etag);
    ctx.status = 200;
    ctx.type = `${type}; charset=utf-8`;
    if (matchesEtag(ctx.get('If-None-Match'), etag)) ctx.status = 304;
    else ctx.body = text;
  }

  return {
    method: 'GET',
    path: '/agents/{owner}/{agent_name}/card',
    stages: [limited, identified, card],
    description: {
      name: 'get_card',
      summary: 'Read the card of an agent',
      description:
        'What the agent says of itself, as Markdown with YAML front matter or as a page. The card of a public agent is for everybody.',
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
          schema: z.string().describe('The same as a page.'),
          example: renderCardPage(exampleCard),
        },
      ],
      errors: ['AGENT_NOT_FOUND', 'INVALID_HANDLE', 'NOT_ACCEPTABLE'],
      example: { owner: 'globex', agent_name: 'support' },
    },
  };
}

/**
 * Whether the caller has the text already (RFC 9110, section 13.1.2). Koa's own check is off for callers that say no-cache, which
 * asks just this.
 */
function matchesEtag(header: string, etag: string): boolean {
  const tags = new Set(header.split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return tags.has(etag) || tags.has('*');
}
