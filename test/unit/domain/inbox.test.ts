import { describe, expect, test } from 'vitest';
import { isId, newId } from '../../../packages/core/src/domain/ids.ts';
import { inboxTypes, visibleTypes } from '../../../packages/core/src/events/inbox-types.ts';
import { readFencingToken, toLeaseId } from '../../../src/services/inbox/lease-ids.ts';

describe('lease ids', () => {
  const [ann, bob] = [newId('agent'), newId('agent')];

  test('contain the fencing token, for their agent only', () => {
    for (const token of [1, Date.now(), 2 ** 48 - 1]) {
      const id = toLeaseId(ann, token);
      expect(isId('lease', id)).toBe(true);
      expect([readFencingToken(ann, id), readFencingToken(bob, id)]).toEqual([token, undefined]);
    }
  });

  test('are increasing and distinct', () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => toLeaseId(ann, Date.now() + at));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set([...ids, ...ids.map((_, at) => toLeaseId(bob, Date.now() + at))]).size).toBe(2_000);
  });

  test.each(['', 'x', newId('lease'), newId('event'), `lse_${'0'.repeat(26)}`])(
    'without a valid form have no token: %s',
    (id) => {
      expect(readFencingToken(ann, id)).toBeUndefined();
    },
  );
});

describe('event types', () => {
  test('exclude receipts, so that no item causes another one', () => {
    expect(inboxTypes).toContain('message.created');
    for (const type of ['message.delivered', 'message.read', 'message.handled', 'inbox.expired'] as const)
      expect(inboxTypes).not.toContain(type);
  });

  test('are visible according to the scopes of the token', () => {
    const types = ['message.created', 'contact.request', 'message.read'];
    const of = (...scopes: string[]) => visibleTypes(types, { scopes: new Set(scopes) });
    expect(of('threads:write')).toEqual([]);
    expect(of('threads:read')).toEqual(['message.created']);
    expect(of('realtime:read')).toEqual(['message.created', 'contact.request']);
  });
});
