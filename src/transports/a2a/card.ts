import type { Context, Middleware } from 'koa';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { A2aCard } from '../../presenters/a2a/card-schema.ts';
import { toLegacyCard } from '../../presenters/a2a/legacy.ts';
import type { ReadA2aCard } from '../../operations/a2a/read-card.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { SignJson } from '../../services/auth/json-signer.ts';
import { addressKey } from '../http/address-key.ts';
import { answerIfChanged } from '../http/conditional.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

export interface CardParts {
  limits: RateLimits;
  readCard: ReadA2aCard;
  signJson: SignJson;
  /** Registers the echo agent when its address is first requested. Returns whether it did. */
  registerMissing(handle: string): Promise<boolean>;
  /** Requires a token of `/v1`. */
  authenticate: Middleware;
}

/** Returns a card with its signature (A2A, section 8.4). */
export function signCard({ signJson }: Pick<CardParts, 'signJson'>, card: A2aCard): A2aCard {
  const { protected: header, signature } = signJson(card);
  return { ...card, signatures: [{ protected: header, signature }] };
}

/** Serves the card of an agent, signed. A token is optional, but an invalid one is rejected. */
export function serveCard(parts: CardParts): Middleware {
  return createCardRoute(parts, (card) => signCard(parts, card));
}

/** Serves the card of an agent in the form of A2A 0.3. */
export function serveLegacyCard(parts: CardParts): Middleware {
  return createCardRoute(parts, toLegacyCard);
}

function createCardRoute(parts: CardParts, toBody: (card: A2aCard) => object): Middleware {
  const { limits, readCard, authenticate } = parts;

  async function card(ctx: Context): Promise<void> {
    const { owner, agent_name } = ctx['params'] as { owner: string; agent_name: string };
    const { actor = null } = ctx.state as { actor?: Actor };
    const onRateLimit = createRateLimitReporter(ctx);
    if (actor) await limits.consume('default', actor.agent_id, onRateLimit);
    else await limits.consume('public', addressKey(ctx), onRateLimit);
    const handle = `${owner}.${agent_name}`;
    const unsigned = await readCard(actor, handle).catch(async (error: unknown) => {
      if (await parts.registerMissing(handle)) return readCard(actor, handle);
      throw error;
    });
    ctx.set('Cache-Control', actor ? 'private, max-age=300' : 'public, max-age=300');
    // Weak, because each signature of the same card is different.
    answerIfChanged(ctx, `W/"${parts.signJson(unsigned).digest}"`, toBody(unsigned));
  }

  return (ctx) => (ctx.get('Authorization') === '' ? card(ctx) : authenticate(ctx, () => card(ctx)));
}
