import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import {
  setNotificationAddress,
  setNotificationWebhook,
} from '../../../src/services/notifications/settings.ts';
import { createRemoteInvitation, redeemRemoteInvitation } from '../../../src/services/remote/invitations.ts';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../clients/a2a.ts';
import { runCliJson } from '../../clients/cli.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import {
  createTestSettings,
  startService,
  type TestAgent,
  type TestService,
  useSharedService,
} from '../../support/service.ts';
import { use } from '../../support/use.ts';
import { signInPerson } from '../console/signed-in-person.ts';
import { waitUntil } from '../webhooks/setup.ts';

const shared = useSharedService();
const settings = use(async () => {
  const { env, release } = await createTestSettings('postgres');
  return { env, stop: release };
});
const receiver = use(async () => {
  const started = await startWebhookReceiver({ isDescribed: false });
  return { ...started, stop: started.close };
});

const newKey = () => randomBytes(32).toString('base64');

/** The environment of processes with these keys, the first of which is SECRET_KEY. */
const environment = (key: string, ...fallbacks: string[]) => ({
  SECRET_KEY: key,
  SECRET_KEY_FALLBACKS: fallbacks.join(),
  WEBHOOK_NETWORKS: '127.0.0.0/8',
  REMOTE_NETWORKS: '127.0.0.0/8',
});

/** Starts the processes of the service with these keys, on the one database of this file. */
async function restart(...keys: [string, ...string[]]): Promise<TestService> {
  const kept = { env: settings.env, release: () => Promise.resolve() };
  const service = await startService({ settings: kept, env: environment(...keys) });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return true;
    isStopped = true;
    return service.stop();
  };
  onTestFinished(async () => void (await stop()));
  return { ...service, stop };
}

/** Stores one value in each encrypted column. Returns the secret of a webhook. */
async function storeSecrets(service: TestService, ann: TestAgent, bob: TestAgent): Promise<string> {
  const hook = (
    await service.post(bob, '/webhooks', { url: `${receiver.url}/hook`, event_types: ['message.created'] })
  ).body;
  const { secret } = (await service.post(bob, `/webhooks/${hook.id}/rotate-secret`)).body;
  await storePushConfig(service, ann, bob);
  const { person } = await signInPerson(service);
  await service.write((work) => setNotificationWebhook(work, person.account_id, `${receiver.url}/notices`));
  await service.write((work) => setNotificationAddress(work, person.account_id, 'ada@example.com'));
  // Nothing listens there.
  const card_url = 'http://127.0.0.1:1/card.json';
  const credential = { kind: 'bearer', token: 'a token of another system' };
  expect((await service.post(ann, '/remote-agents', { card_url, credential })).status).toBe(201);
  const invited = await service.write((work) => createRemoteInvitation(work, bob.id, null));
  const introduction = { card_url: 'http://127.0.0.1:1/other.json', token: 'a token of the other side' };
  await service.write((work) =>
    redeemRemoteInvitation(work, invited.address.split('/').at(-1) ?? '', introduction),
  );
  await storeSubscription(service, bob);
  return secret;
}

async function storePushConfig({ url }: TestService, ann: TestAgent, bob: TestAgent): Promise<void> {
  const client = createA2aClient('JSONRPC', a2aAddress(url, bob.handle), ann.token);
  const authentication = { scheme: 'Bearer', credentials: 'a token of the receiver' };
  const taskPushNotificationConfig = { url: `${receiver.url}/push`, token: 'a token', authentication };
  const message = toA2aMessage('When?');
  const sent = await client.call('SendMessage', {
    message,
    configuration: { returnImmediately: true, taskPushNotificationConfig },
  });
  expect(sent.error).toBeUndefined();
}

/** As a client subscribes. Without its challenge. */
async function storeSubscription({ core, sql }: TestService, { id: agent_id }: TestAgent): Promise<void> {
  const id = randomUUID();
  const sealed = core.settings.sealedBox.seal('whsec_AA==', id);
  await sql(
    `insert into event_subscriptions (id, agent_id, client_id, url, event_type, arguments, scopes, dialect, secret, previous_secret,
       previous_secret_until, position, oldest_at, active, next_at, hold_ms, expires_at, created_at)
     values ($1, $2, 'client', $3, 'message.created', '{}', '{}', 'sketch', $4, $4, 0, 0, 0, false, 0, 0, 9e12, 0)`,
    [id, agent_id, `${receiver.url}/events`, sealed],
  );
}

/** Sends a message, and waits until the webhook has it, signed by this secret. */
async function expectSignedDelivery(
  service: TestService,
  from: TestAgent,
  to: TestAgent,
  secret: string,
): Promise<void> {
  const content = randomUUID();
  const body = { with_handle: to.handle, initial_message: content };
  expect((await service.post(from, '/threads', body)).status).toBe(201);
  const isIt = ({ text }: { text: string }) => text.includes(content);
  await waitUntil(() => receiver.postsAt('/hook').some(isIt)).toBe(true);
  const post = receiver.postsAt('/hook').find(isIt);
  expect(() =>
    new Webhook(secret).verify(post?.text ?? '', post?.headers as Record<string, string>),
  ).not.toThrow();
}

const readFeed = async (service: TestService, agent: TestAgent, cursor?: string) =>
  service.get(agent, `/events${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`);

interface Counts {
  column: string;
  reencrypted: number;
  current: number;
  unreadable: number;
}

async function reencrypt(...keys: [string, ...string[]]): Promise<Counts[]> {
  const { columns } = (await runCliJson({ ...settings.env, ...environment(...keys) }, [
    'key',
    'reencrypt',
  ])) as {
    columns: Counts[];
  };
  return columns;
}

test('SECRET_KEY is replaced while tokens, cursors, sessions, signatures and stored secrets stay valid', async () => {
  const [old, next] = [newKey(), newKey()];
  const before = await restart(old);
  const [ann, bob] = [await before.agent({ scopes }), await before.agent({ scopes })];
  const secret = await storeSecrets(before, ann, bob);
  const { cursor } = (await readFeed(before, bob)).body;
  await before.stop();

  // Processes that still sign with the old key, beside some that have the new one: each understands the other.
  const [first, second] = [await restart(old, next), await restart(next, old)];
  const fromSecond = (await readFeed(second, bob, cursor)).body.cursor;
  expect((await readFeed(first, bob, fromSecond)).status).toBe(200);
  await first.stop();
  await expectSignedDelivery(second, ann, bob, secret);

  const columns = await reencrypt(next, old);
  expect(columns.filter(({ reencrypted, unreadable }) => reencrypted === 0 || unreadable > 0)).toEqual([]);
  const again = await reencrypt(next, old);
  expect(again.filter(({ reencrypted }) => reencrypted > 0)).toEqual([]);
  expect(again.map(({ column, current }) => [column, current])).toEqual(
    columns.map(({ column, reencrypted, current }) => [column, reencrypted + current]),
  );
  await second.stop();

  const after = await restart(next);
  await expectSignedDelivery(after, ann, bob, secret);
  expect((await readFeed(after, bob, fromSecond)).status).toBe(200);
  expect((await readFeed(after, bob, cursor)).body.error).toMatchObject({ code: 'INVALID_CURSOR' });
  expect((await reencrypt(newKey())).every(({ current }) => current === 0)).toBe(true);
});

test('every column with encrypted values is encrypted again', async () => {
  const known = await shared.read(async ({ db }) =>
    db.sealedValues.columns.map(({ table, name }) => `${table}.${name}`),
  );
  const rows = await shared.sql<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'bytea' and column_name !~ '(_hash|digest)$'`,
  );
  expect(known.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});
