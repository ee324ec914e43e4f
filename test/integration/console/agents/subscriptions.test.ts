import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { findForm } from '../../../clients/form-browser.ts';
import { type TestAgent, useService } from '../../../support/service.ts';
import { fillForm, type Owner, signInWithAgent } from '../signed-in-person.ts';
import { use } from '../../../support/use.ts';
import { listen } from '../../../support/servers/listen.ts';

const service = useService({ worker: false, env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
const receiver = use(startReceiver);

/** A receiver that confirms every subscription. */
async function startReceiver() {
  const server = createServer((request, response) => {
    void json(request).then((body) => response.end(JSON.stringify({ challenge: Object(body).challenge })));
  });
  return listen(server);
}

const listOf = ({ id }: Pick<TestAgent, 'id'>) => `/console/agents/${id}/subscriptions`;

/** Subscribes as a client does; returns the id. */
async function subscribe({ mine }: Owner, args: Record<string, unknown> = {}): Promise<string> {
  const token = await service.token(mine.handle, { audience: 'mcp' });
  const delivery = {
    mode: 'webhook',
    url: `http://${receiver.host}/secret-path`,
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  };
  const params = { name: 'message.created', arguments: args, cursor: null, delivery };
  const { result, error } = await askStateless(service.url, token, { method: 'events/subscribe', params });
  expect(error).toBeUndefined();
  return String(result?.['id']);
}

const change = (id: string, set: string, ...values: unknown[]) =>
  service.sql(`update event_subscriptions set ${set} where id = $1`, [id, ...values]);

test('a person sees the subscriptions of their agent, and ends one', async () => {
  const ada = await signInWithAgent(service);
  const list = listOf(ada.mine);
  expect((await ada.go(list)).visibleText).toContain('No subscriptions');
  await subscribe(ada);
  const mentions = await subscribe(ada, { only_mentions: true, with_handle: ada.mine.handle });
  const page = await ada.go(list);
  expect(page.visibleText).toContain(receiver.host);
  expect(page.visibleText).toContain(`Message sent · only with ${ada.mine.handle} · only mentions`);
  expect(page.visibleText).toMatch(/Created just now by a token · ends in .*Nothing delivered yet.*Active/);
  // The path of the address can be a secret.
  expect(page.text).not.toContain('secret-path');
  expect(page.text).not.toContain('whsec_');

  const form = findForm(page, `${list}/end`);
  expect(form.fields).toContainEqual(['subscription_id', mentions]);
  const ended = await ada.send(form);
  expect(ended.visibleText).toContain('Subscription ended.');
  expect(ended.visibleText).not.toContain('only mentions');
  expect((await ada.send(form)).visibleText).toContain('This subscription has already ended.');
  const [entry] = await service.sql(
    `select act, agent_id, account_id from audit_log where about = $1 and act = 'subscription.ended'`,
    [mentions],
  );
  expect(entry).toMatchObject({ agent_id: ada.mine.id });
});

test('the state of a subscription is shown in words', async () => {
  const ada = await signInWithAgent(service);
  const id = await subscribe(ada);
  await change(id, 'last_delivery_at = $2, failed_since = $2, last_error = $3', Date.now(), 'http_5xx');
  const retrying = await ada.go(listOf(ada.mine));
  expect(retrying.visibleText).toMatch(
    /Last delivery just now · failing since just now: the address answered with an error.*Retrying/,
  );
  await change(id, 'active = false, last_error = $2', 'a new kind');
  expect((await ada.go(listOf(ada.mine))).visibleText).toMatch(/the delivery failed.*Paused/);
  await change(id, 'expires_at = $2', Date.now() - 1);
  expect((await ada.go(listOf(ada.mine))).visibleText).toContain('No subscriptions');
});

test('the name of a client is text, and marked as a claim', async () => {
  const ada = await signInWithAgent(service);
  const id = await subscribe(ada);
  const hostile = '\u202E<script>alert(1)</script>"&amp;';
  await service.sql(
    `insert into client_grants (grant_id, account_id, agent_id, client_id, client_name, redirect_host, scopes, created_at, expires_at)
             values ($1, $2, $3, 'app', $4, 'app.example', '{threads:read}', 1, $5)`,
    [`grt_${id}`, ada.person.account_id, ada.mine.id, hostile, Date.now() + 60_000],
  );
  await change(id, `grant_id = $2, client_id = 'app'`, `grt_${id}`);
  const page = await ada.go(listOf(ada.mine));
  expect(page.text).not.toContain('<script>alert');
  expect(page.visibleText).toContain('by an app that claims to be \u202E<script>alert(1)</script>"&amp;');
});

test('only who can act as the agent sees and ends its subscriptions', async () => {
  const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
  const id = await subscribe(ada);
  expect((await eve.go(listOf(ada.mine))).status).toBe(404);
  const own = await eve.go(listOf(eve.mine));
  const fields = { subscription_id: id };
  expect((await eve.send(fillForm(own, `${listOf(ada.mine)}/end`, fields))).status).toBe(404);
  // A subscription of another agent is like one that has ended.
  const answer = await eve.send(fillForm(own, `${listOf(eve.mine)}/end`, fields));
  expect(answer.visibleText).toContain('This subscription has already ended.');
  expect((await ada.go(listOf(ada.mine))).visibleText).toContain(receiver.host);
});
