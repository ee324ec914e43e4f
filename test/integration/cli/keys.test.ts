import { expect, test } from 'vitest';
import { z } from 'zod';
import { useService } from '../../support/service.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';

const secret = 'the secret of a service for key rotation tests';
const service = useService({ worker: false, env: { SECRET_KEY: secret } });

const env = () => ({ DATABASE_URL: service.core.config.DATABASE_URL, SECRET_KEY: secret });
const published = async () => {
  const answer = await fetch(`${service.url}/.well-known/jwks.json`);
  const { keys } = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) }).parse(await answer.json());
  return keys.map(({ kid }) => kid);
};
const listed = z.object({
  keys: z.array(z.object({ id: z.string(), created_at: z.int(), signs: z.boolean() })),
});

test('a new key signs immediately in running processes; earlier keys stay published until they are removed', async () => {
  const [first] = await published();
  const made = z.object({ id: z.string() }).parse(await runCliJson(env(), ['key', 'rotate']));
  await expect.poll(published).toEqual([made.id, first]);
  const { keys } = listed.parse(await runCliJson(env(), ['key', 'list']));
  expect(keys.map(({ id, signs }) => [id, signs])).toEqual([
    [made.id, true],
    [first, false],
  ]);

  expect(await runCliJson(env(), ['key', 'remove', first ?? ''])).toEqual({ id: first, removed: true });
  await expect.poll(published).toEqual([made.id]);
});

test('the signing key cannot be removed, and an unknown key is an error', async () => {
  const [signing] = await published();
  for (const [id, message] of [
    [signing ?? '', /rotate first/],
    ['nonsense', /No signing key has the id nonsense/],
  ] as const) {
    const { code, err } = await runCli(env(), ['key', 'remove', id]);
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
  }
  expect(await published()).toEqual([signing]);
});

test('two concurrent rotations create two keys, and the newest signs everywhere', async () => {
  await Promise.all([runCliJson(env(), ['key', 'rotate']), runCliJson(env(), ['key', 'rotate'])]);
  const { keys } = listed.parse(await runCliJson(env(), ['key', 'list']));
  expect(keys).toHaveLength(3);
  expect(new Set(keys.map(({ created_at }) => created_at)).size).toBe(3);
  await expect.poll(published).toEqual(keys.map(({ id }) => id));
});

test('with another SECRET_KEY no key is created: running processes could not read it', async () => {
  const before = listed.parse(await runCliJson(env(), ['key', 'list']));
  const wrong = { ...env(), SECRET_KEY: 'another secret that is long enough to be one' };
  const { code, err } = await runCli(wrong, ['key', 'rotate']);
  expect([code, err]).toEqual([1, expect.stringMatching(/SECRET_KEY/)]);
  expect(listed.parse(await runCliJson(env(), ['key', 'list']))).toEqual(before);
});
