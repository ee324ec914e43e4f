import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../clients/rest.ts';
import { waitUntil, useWebhooks } from './setup.ts';

const setup = useWebhooks();

const url = 'https://receiver.example.com/events';

describe('a webhook', () => {
  test('is created, read, changed and removed', async () => {
    const bob = await setup.agent();
    const created = await setup.call('POST', '/webhooks', bob.token, {
      url,
      event_types: ['message.created', 'contact.request'],
      description: 'Wakes me up.',
      only_when_offline: true,
    });
    const { secret, ...webhook } = created.body;
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(`http://localhost:3000/v1/webhooks/${webhook.id}`);
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_/),
      url,
      event_types: ['message.created', 'contact.request'],
      description: 'Wakes me up.',
      only_when_offline: true,
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      previous_secret_until: null,
      created_at: expect.any(Number),
      updated_at: webhook.created_at,
    });
    const plain = (await setup.call('POST', '/webhooks', bob.token, { url })).body;
    expect(plain).toMatchObject({ event_types: null, description: '', only_when_offline: false });
    const list = await setup.call('GET', '/webhooks', bob.token);
    expect(list.body.webhooks.map(({ id }: { id: string }) => id)).toEqual([webhook.id, plain.id]);
    expect(list.text).not.toContain('whsec_');
    expect((await setup.call('GET', `/webhooks/${webhook.id}`, bob.token)).body).toEqual(webhook);

    const changes = {
      url: `${url}/2`,
      event_types: null,
      description: '',
      only_when_offline: false,
      enabled: false,
    };
    const changed = await setup.call('PATCH', `/webhooks/${webhook.id}`, bob.token, changes);
    expect(changed.body).toEqual({
      ...webhook,
      ...changes,
      disabled_reason: 'by_request',
      disabled_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    const untouched = await setup.call('PATCH', `/webhooks/${webhook.id}`, bob.token, { description: 'x' });
    expect(untouched.body).toMatchObject({ enabled: false, disabled_at: changed.body.disabled_at });

    expect((await setup.call('DELETE', `/webhooks/${webhook.id}`, bob.token)).status).toBe(204);
    expect((await setup.call('GET', `/webhooks/${webhook.id}`, bob.token)).status).toBe(404);
  });

  test('is one of at most ten, also with concurrent calls', async () => {
    const bob = await setup.agent();
    const created = await Promise.all(
      Array.from({ length: 13 }, () => setup.call('POST', '/webhooks', bob.token, { url })),
    );
    const statuses = created.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 403, 403, 403]);
  });

  test.each([
    ['http://receiver.example.com', 'url', undefined],
    ['http://receiver.example.com:0', 'url', 'must not have the port 0'],
    ['https://receiver.example.com:0/', 'url', 'must not have the port 0'],
    ['https:receiver.example.com', 'url', 'must start with https:// and a host'],
    ['https:/receiver.example.com', 'url', 'must start with https:// and a host'],
    ['https:///receiver.example.com', 'url', 'must start with https:// and a host'],
    [' https://a.example/ ', 'url', 'must not contain spaces, backslashes or control characters'],
    ['https://a.example/ x', 'url', 'must not contain spaces, backslashes or control characters'],
    ['https://a.example/\t', 'url', 'must not contain spaces, backslashes or control characters'],
    [
      String.raw`https://a.example\@evil/`,
      'url',
      'must not contain spaces, backslashes or control characters',
    ],
    ['ftp://receiver.example.com', 'url', 'must be an address that starts with https://'],
    ['receiver.example.com', 'url', 'must be an address that starts with https://'],
    ['', 'url', 'must have at least 1 character'],
    [`https://receiver.example.com/${'x'.repeat(2048)}`, 'url', 'must have at most 2,048 characters'],
    ['https://ann:secret@receiver.example.com', 'url', 'must hold no user name and no password'],
    ['https://receiver.example.com/#x', 'url', 'must have no fragment'],
    ['http://93.184.216.34/', 'url', 'must lead to a public address'],
    ['https://10.0.0.1/', 'url', 'must lead to a public address'],
    ['https://169.254.169.254/latest', 'url', 'must lead to a public address'],
    ['https://[::ffff:10.0.0.1]/', 'url', 'must lead to a public address'],
    ['https://0x0a000001/', 'url', 'must lead to a public address'],
  ])('is refused for %s', async (wrong, field, message) => {
    const bob = await setup.agent();
    const answer = await setup.call('POST', '/webhooks', bob.token, { url: wrong });
    if (message === undefined) {
      // A name can resolve to an address where http is allowed, so it is checked at delivery.
      expect(answer.status).toBe(201);
      return;
    }
    expect([answer.status, answer.body.error.details]).toEqual([400, [{ field, message }]]);
  });

  test.each([
    [{ event_types: ['message.created', 'message.created'] }, 'event_types'],
    [{ event_types: ['message.sung'] }, 'event_types.0'],
  ])('is refused with %o', async (wrong, field) => {
    const bob = await setup.agent();
    const answer = await setup.call('POST', '/webhooks', bob.token, { url, ...wrong });
    expect([answer.status, answer.body.error.details[0].field]).toEqual([400, field]);
  });
});

