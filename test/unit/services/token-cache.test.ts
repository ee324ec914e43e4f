import { expect, test } from 'vitest';
import { createTokenCache } from '../../../src/services/auth/token-cache.ts';

test('expired tokens are removed, later than they expire', async () => {
  let now = 1_000_000;
  const actor = {
    agent_id: 'agt_1',
    handle: 'ada.writer',
    owner_id: 'own_1',
    scopes: new Set(),
    client_id: 'c',
    resource: 'service',
    expires_at: now * 2,
  };
  const cache = createTokenCache(
    (token_id) => Promise.resolve({ ...actor, token_id } as never),
    () => now,
  );
  const listCached = () => {
    const ids: string[] = [];
    cache.forget(({ token_id }) => {
      ids.push(token_id);
      return false;
    });
    return ids;
  };
  await cache.lookUp('old');
  now += 10_000;
  await cache.lookUp('recent');
  // The old one can still be extended by an open stream.
  expect(listCached().toSorted()).toEqual(['old', 'recent']);
  now += 130_000;
  await cache.lookUp('new');
  expect(listCached()).toEqual(['new']);
});
