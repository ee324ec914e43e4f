import { expect, test } from 'vitest';
import { ApprovalRequiredError, createClient } from '../../../packages/client/src/main.ts';
import { fakeService } from '../../../packages/client/src/testing/main.ts';
import { stopAfterTest } from '../../support/use.ts';

async function startAsking() {
  const service = stopAfterTest(await fakeService());
  const asker = service.agent('acme.asker');
  const other = service.agent('globex.other');
  const scopes = ['contacts:read', 'approvals:write'];
  const decider = service.agent('acme.decider', { scopes });
  const [asAsker, asOther, asDecider] = [asker, other, decider].map(({ token }) =>
    createClient({ url: service.url, auth: token }),
  );
  if (!asAsker || !asOther || !asDecider) throw new Error('no clients');
  const target = other.handle;
  const subject = { action: 'request_contact', target, message: 'May I?' } as const;
  return { service, asAsker, asOther, asDecider, subject };
}

test('a person approves: the call runs, and the agent that waits gets the result', async () => {
  const { service, asAsker, asOther, asDecider, subject } = await startAsking();
  const { id } = service.requestApproval('acme.asker', subject);
  const resolved = (async () => {
    for await (const event of asAsker.events()) if (event.type === 'approval.resolved') return event.data;
    return undefined;
  })();
  await service.decideApproval(id, 'approved');
  expect(await resolved).toMatchObject({
    approval_id: id,
    decision: 'approved',
    decided_via: 'page',
    result: { message: 'May I?', status: 'pending' },
  });
  const { requests } = await asOther.contacts.listRequests().page();
  expect(requests).toMatchObject([{ from: { canonical_handle: 'acme.asker' }, message: 'May I?' }]);
  const { approvals } = await asDecider.approvals.list().page();
  expect(approvals).toMatchObject([{ id, state: 'approved', decided_by: 'acme', decided_via: 'page' }]);
});

test('an approval expires when the clock moves, and can then be requested again', async () => {
  const { service, asDecider, subject } = await startAsking();
  const { id } = service.requestApproval('acme.asker', subject);
  expect(service.requestApproval('acme.asker', subject).id).toBe(id);
  service.clock.advance(24 * 3_600_000);
  await expect(service.decideApproval(id, 'approved')).rejects.toThrow('already expired');
  const { id: second } = service.requestApproval('acme.asker', subject);
  const { approvals } = await asDecider.approvals.list().page();
  expect(approvals.map((one) => [one.id, one.state])).toEqual([
    [second, 'pending'],
    [id, 'expired'],
  ]);
});

test('a test that names what does not exist or needs no approval is told', async () => {
  const { service, subject } = await startAsking();
  const request = (target: string) => service.requestApproval('acme.asker', { ...subject, target });
  expect(() => request('no.body')).toThrow('the fake service has no agent no.body');
  expect(() => request('acme.decider')).toThrow('need no approval');
  await expect(service.decideApproval('apr_1', 'denied')).rejects.toThrow('has no approval');
});

test('messages of an agent with an outgoing policy wait for a person, and a repeated call gets the result', async () => {
  const { service, asAsker, asOther } = await startAsking();
  service.setOutgoingPolicy('acme.asker', 'review_strangers');
  const { id: thread_id } = await asOther.threads.create({ with_handle: 'acme.asker' });
  const send = (content: string) =>
    asAsker.messages.send({ thread_id, content }, { idempotencyKey: content });
  const contents = async () => {
    const { messages } = await asOther.messages.list({ thread_id, order: 'asc' }).page();
    return messages.map(({ content }) => content);
  };
  const held = async (content: string): Promise<string> => {
    const error: unknown = await send(content).catch((thrown: unknown) => thrown);
    if (error instanceof ApprovalRequiredError) return error.approval?.id ?? '';
    throw error;
  };
  const first = await held('First');
  expect(await held('First')).toBe(first);
  expect(await contents()).toEqual([]);
  await service.decideApproval(first, 'denied', 'Not yet.');
  await expect(held('First')).rejects.toMatchObject({
    code: 'APPROVAL_DENIED',
    message: expect.stringContaining('Not yet.'),
  });
  const second = await held('Second');
  await service.decideApproval(second, 'approved');
  expect(await contents()).toEqual(['Second']);
  expect(await send('Second')).toMatchObject({ content: 'Second', sequence: 1 });
  // To review_strangers, the other agent is none any more in this thread.
  await send('Third');
  service.setOutgoingPolicy('acme.asker', 'review_all');
  expect(await held('Fourth')).toMatch(/^apr_/);
  expect(await contents()).toEqual(['Second', 'Third']);
});

test('the item of a reply is held for its review, and is ready again after a denial', async () => {
  const { service, asAsker, asOther } = await startAsking();
  service.setOutgoingPolicy('acme.asker', 'review_all');
  await asAsker.inbox.set({ lease_seconds: 60 });
  const { id: thread_id } = await asOther.threads.create({ with_handle: 'acme.asker' });
  await asOther.messages.send({ thread_id, content: 'A question' });
  const [lease] = (await asAsker.inbox.claimMessages({})).leases;
  const reply = asAsker.inbox.acknowledgeMessage({ lease_id: lease?.id ?? '', reply: 'An answer' });
  const error: unknown = await reply.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApprovalRequiredError);
  service.clock.advance(120_000);
  expect(await asAsker.inbox.get()).toMatchObject({ leased: 0, in_review: 1, ready: 0 });
  const id = error instanceof ApprovalRequiredError ? error.approval?.id : undefined;
  await service.decideApproval(id ?? '', 'denied', 'Too short.');
  expect(await asAsker.inbox.get()).toMatchObject({ leased: 0, in_review: 0, ready: 1 });
});
