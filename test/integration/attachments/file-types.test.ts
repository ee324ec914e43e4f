import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestAgent } from '../../support/service.ts';
import { createTestBucket, missingS3Reason } from '../../support/servers/s3.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import {
  type AttachmentService,
  buildPart,
  closingBoundary,
  fetchContent,
  multipartType,
  reachable,
  sampleText,
  startAttachmentService,
  upload,
  type UploadFile,
  waitForScan,
} from './setup.ts';

const page = Buffer.from('<!doctype html><script>fetch("/v1/agents/me")</script>');
const svg = Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Uploads a file, waits until it is clean, and fetches it. */
async function exchange(service: AttachmentService, agent: TestAgent, file: UploadFile) {
  const { status, body, text } = await upload(service, agent, file);
  expect(status, text).toBe(201);
  expect(await waitForScan(service, agent, body.id)).toMatchObject({ scan_status: 'clean' });
  const content = await fetchContent(service, agent, body.id);
  return { record: body, content, bytes: Buffer.from(await content.arrayBuffer()) };
}

function expectInert({ headers }: Response, filename: string): void {
  expect(headers.get('content-type')).toBe('application/octet-stream');
  expect(headers.get('content-disposition')).toBe(`attachment; filename=${filename}`);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
}

async function callTool(service: AttachmentService, token: string, name: string, args: object) {
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  });
  const { result } = await response.json();
  return JSON.parse(result.content[0].text);
}

describe('all file types are accepted', () => {
  let service: AttachmentService;
  let ada: TestAgent;
  let mcpToken: string;
  beforeAll(async () => {
    service = await startAttachmentService();
    ada = await service.agent();
    mcpToken = await service.token(ada.handle, { audience: 'mcp' });
  });
  afterAll(() => service.stop());

  test.each<[string, string | null, Buffer, string]>([
    ['page.html', 'text/html;charset=utf-8', page, 'text/html; charset=utf-8'],
    ['page.html', null, page, 'text/html'],
    ['image.svg', 'image/svg+xml', svg, 'image/svg+xml'],
    ['feed.xml', 'application/xml', svg, 'application/xml'],
    ['run.js', 'text/javascript', Buffer.from('alert(1)'), 'text/javascript'],
    ['style.css', 'text/css', Buffer.from('@import "/console"'), 'text/css'],
  ])('%s as %s keeps its type and is served as bytes', async (name, type, bytes, recorded) => {
    const { record, content, bytes: fetched } = await exchange(service, ada, { name, type, bytes });
    expect(record.content_type).toBe(recorded);
    expectInert(content, name);
    expect(fetched.equals(bytes)).toBe(true);
  });

  test('a page that is uploaded directly is served as bytes, too', async () => {
    const input = { filename: 'page.html', content_type: 'text/html', size: page.length };
    const { body } = await service.post(ada, '/attachments/uploads', input);
    const { url, headers, method } = body.upload;
    expect((await fetch(reachable(service, url), { method, headers, body: page })).status).toBe(200);
    const completed = await service.post(ada, `/attachments/${body.attachment_id}/complete`);
    expect(completed.body).toMatchObject({ content_type: 'text/html' });
    await waitForScan(service, ada, body.attachment_id);
    expectInert(await fetchContent(service, ada, body.attachment_id), 'page.html');
  });

  test('a tool uploads a page, and reads its text', async () => {
    const args = { filename: 'page.html', text: String(page) };
    const { id, content_type } = await callTool(service, mcpToken, 'upload_attachment', args);
    expect(content_type).toBe('text/html');
    await waitForScan(service, ada, id);
    const { preview, download } = await callTool(service, mcpToken, 'get_attachment', { attachment_id: id });
    expect(preview).toBe(String(page));
    expectInert(await fetch(reachable(service, download.url)), 'page.html');
  });

  test.each<[string, string, Buffer, string]>([
    ['CSV in Latin-1', 'text/csv', Buffer.from('name;city\nJos\xe9;M\xfcnchen\n', 'latin1'), 'José;München'],
    [
      'text in UTF-16, little endian',
      'text/plain',
      Buffer.from('\uFEFFGrüße, 世界 🌍', 'utf16le'),
      'Grüße, 世界 🌍',
    ],
    ['text in UTF-16, big endian', 'text/plain', Buffer.from('\uFEFFGrüße', 'utf16le').swap16(), 'Grüße'],
  ])('%s is kept byte for byte and has a preview', async (_, type, bytes, shown) => {
    for (const declared of [type, null]) {
      const name = type === 'text/csv' ? 'a.csv' : 'a.txt';
      const {
        record,
        content,
        bytes: fetched,
      } = await exchange(service, ada, {
        name,
        type: declared,
        bytes,
      });
      expect(record).toMatchObject({ content_type: type, size_bytes: bytes.length });
      expect(content.headers.get('content-type')).toBe(type);
      expect(fetched.equals(bytes)).toBe(true);
      const read = await callTool(service, mcpToken, 'get_attachment', { attachment_id: record.id });
      expect(read.preview).toContain(shown);
    }
  });

  test.each<[string, UploadFile, string, string]>([
    ['text as an image', { bytes: sampleText, type: 'image/png' }, 'image/png', 'text/plain'],
    ['an image as another one', { bytes: png, type: 'image/gif' }, 'image/gif', 'image/png'],
    ['an image as PDF', { bytes: png, type: 'application/pdf' }, 'application/pdf', 'image/png'],
    [
      'text with the name of an image',
      { bytes: sampleText, type: null, name: 'a.png' },
      'image/png',
      'text/plain',
    ],
  ])('%s is refused with both types', async (_, file, declared, found) => {
    const { status, body } = await upload(service, ada, file);
    expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(body.error.message).toContain(declared);
    expect(body.error.message).toContain(`its content is ${found}`);
    const { error } = await callTool(service, mcpToken, 'upload_attachment', {
      filename: file.name ?? 'notes.txt',
      content: Buffer.from(file.bytes).toString('base64'),
      ...(file.type && { content_type: file.type }),
    });
    expect(error).toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: expect.stringContaining(body.error.message),
    });
  });

  test('a declared type that is none is refused', async () => {
    for (const type of ['html', 'text/', 'text/html, text/plain']) {
      const { status, body } = await upload(service, ada, { bytes: page, type });
      expect([status, body.error.details[0].field]).toEqual([400, 'content_type']);
    }
  });

  test('a file over the limit gets the same answer wherever the excess is detected', async () => {
    const bytes = Buffer.alloc(10 * 1024 * 1024 + 1, 'x');
    const announced = { filename: 'a.txt', content_type: 'text/plain', size: bytes.length };
    const { hostname, port } = new URL(service.url);
    const chunked = request({
      hostname,
      port,
      path: '/v1/attachments',
      method: 'POST',
      headers: {
        Authorization: `Bearer ${ada.token}`,
        'Content-Type': multipartType,
        'Idempotency-Key': 'k-chunked',
        'Transfer-Encoding': 'chunked',
      },
    });
    chunked.end(Buffer.concat([buildPart({ bytes: Buffer.alloc(12_000_000, 'x') }), closingBoundary]));
    const [response] = await once(chunked, 'response');
    let chunkedAnswer = '';
    for await (const chunk of response) chunkedAnswer += String(chunk);
    const answers = [
      (await upload(service, ada, { bytes })).body.error,
      (await upload(service, ada, { bytes: Buffer.alloc(12_000_000, 'x') })).body.error,
      JSON.parse(chunkedAnswer).error,
      (await service.post(ada, '/attachments/uploads', announced)).body.error,
      (await callTool(service, mcpToken, 'request_upload_url', announced)).error,
    ];
    expect(new Set(answers.map(({ code, message }) => `${code} ${message}`))).toEqual(
      new Set(['ATTACHMENT_TOO_LARGE The file is too large: at most 10 MiB (10,485,760 bytes).']),
    );
  });
});

