import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { type CardParts, serveCard, serveLegacyCard } from './card.ts';
import { refuseVerb } from './errors.ts';
import { type FileParts, serveFile } from './files.ts';
import { type InvitationParts, redeemInvitation } from './invitations.ts';
import { takeUpdate, type UpdateParts } from './updates.ts';
import { createInterfaces, type InterfaceParts } from './interfaces.ts';

export interface A2aParts extends CardParts, FileParts, InterfaceParts, InvitationParts, UpdateParts {}

/** The A2A transport. Each agent has a base address with a card and two interfaces. */
export function createA2aTransport(parts: A2aParts): Middleware[] {
  const router = new Router({ prefix: '/a2a', sensitive: true });
  /** These need no token. Every other address below an agent answers 401 without one, whether or not the agent exists. */
  const serve = (path: string, handler: Middleware) => {
    router.get(path, handler);
    router.all(path, refuseOthers);
  };
  serve('/:owner/:agent_name/.well-known/agent-card.json', serveCard(parts));
  // Clients of 0.3 know either name of the card. No owner is named `v0.3` or `-`.
  for (const name of ['agent-card', 'agent'])
    serve(`/v0.3/:owner/:agent_name/.well-known/${name}.json`, serveLegacyCard(parts));
  serve('/-/files/:sealed', serveFile(parts));
  router.post('/-/updates/:sealed', takeUpdate(parts));
  router.post('/-/invitations/:secret', redeemInvitation(parts));
  const routes = router.routes() as Middleware;
  const interfaces = createInterfaces(parts);
  // Requests to other transports skip the router, which would compare their path with each of its routes.
  return [
    (ctx, next) =>
      ctx.path.startsWith('/a2a/') ? routes(ctx, () => Promise.resolve(interfaces(ctx, next))) : next(),
  ];
}

function refuseOthers(ctx: Context): never {
  return refuseVerb(ctx, ['GET', 'HEAD'], `${ctx.path} supports GET, HEAD.`);
}
