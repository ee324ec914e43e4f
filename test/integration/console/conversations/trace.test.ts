import { expect, test } from 'vitest';
import { foreignScripts } from '../../../clients/form-browser.ts';
import { inboxOf } from '../../inbox/setup.ts';
import { useSharedService } from '../../../support/service.ts';
import { signInPerson, signInWithAgent } from '../signed-in-person.ts';
import { listMessages, sendTo, startThread } from './conversation-fixtures.ts';

const service = useSharedService();

const traceOf = ({ id, thread_id }: { id: string; thread_id: string }) =>
  `/console/conversations/${thread_id}/messages/${id}`;

test('shows the time since the question, the size and the metadata, and nothing of it is markup', async () => {
  const ada = await signInWithAgent(service);
  const other = await service.agent();
  const id = await startThread(service, other, [ada.mine]);
  const [question] = await listMessages(service, other, id);
  const hostile = '</pre><script>alert(1)</script>';
  const answer = await sendTo(service, ada.mine, id, 'x'.repeat(400), {
    reply_to: question.id,
    metadata: { model: hostile, tokens: 17 },
  });
  await service.sql('update messages set created_at = created_at + 83500 where id = $1', [answer.id]);
  const page = await ada.go(traceOf(answer));
  expect(page.visibleText).toMatch(/After the question1 min 2\d s after message 1 of @/);
  expect(page.visibleText).toContain('400 bytes, about 100 tokens');
  expect(page.visibleText).toMatch(/"tokens": 17/);
  expect(page.visibleText).toContain(hostile);
  expect(foreignScripts(page)).toEqual([]);
  const conversation = await ada.go(`/console/conversations/${id}`);
  expect(conversation.links).toContain(traceOf(answer));
});

test('shows the lease, its holder and failed attempts, and deliveries to webhooks, to the people of the agent only', async () => {
  const [ada, bob] = [await signInWithAgent(service), await signInWithAgent(service)];
  const inbox = inboxOf(service.api, ada.mine);
  await inbox.turnOn({ lease_seconds: 600 });
  const token = await service.token(ada.mine.handle, { scopes: ['agents:write', 'threads:read'] });
  const { body: webhook } = await service.post({ token }, '/webhooks', { url: 'https://receiver.example/a' });
  const id = await service.thread(bob.mine, ada.mine);
  const sent = await sendTo(service, bob.mine, id, 'Do it');
  const [lease] = await inbox.leases({ consumer: 'worker-<b>7</b>' });
  await inbox.release(lease?.id ?? '', { reason: 'No paper' });
  await inbox.leases({ consumer: 'worker-8' });
  await service.sql(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, attempts, last_status, last_error, created_at)
     select $1, event_id, event_type, number, 'failed', 3, 503, 'Service Unavailable', updated_at from inbox_items
     where agent_id = $2 and event_type = 'message.created'`,
    [webhook.id, ada.mine.id],
  );
  const own = await ada.go(traceOf(sent));
  expect(own.visibleText).toMatch(
    /Inbox@.*2 attempts · held by worker-8 · until.*Attempt 1 was released.*by worker-<b>7<\/b>: No paper/,
  );
  expect(own.visibleText).toMatch(/Webhooksreceiver\.example.*3 attempts · status 503 · Service Unavailable/);
  const theirs = await bob.go(traceOf(sent));
  expect(theirs.status).toBe(200);
  expect(theirs.text).not.toMatch(/worker|receiver|503|attempt/);
});

test('of a message of others, and of one that does not exist, is the same', async () => {
  const eve = await signInPerson(service);
  const [one, two] = [await service.agent(), await service.agent()];
  const mine = await eve.agent();
  const own = await service.thread(mine, one);
  const sent = await sendTo(service, one, await service.thread(one, two), 'Hidden words');
  for (const wanted of [sent, { id: 'msg_0', thread_id: own }, { id: sent.id, thread_id: own }]) {
    const page = await eve.go(traceOf(wanted));
    expect([page.status, page.text.includes('Hidden words')]).toEqual([404, false]);
  }
});