describe('ATTACHMENT_TYPES narrows the accepted types', () => {
  let service: AttachmentService;
  let ada: TestAgent;
  beforeAll(async () => {
    service = await startAttachmentService({
      worker: false,
      env: { ATTACHMENT_TYPES: 'image/png, Text/Plain,application/zip' },
    });
    ada = await service.agent();
  });
  afterAll(() => service.stop());

  const announce = (content_type: string) =>
    service.post(ada, '/attachments/uploads', { filename: 'a', content_type, size: 10 });

  test('files of other types are refused, announced ones before their bytes are sent', async () => {
    for (const type of ['text/html', 'text/csv', 'application/pdf']) {
      const { status, body } = await announce(type);
      expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
      expect(body.error.message).toContain(`Files of type ${type} are not accepted`);
      expect(body.error.message).toContain('image/png, text/plain, application/zip');
    }
    const { status, body } = await upload(service, ada, { bytes: page, type: 'text/html', name: 'a.html' });
    expect([status, body.error.message]).toEqual([
      415,
      'Files of type text/html are not accepted. Use one of image/png, text/plain, application/zip.',
    ]);
  });

  test('files of these types are accepted', async () => {
    for (const [type, bytes] of [
      ['image/png', png],
      ['text/plain', sampleText],
      ['application/zip', Buffer.from('PK\x05\x06')],
      [null, sampleText],
    ] as const) {
      expect((await upload(service, ada, { bytes, type, name: 'a' })).status).toBe(201);
    }
    for (const type of ['image/png', 'application/octet-stream']) {
      expect((await announce(type)).status).toBe(201);
    }
  });
});

describeUnless(missingS3Reason, 'files in a bucket that callers can reach', () => {
  test('the API serves types that a browser could run; the bucket serves the rest', async () => {
    const { env, remove } = await createTestBucket();
    const service = await startAttachmentService({
      env: { ...env, S3_PUBLIC_ENDPOINT: env.S3_ENDPOINT },
    });
    try {
      const ada = await service.agent();
      const { content } = await exchange(service, ada, { name: 'page.html', type: 'text/html', bytes: page });
      expect(content.url.startsWith(service.url)).toBe(true);
      expectInert(content, 'page.html');
      const other = await exchange(service, ada, { bytes: sampleText });
      expect(other.content.url.startsWith(service.url)).toBe(false);
    } finally {
      await service.stop();
      await remove();
    }
  });
});