describe('its secret', () => {
  test('is returned again for the same key, and is not stored in plain text', async () => {
    const bob = await setup.agent();
    const key = randomUUID();
    const first = await setup.call('POST', '/webhooks', bob.token, { url }, key);
    const second = await setup.call('POST', '/webhooks', bob.token, { url }, key);
    expect([second.status, second.headers.get('idempotency-replayed'), second.text]).toEqual([
      201,
      'true',
      first.text,
    ]);
    const other = await setup.call('POST', '/webhooks', bob.token, { url: `${url}/2` }, key);
    expect(other.status).toBe(422);
    expect((await setup.call('GET', '/webhooks', bob.token)).body.webhooks).toHaveLength(1);
    const path = `/webhooks/${first.body.id}/rotate-secret`;
    const rotation = randomUUID();
    const rotated = await setup.call('POST', path, bob.token, undefined, rotation);
    expect((await setup.call('POST', path, bob.token, undefined, rotation)).body).toEqual(rotated.body);
    const stored = await setup.core.database.query<{ row: string }>(
      {
        text: `select k::text || convert_from(k.answer::bytea, 'latin1') as row from idempotency_keys k
               union all select w::text from webhooks w where w.id = $1`,
      },
      [first.body.id],
    );
    const rows = stored.map(({ row }) => row).join();
    expect(rows).toContain(url);
    for (const { secret } of [first.body, rotated.body]) {
      const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
      expect(rows).not.toContain(secret.slice('whsec_'.length, -2));
      expect(rows).not.toContain(bytes.toString('hex'));
    }
  });
});

describe('rights', () => {
  test('a webhook gets only events that the token may see', async () => {
    const bob = await setup.agent();
    const narrow = await setup.token(bob.handle, ['agents:write', 'contacts:read']);
    const wide = await setup.webhook(bob, { event_types: ['message.created'] });
    const open = await setup.webhook(bob);
    const refused = [
      await setup.call('POST', '/webhooks', narrow, { url, event_types: ['message.created'] }),
      await setup.call('PATCH', `/webhooks/${open.id}`, narrow, { event_types: ['message.created'] }),
      // Another URL for events that the token may not read.
      await setup.call('PATCH', `/webhooks/${wide.id}`, narrow, { url }),
    ];
    for (const answer of refused) {
      expect(outcomeOf(answer)).toBe('403 INSUFFICIENT_SCOPE');
      expect(answer.headers.get('www-authenticate')).toContain('scope="threads:read"');
    }
    // A webhook for every type gets only the visible events.
    const moved = await setup.call('PATCH', `/webhooks/${open.id}`, narrow, {
      url: `${setup.receiver.url}/moved`,
    });
    expect(moved.status).toBe(200);
    const { from } = await setup.sendMessageTo(bob);
    await setup.call('POST', '/contacts/requests', from.token, { handle: bob.handle });
    await waitUntil(() => setup.receiver.postsAt(wide.path).length).toBe(1);
    await waitUntil(() => setup.receiver.postsAt('/moved').map(({ json }) => json.type)).toEqual([
      'contact.request',
    ]);
  });

  test('a new address with fewer rights gets neither pending events nor replays that its token may not see', async () => {
    const bob = await setup.agent();
    const narrow = await setup.token(bob.handle, ['agents:write', 'contacts:read']);
    const webhook = await setup.webhook(bob);
    const { from } = await setup.sendMessageTo(bob);
    const listMessages = async () =>
      (await setup.deliveries(bob, webhook)).filter(({ event_type }) => event_type === 'message.created');
    await waitUntil(listMessages).toMatchObject([{ state: 'delivered' }]);
    const moved = await setup.call('PATCH', `/webhooks/${webhook.id}`, narrow, {
      url: `${setup.receiver.url}/narrow`,
    });
    expect(moved.status).toBe(200);
    for (const { id } of await listMessages())
      await setup.call('POST', `/webhooks/${webhook.id}/deliveries/${id}/replay`, narrow);
    await setup.call('POST', '/contacts/requests', from.token, { handle: bob.handle });
    await waitUntil(listMessages).toMatchObject([{ state: 'skipped' }]);
    await waitUntil(() => setup.receiver.postsAt('/narrow').map(({ json }) => json.type)).toEqual([
      'contact.request',
    ]);
  });

  test('the webhooks of a retired agent end', async () => {
    const bob = await setup.agent();
    const webhook = await setup.webhook(bob);
    setup.receiver.setHandler((response) => void response.writeHead(503).end());
    await setup.sendMessageTo(bob);
    await waitUntil(() => setup.receiver.postsAt(webhook.path).length).toBeGreaterThan(0);
    expect((await setup.call('DELETE', `/agents/${bob.id}`, bob.token)).status).toBe(204);
    const { webhooks, webhookDeliveries } = setup.core.db;
    expect(await webhooks.find(webhook.id)).toBeUndefined();
    const left = await webhookDeliveries.list(webhook.id, { before: null, state: 'pending', limit: 10 });
    expect(left).toEqual([]);
    setup.receiver.setHandler((response) => void response.writeHead(204).end());
  });
});
