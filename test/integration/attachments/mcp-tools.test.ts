import { beforeAll, expect, test } from 'vitest';
import {
  waitForScan,
  startAttachmentService,
  sampleText,
  openThread,
  sendMessage,
  reachable,
} from './setup.ts';
import type { TestAgent } from '../../support/service.ts';
import { use } from '../../support/use.ts';

const service = use(startAttachmentService);
let ada: TestAgent;
let bob: TestAgent;
const tokens = new Map<string, string>();

beforeAll(async () => {
  [ada, bob] = [await service.agent(), await service.agent()];
  for (const { id, handle } of [ada, bob]) tokens.set(id, await service.token(handle, { audience: 'mcp' }));
});

async function call(agent: TestAgent, method: string, params: object) {
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tokens.get(agent.id)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()).result;
}

/** Calls a tool and returns its result or its error. */
async function tool(agent: TestAgent, name: string, args: object) {
  const result = await call(agent, 'tools/call', { name, arguments: args });
  return JSON.parse(result.content[0].text);
}

test('a text is uploaded, and the other agent reads its preview', async () => {
  const text = `${'é'.repeat(1_500)} and so on`;
  const content = Buffer.from(text).toString('base64');
  const args = { filename: 'notes.md', content, idempotency_key: 'k-1' };
  const file = await tool(ada, 'upload_attachment', args);
  expect(file).toMatchObject({ content_type: 'text/markdown', scan_status: 'pending' });
  expect(await tool(ada, 'upload_attachment', args)).toEqual(file);
  const { error } = await tool(ada, 'upload_attachment', { ...args, filename: 'other.md' });
  expect(error.code).toBe('IDEMPOTENCY_MISMATCH');
  const thread = await openThread(service, ada, bob);
  expect((await sendMessage(service, ada, thread, [file.id])).status).toBe(201);
  await waitForScan(service, bob, file.id);
  const { attachment, preview, download } = await tool(bob, 'get_attachment', { attachment_id: file.id });
  expect(attachment).toMatchObject({ id: file.id, scan_status: 'clean' });
  expect(preview).toBe('é'.repeat(1_024));
  expect(await (await fetch(reachable(service, download.url))).text()).toBe(text);
  const shown = await tool(bob, 'get_thread', { thread_id: thread });
  expect(shown.messages[0].attachments).toMatchObject([{ id: file.id }]);
  const { contents } = await call(bob, 'resources/read', { uri: `service://threads/${thread}` });
  expect(JSON.parse(contents[0].text).messages[0].attachments).toMatchObject([{ id: file.id }]);
});

test('a file of exactly 1 MiB fits in the arguments of a call', async () => {
  const bytes = Buffer.alloc(1_048_576, 'x');
  const file = await tool(ada, 'upload_attachment', { filename: 'a.txt', content: bytes.toString('base64') });
  expect(file).toMatchObject({ size_bytes: 1_048_576, content_type: 'text/plain' });
});

test('a larger file is announced, uploaded and completed', async () => {
  const args = { filename: 'a.csv', content_type: 'text/csv', size: sampleText.length };
  const { attachment_id, upload } = await tool(ada, 'request_upload_url', args);
  const early = await tool(ada, 'complete_upload', { attachment_id });
  expect(early.error).toMatchObject({ code: 'ATTACHMENT_NOT_READY', retry_after: 1 });
  const { method, headers } = upload;
  const put = await fetch(reachable(service, upload.url), { method, headers, body: sampleText });
  expect(put.status).toBe(200);
  expect(await tool(bob, 'complete_upload', { attachment_id })).toMatchObject({
    error: { code: 'ATTACHMENT_NOT_FOUND' },
  });
  expect(await tool(ada, 'complete_upload', { attachment_id })).toMatchObject({ id: attachment_id });
});

test('the uploaded file must match the announcement', async () => {
  const size = sampleText.length;
  for (const promised of [
    { filename: 'a.png', content_type: 'image/png', size },
    { filename: 'a.txt', content_type: 'text/plain', size, sha256: '0'.repeat(64) },
  ]) {
    const { attachment_id, upload } = await tool(ada, 'request_upload_url', promised);
    const { method, headers } = upload;
    await fetch(reachable(service, upload.url), { method, headers, body: sampleText });
    const { error } = await tool(ada, 'complete_upload', { attachment_id });
    expect(error.code).toBe('sha256' in promised ? 'VALIDATION_ERROR' : 'UNSUPPORTED_MEDIA_TYPE');
  }
});

test.each([
  ['invalid base64', { filename: 'a', content: '***' }, 'VALIDATION_ERROR'],
  ['an empty file', { filename: 'a', content: '' }, 'VALIDATION_ERROR'],
  [
    'more than 1 MiB',
    { filename: 'a', content: Buffer.alloc(1_048_577).toString('base64') },
    'VALIDATION_ERROR',
  ],
  [
    'a false content type',
    { filename: 'a.png', content: 'aGVsbG8=', content_type: 'image/png' },
    'UNSUPPORTED_MEDIA_TYPE',
  ],
])('%s is refused', async (_, args, code) => {
  expect((await tool(ada, 'upload_attachment', args)).error.code).toBe(code);
});

test.each([
  [
    'a file over the limit',
    { filename: 'a', content_type: 'text/plain', size: 10_485_761 },
    'ATTACHMENT_TOO_LARGE',
  ],
  ['a type that is none', { filename: 'a', content_type: 'html', size: 1 }, 'VALIDATION_ERROR'],
])('no upload URL is issued for %s', async (_, args, code) => {
  expect((await tool(ada, 'request_upload_url', args)).error.code).toBe(code);
});

test('a file of another agent does not exist for the caller', async () => {
  const file = await tool(ada, 'upload_attachment', { filename: 'a.txt', content: 'aGVsbG8=' });
  const { error } = await tool(bob, 'get_attachment', { attachment_id: file.id });
  expect(error.code).toBe('ATTACHMENT_NOT_FOUND');
});
