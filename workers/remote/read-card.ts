import { calculateJwkThumbprint } from 'jose';
import type { Core } from '../../src/compose.ts';
import { describeFailure } from '../../src/platform/outbound/failures.ts';
import { type GuardedFetch, RequestFailed } from '../../src/platform/outbound/guarded-fetch.ts';
import { AddressBlocked } from '../../src/platform/outbound/policy.ts';
import {
  CardProblem,
  chooseInterface,
  findTokenUrl,
  readRemoteCard,
  toProfile,
} from '../../src/presenters/a2a/remote-card.ts';
import type { RemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import { type CardOutcome, toFingerprint } from '../../src/services/remote/cards.ts';
import { findSigningKeys } from './card-keys.ts';

const limits = { timeoutMs: 5_000, maxBytes: 262_144 };
/** All requests together take less time than the lease. */
const maxRedirects = 2;

/**
 * Reads the card of a remote agent, and what a person confirms of it. Never rejects.
 * @param token of an invitation, whose agent can have a card that is not public.
 */
export async function readCard(
  { remoteClient, logger }: Pick<Core, 'remoteClient' | 'logger'>,
  record: Pick<RemoteAgentRow, 'agent_id' | 'card_url' | 'confirmed'>,
  token: string | null = null,
): Promise<CardOutcome> {
  const { card_url, confirmed } = record;
  const fetch = remoteClient.createFetch(limits);
  try {
    const problem = remoteClient.checkUrl(card_url);
    if (problem !== undefined) throw new CardProblem(`its address ${problem}`);
    const json = await fetchJson(fetch, card_url, token);
    const { card, signatures } = readRemoteCard(json);
    const isAllowed = (url: string): boolean => remoteClient.checkUrl(url) === undefined;
    const chosen = chooseInterface(card, isAllowed);
    const token_url = findTokenUrl(card) ?? null;
    if (token_url !== null && !isAllowed(token_url))
      throw new CardProblem('the address for tokens is not allowed');
    const about = { json, signatures, card_url, pinned: confirmed?.keys ?? [] };
    const keys = await findSigningKeys(about, (url) => fetchJson(fetch, url));
    const thumbprints = await Promise.all(keys.map((key) => calculateJwkThumbprint(key)));
    const identity = { ...chosen, token_url, keys, thumbprints };
    const fingerprint = toFingerprint(card_url, identity);
    return { card, identity: { ...identity, fingerprint }, profile: toProfile(card) };
  } catch (error) {
    if (error instanceof CardProblem || error instanceof RequestFailed) return { error: error.message };
    if (error instanceof AddressBlocked) return { error: describeFailure(error) };
    logger.error({ err: error, agent: record.agent_id }, 'an agent card could not be read');
    return { error: 'the agent card could not be read' };
  }
}

/** Follows redirects within the origin only. */
async function fetchJson(
  fetch: GuardedFetch,
  address: string,
  token: string | null = null,
): Promise<unknown> {
  const headers = {
    accept: 'application/json',
    'a2a-version': '1.0',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  let url = new URL(address);
  const { origin } = url;
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(url, { headers });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      const next = URL.parse(location, url);
      if (next?.origin !== origin) throw new CardProblem('the address redirects to another origin');
      if (redirects === maxRedirects) throw new CardProblem('the address redirects too often');
      url = next;
      continue;
    }
    if (response.status !== 200)
      throw new CardProblem(`the address answers with the status ${response.status}`);
    try {
      return await response.json();
    } catch {
      throw new CardProblem('the address has no JSON');
    }
  }
}
