import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import type { Execute } from '../../operations/execute/execute.ts';
import { type CardParts, serveCard } from './card.ts';

export interface A2aParts extends CardParts {
  execute: Execute;
  /** Aborted when the process begins to shut down. */
  draining: AbortSignal;
}

/** The A2A transport: each agent has an address of its own, with its card and its interfaces. */
export function createA2aTransport(parts: A2aParts): Middleware {
  const router = new Router({ prefix: '/a2a/:owner/:agent_name', sensitive: true });
  router.get('/.well-known/agent-card.json', serveCard(parts));
  return router.routes() as Middleware;
}
