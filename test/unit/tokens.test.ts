import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createTokens, toResourceUrls, type TokensParts } from '../../src/services/auth/tokens.ts';

const resources = toResourceUrls('https://ams.example');
const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');

let time = 1_000_000;
let lookups: string[] = [];
let rows: Record<string, Partial<Row>> = {};
type Row = NonNullable<Awaited<ReturnType<TokensParts['find']>>>;

const row: Row = {
  token_hash: Buffer.alloc(32),
  agent_id: 'agt_1',
  canonical_handle: 'ada.one',
  owner_id: 'acc_1',
  client_id: 'client_1',
  grant_id: 'grant_1',
  resource: resources.api,
  scopes: ['threads:read'],
  expires_at: 2_000_000,
  payload: {},
};

/** A token check over `rows`, by token. */
function tokensOver(find?: TokensParts['find']) {
  return createTokens({
    resources,
    now: () => time,
    find:
      find ??
      (async (hash) => {
        const token = Object.keys(rows).find((name) => hashOf(name) === hash.toString('base64url'));
        lookups.push(token ?? 'unknown');
        return token === undefined ? undefined : { ...row, ...rows[token] };
      }),
  });
}

beforeEach(() => {
  time = 1_000_000;
  lookups = [];
  rows = { good: {} };
});

test('the resources follow from the public address', () => {
  expect(resources).toEqual({
    service: 'https://ams.example',
    api: 'https://ams.example/v1',
    mcp: 'https://ams.example/mcp',
    ws: 'wss://ams.example/ws',
  });
});

test('tokens with the same scopes share one set, and others do not', async () => {
  rows = { one: {}, two: {}, more: { scopes: ['threads:read', 'threads:write'] } };
  const tokens = tokensOver();
  const verify = async (token: string) => (await tokens.verify(token, 'api')).scopes;
  const [one, two, more] = [await verify('one'), await verify('two'), await verify('more')];
  expect(two).toBe(one);
  expect([one, more]).toEqual([new Set(['threads:read']), new Set(['threads:read', 'threads:write'])]);
});

test('the actor identifies its token by the hash', async () => {
  const actor = await tokensOver().verify('good', 'api');
  expect(actor).toEqual({
    agent_id: 'agt_1',
    handle: 'ada.one',
    owner_id: 'acc_1',
    client_id: 'client_1',
    grant_id: 'grant_1',
    resource: resources.api,
    scopes: new Set(['threads:read']),
    expires_at: 2_000_000,
    token_id: hashOf('good'),
  });
});

describe('cached tokens', () => {
  test('are cached for five seconds', async () => {
    const tokens = tokensOver();
    await tokens.verify('good', 'api');
    time += 4_999;
    await tokens.verify('good', 'ws');
    expect(lookups).toEqual(['good']);
    time += 1;
    await tokens.verify('good', 'api');
    expect(lookups).toEqual(['good', 'good']);
  });

  test('are not cached after the token expires', async () => {
    rows['good'] = { expires_at: time + 1_000 };
    const tokens = tokensOver();
    await tokens.verify('good', 'api');
    time += 999;
    await tokens.verify('good', 'api');
    time += 1;
    await expect(tokens.verify('good', 'api')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(lookups).toEqual(['good', 'good']);
  });

  test('do not include unknown tokens', async () => {
    const tokens = tokensOver();
    await expect(tokens.verify('later', 'api')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    rows['later'] = {};
    await expect(tokens.verify('later', 'api')).resolves.toMatchObject({ agent_id: 'agt_1' });
  });

  test('share a look-up between concurrent checks, and do not include its failure', async () => {
    let fails = true;
    let lookupCount = 0;
    const tokens = tokensOver(async () => {
      lookupCount += 1;
      await Promise.resolve();
      if (fails) throw new Error('database away');
      return row;
    });
    const first = await Promise.allSettled([1, 2, 3].map(() => tokens.verify('good', 'api')));
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    fails = false;
    await Promise.all([1, 2, 3].map(() => tokens.verify('good', 'api')));
    expect(lookupCount).toBe(2);
  });

  test('are cached longer after a check that started later found them valid', async () => {
    const tokens = tokensOver();
    await tokens.verify('good', 'api');
    time += 4_000;
    tokens.extend([hashOf('good'), hashOf('never seen')], time - 500);
    tokens.extend([hashOf('good')], time - 2_000);
    time += 4_499;
    await tokens.verify('good', 'api');
    expect(lookups).toEqual(['good']);
    time += 1;
    await tokens.verify('good', 'api');
    expect(lookups).toEqual(['good', 'good']);
  });

  test('are not restored by a look-up that began before they were forgotten', async () => {
    const tokens = tokensOver();
    await tokens.verify('good', 'api');
    const since = time;
    tokens.forget({ token_id: hashOf('good') });
    delete rows['good'];
    tokens.extend([hashOf('good')], since);
    await expect(tokens.verify('good', 'api')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test('stay within the size limit', async () => {
    for (let i = 0; i <= 10_000; i += 1) rows[`t${i}`] = {};
    let lookupCount = 0;
    const tokens = tokensOver(async () => {
      lookupCount += 1;
      return row;
    });
    for (let i = 0; i <= 10_000; i += 1) await tokens.verify(`t${i}`, 'api');
    await tokens.verify('t10000', 'api');
    expect(lookupCount).toBe(10_001);
    await tokens.verify('t0', 'api');
    expect(lookupCount).toBe(10_002);
  });
});

describe('forgetting by', () => {
  test.each([
    [{ agent_id: 'agt_1' }, true],
    [{ client_id: 'client_1' }, true],
    [{ token_id: hashOf('good') }, true],
    [{ agent_id: 'agt_2' }, false],
    [{ token_id: hashOf('other') }, false],
    [{}, false],
  ])('%o', async (revocation, forgotten) => {
    const tokens = tokensOver();
    await tokens.verify('good', 'api');
    tokens.forget(revocation);
    await tokens.verify('good', 'api');
    expect(lookups).toHaveLength(forgotten ? 2 : 1);
  });

  test('a token that was read before its revocation is not cached after it', async () => {
    const answers: ((found: Row | undefined) => void)[] = [];
    const tokens = tokensOver(() => new Promise((resolve) => void answers.push(resolve)));
    const early = tokens.verify('good', 'api');
    tokens.forget({ agent_id: 'agt_1' });
    const late = tokens.verify('good', 'api');
    answers[0]?.(row);
    answers[1]?.(undefined);
    await early;
    await expect(late).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const after = tokens.verify('good', 'api');
    answers[2]?.(undefined);
    await expect(after).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});
