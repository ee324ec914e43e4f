import { describe, expect, test } from 'vitest';
import {
  type IdKind,
  idPrefixes,
  isId,
  minIdAt,
  newId,
  timeOfId,
} from '../../../packages/core/src/domain/ids.ts';

const kinds = Object.keys(idPrefixes) as IdKind[];
const body = '01M7XZXBKN7SNFAET8A79TMDQ0';

describe('identifiers', () => {
  test('have the documented prefixes', () => {
    expect(idPrefixes).toEqual({
      agent: 'agt',
      thread: 'thd',
      message: 'msg',
      attachment: 'att',
      contactRequest: 'creq',
      event: 'evt',
      account: 'acc',
      organization: 'org',
      approval: 'apr',
      webhook: 'whk',
      invitation: 'inv',
      remoteInvitation: 'rinv',
      grant: 'grt',
      audit: 'aud',
      erasure: 'ers',
      export: 'exp',
      lease: 'lse',
      notification: 'ntf',
      task: 'tsk',
      watchLink: 'wtl',
    });
  });

  test.each(kinds)('of the kind %s are recognized as that kind only', (kind) => {
    const id = newId(kind);
    expect(id).toMatch(new RegExp(`^${idPrefixes[kind]}_[0-9A-HJKMNP-TV-Z]{26}$`));
    expect(kinds.filter((other) => isId(other, id))).toEqual([kind]);
  });

  test('increase, also within one millisecond', () => {
    const ids = Array.from({ length: 2_000 }, () => newId('event'));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('contain their creation time', () => {
    const before = Date.now();
    expect(timeOfId(newId('message'))).toBeGreaterThanOrEqual(before);
    expect(timeOfId(newId('message'))).toBeLessThanOrEqual(Date.now());
    for (const time of [0, 1, before]) expect(timeOfId(minIdAt('message', time))).toBe(time);
  });

  test.each([
    ['a good one', `agt_${body}`, true],
    ['another kind', `thd_${body}`, false],
    ['no prefix', body, false],
    ['too short', `agt_${body.slice(1)}`, false],
    ['too long', `agt_${body}0`, false],
    ['lower case', `agt_${body.toLowerCase()}`, false],
    ['a letter that Crockford leaves out', `agt_${body.slice(0, -1)}U`, false],
    ['a time beyond 128 bits', `agt_8${body.slice(1)}`, false],
    ['a line break after it', `agt_${body}\n`, false],
    ['nothing', '', false],
  ])('are checked by their form: %s', (_what, value, good) => {
    expect(isId('agent', value)).toBe(good);
  });
});
