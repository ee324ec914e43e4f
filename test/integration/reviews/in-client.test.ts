import { expect, onTestFinished, test } from 'vitest';
import { connectElicitingClient, type ElicitationHandler } from '../../clients/mcp/eliciting-client.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import { useService } from '../../support/service.ts';
import { reviewsOf } from './setup.ts';

const service = useService({ worker: false });
const { pair, contents, pending, approve, connectAsPerson } = reviewsOf(service);

async function startTalk(answer: ElicitationHandler, isPerson = true) {
  const [mine, stranger] = await pair('review_strangers');
  const thread_id = await service.thread(stranger, mine);
  const token = await service.token(mine.handle, { audience: 'mcp' });
  if (isPerson) await connectAsPerson(mine, token);
  const client = await connectElicitingClient([service.url], token, { ways: { form: {} }, answer });
  onTestFinished(client.close);
  const send = () => client.call('send_message', { thread_id, content: 'May it *leave*?' });
  return { mine, stranger, thread_id, send, client };
}

test('the person approves in the chat client, and the tool returns the message', async () => {
  const { stranger, thread_id, send, client } = await startTalk(() => ({
    action: 'accept',
    content: { approve: true },
  }));
  const { isError, value } = await send();
  expect([isError, value]).toEqual([false, expect.objectContaining({ thread_id, sequence: 1 })]);
  expect(client.questions[0]?.message).toContain(
    `wants to send this to @${stranger.handle}: "May it ∗leave∗?"`,
  );
  expect(await contents(stranger, thread_id)).toEqual(['May it *leave*?']);
});

test('the person denies in the chat client, and nothing leaves', async () => {
  const { stranger, thread_id, send } = await startTalk(() => ({ action: 'decline' }));
  expect((await send()).error).toMatchObject({ code: 'APPROVAL_DENIED' });
  expect(await contents(stranger, thread_id)).toEqual([]);
});

test('a program with a credential cannot approve in place of a person', async () => {
  const { stranger, thread_id, send, client } = await startTalk(
    () => ({ action: 'accept', content: { approve: true } }),
    false,
  );
  expect((await send()).error).toMatchObject({ code: 'APPROVAL_REQUIRED' });
  expect(client.questions).toEqual([]);
  expect(await contents(stranger, thread_id)).toEqual([]);
});

test('a client that decides nothing gets the address of the page, and the page decides', async () => {
  const { mine, stranger, thread_id, send } = await startTalk(() => ({ action: 'cancel' }));
  expect((await send()).error).toMatchObject({
    code: 'APPROVAL_REQUIRED',
    approval_url: expect.stringContaining('/console/approvals/apr_'),
  });
  await approve((await pending(mine))[0]?.id ?? '');
  expect(await contents(stranger, thread_id)).toEqual(['May it *leave*?']);
});

test('in the revision without sessions the question is an input round', async () => {
  const [mine, stranger] = await pair('review_all');
  const thread_id = await service.thread(stranger, mine);
  const token = await service.token(mine.handle, { audience: 'mcp' });
  await connectAsPerson(mine, token);
  const call = (more: object = {}) =>
    askStateless(service.url, token, {
      method: 'tools/call',
      params: {
        name: 'send_message',
        arguments: { thread_id, content: 'x' },
        ...more,
      },
      capabilities: { elicitation: { form: {} } },
    });
  const { result } = await call();
  expect(result?.['resultType']).toBe('input_required');
  const [[id, question] = []] = Object.entries(Object(result).inputRequests);
  expect(JSON.stringify(question)).toContain(stranger.handle);
  expect(await pending(mine)).toEqual([expect.objectContaining({ id })]);
  const done = await call({
    inputResponses: { [String(id)]: { action: 'accept', content: { approve: true } } },
    requestState: Object(result).requestState,
  });
  expect(Object(done.result).structuredContent).toMatchObject({ thread_id, sequence: 1 });
  expect(await contents(stranger, thread_id)).toEqual(['x']);
});
