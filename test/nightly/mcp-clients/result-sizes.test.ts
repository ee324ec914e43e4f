import { expect, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { callToolRaw, postRawMessage } from '../../clients/mcp/client.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import { startService } from '../../support/service.ts';

/** Counts o200k tokens; without the tokenizer of another package, a quarter of the bytes. */
async function createCounter(): Promise<{ unit: string; count(text: string): number }> {
  try {
    const [{ Tiktoken }, { default: ranks }] = await Promise.all([
      import('js-tiktoken/lite'),
      import('js-tiktoken/ranks/o200k_base'),
    ]);
    const encoder = new Tiktoken(ranks);
    return { unit: 'o200k tokens', count: (text) => encoder.encode(text).length };
  } catch {
    return { unit: 'bytes / 4', count: (text) => Math.ceil(Buffer.byteLength(text) / 4) };
  }
}

const paragraph =
  'The shipment of order 1042 left our warehouse this morning. It should arrive on Thursday before noon; the driver calls half an hour ahead. If no person is there, the parcel goes to the shop at the corner, which is open until eight. ';

test('typical results are small, and the short form is less than half of the full one', async () => {
  const service = await startService();
  const reader = await service.agent();
  const writers = await Promise.all(Array.from({ length: 5 }, () => service.agent()));
  const token = await service.token(reader.handle, { audience: 'mcp', scopes: [...scopes] });
  const post = async (from: { token: string }, path: string, body: object) => {
    const { status, body: answer } = await service.post(from, path, body);
    expect(status).toBe(201);
    return answer;
  };
  // Agents of one owner are contacts.
  const [owner] = reader.handle.split('.');
  for (const name of ['billing', 'support', 'sales', 'press', 'stock'])
    await service.register({ handle: `${owner}.${name}`, visibility: 'public', inbound_policy: 'open' });
  const threads: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    const writer = writers[index % writers.length] ?? reader;
    const metadata = { reason: 'A customer asks about an order.', order: 1_042 + index };
    const { id } = await post(writer, '/threads', {
      participants: [reader.handle],
      subject: `Order ${1_042 + index}`,
      metadata,
    });
    threads.push(String(id));
    const content = paragraph.repeat(index % 3 === 0 ? 4 : 1);
    await post(writer, `/threads/${id}/messages`, { content, metadata: { order: 1_042 + index } });
  }
  const [first = ''] = threads;
  const [writer = reader] = writers;
  for (let index = 0; index < 19; index += 1)
    await post(index % 2 === 0 ? reader : writer, `/threads/${first}/messages`, { content: paragraph });

  const { unit, count } = await createCounter();
  const rows = new Map<string, { bytes: number; tokens: number }>();
  const measure = (name: string, text: string) =>
    rows.set(name, { bytes: Buffer.byteLength(text), tokens: count(text) });
  const call = async (row: string, name: string, args: object) => {
    const { text, isError, value } = await callToolRaw(service.url, token, name, args);
    expect(isError, text).toBe(false);
    measure(row, text);
    return value;
  };
  await call('whoami', 'whoami', {});
  await call('list_threads (20)', 'list_threads', {});
  await call('get_thread (20 messages)', 'get_thread', { thread_id: first });
  await expect
    .poll(
      async () => (await call('search_messages (20)', 'search_messages', { query: 'warehouse' }))['results'],
    )
    .toHaveLength(20);
  await call('wait_for_events (40)', 'wait_for_events', { cursor: 'earliest', wait_seconds: 0, limit: 40 });
  await call('send_message', 'send_message', { thread_id: first, content: paragraph });
  await call('create_thread', 'create_thread', {
    with_handle: writer.handle,
    subject: 'Order 2000',
    initial_message: paragraph,
  });
  await call('ask (no reply yet)', 'ask', { thread_id: first, content: paragraph, wait_seconds: 0 });
  await call('list_contacts (5)', 'list_contacts', {});
  await service.put(reader, '/inbox', { from: 'earliest' });
  await call('claim_messages (10)', 'claim_messages', { max: 10 });
  const list = await postRawMessage(service.url, token, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  measure('tools/list (2025-11-25)', JSON.stringify(Object(list.json).result));
  measure(
    'tools/list (2026-07-28)',
    JSON.stringify((await askStateless(service.url, token, { method: 'tools/list' })).result),
  );
  // The last line of the test: a table for docs and releases.
  console.table(
    Object.fromEntries([...rows].map(([name, { bytes, tokens }]) => [name, { bytes, [unit]: tokens }])),
  );

  const full = { detail: 'full' };
  await call('full list', 'list_threads', full);
  await call('full search', 'search_messages', { query: 'warehouse', ...full });
  await call('full wait', 'wait_for_events', { cursor: 'earliest', wait_seconds: 0, limit: 40, ...full });
  const ratio = (short: string, whole: string) =>
    (rows.get(short)?.bytes ?? 0) / (rows.get(whole)?.bytes ?? 1);
  expect(ratio('list_threads (20)', 'full list')).toBeLessThan(0.6);
  expect(ratio('search_messages (20)', 'full search')).toBeLessThan(0.6);
  expect(ratio('wait_for_events (40)', 'full wait')).toBeLessThan(0.6);
  await service.stop();
});
