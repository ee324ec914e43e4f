import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { connectElicitingClient } from '../../clients/mcp/eliciting-client.ts';
import { useMcpPair } from './instance.ts';
import { stopAfterTest } from '../../support/use.ts';

const [first, second] = useMcpPair();

async function connected(handle: string) {
  const token = await first.token(handle);
  return stopAfterTest(await connectElicitingClient([first.url, second.url], token, { ways: { form: {} } }));
}

test('prompts are listed, filled in, and completed from the contacts of the caller', async () => {
  const { client } = await connected('prompts.agent');
  await first.token('prompts.sibling');
  await client.callTool({ name: 'request_contact', arguments: { handle: 'prompts.sibling' } });
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(['catch_up', 'write_to']);
  const { messages } = await client.getPrompt({ name: 'catch_up' });
  expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
  expect(JSON.stringify(messages)).toContain('list_threads with unread true');
  const promptArguments = { handle: 'ada.desk', about: 'the meeting on Monday' };
  const filled = await client.getPrompt({ name: 'write_to', arguments: promptArguments });
  expect(JSON.stringify(filled.messages)).toContain('ada.desk: the meeting on Monday');

  const ref = { type: 'ref/prompt' as const, name: 'write_to' };
  const completed = async (name: string, value: string) =>
    (await client.complete({ ref, argument: { name, value } })).completion.values;
  const { contacts } = Object(
    (await client.callTool({ name: 'list_contacts', arguments: {} })).structuredContent,
  );
  const handles = contacts.map((contact: { canonical_handle: string }) => contact.canonical_handle);
  expect(await completed('handle', 'prom')).toEqual(handles);
  expect(await completed('handle', 'missing')).toEqual([]);
  await expect(completed('about', '')).rejects.toMatchObject({ code: -32_602 });
  for (const wrong of [{ name: 'nothing' }, { name: 'write_to', arguments: { handle: 'ada.desk' } }]) {
    await expect(client.getPrompt(wrong)).rejects.toMatchObject({ code: -32_602 });
  }
});

test('a session that asked for the log is told that its call waits, by whichever process; others are not', async () => {
  await first.token('far.stranger');
  const { client, questions, call } = await connected('log.agent');
  const heard: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params));
  let callCount = 0;
  const ask = () => {
    callCount += 1;
    return call('request_contact', { handle: 'far.stranger' });
  };
  const { error } = await ask();
  expect(error).toMatchObject({ code: 'APPROVAL_REQUIRED' });
  expect(heard).toEqual([]);
  await client.setLoggingLevel('warning');
  await ask();
  expect(heard).toEqual([]);
  await client.setLoggingLevel('info');
  const { approval_id, approval_url } = error;
  const waits = { level: 'info', logger: 'approvals', data: { approval_id, approval_url } };
  // The client sends its requests to both processes in turn.
  await ask();
  await ask();
  expect(heard).toMatchObject([waits, waits]);
  expect(questions).toHaveLength(callCount);
});

test('a level of severity needs a session, and has to be one', async () => {
  const token = await first.token('log.sessionless');
  const set = async (level: string) =>
    readRpcResult(
      await postRawMessage(first.url, token, {
        jsonrpc: '2.0',
        id: 1,
        method: 'logging/setLevel',
        params: { level },
      }),
    ).error?.code;
  expect(await set('info')).toBe(-32_000);
  expect(await set('loud')).toBe(-32_602);
});
