import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import { rest } from '../../support/rest-client.ts';
import type { TestAgent } from '../../support/service.ts';
import {
  endOfBody,
  fetchContent,
  type FileService,
  multipartType,
  partOf,
  reachable,
  sendParts,
  someText,
  startFiles,
  upload,
  uploaded,
} from './house.ts';

let service: FileService;
let ada: TestAgent;

beforeAll(async () => {
  service = await startFiles({ worker: false });
  ada = await service.agent();
});
afterAll(() => service.stop());

const files = async (): Promise<number> => (await service.core.blobs.list('', 1_000)).length;

/** A request whose body the test writes piece by piece. */
function open(headers: Record<string, string>): ClientRequest {
  const { hostname, port } = new URL(service.url);
  const call = request({ hostname, port, path: '/v1/attachments', method: 'POST' });
  const usual = { Authorization: `Bearer ${ada.token}`, 'Content-Type': multipartType };
  for (const [name, value] of Object.entries({
    ...usual,
    'Idempotency-Key': `k-${Math.random()}`,
    ...headers,
  }))
    call.setHeader(name, value);
  call.on('error', () => undefined);
  return call;
}

async function answerOf(call: ClientRequest): Promise<{ status: number; code: string }> {
  const [response] = await once(call, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, code: JSON.parse(text).error?.code };
}

const tooLarge = { status: 413, code: 'ATTACHMENT_TOO_LARGE' };
const mebibyte = Buffer.alloc(1024 * 1024, 'x');
const head = partOf({ bytes: Buffer.alloc(0) }).subarray(0, -2);

describe('the size of a body', () => {
  test('that says it is too large is refused before it comes', async () => {
    const call = open({ 'Content-Length': String(11 * 1024 * 1024) });
    call.flushHeaders();
    expect(await answerOf(call)).toEqual(tooLarge);
    call.destroy();
  });

  test('that does not say how large it is, is counted', async () => {
    const before = await files();
    const call = open({ 'Transfer-Encoding': 'chunked' });
    const answer = answerOf(call);
    call.write(head);
    for (let count = 0; count < 11; count += 1) call.write(mebibyte);
    call.end(endOfBody);
    expect(await answer).toEqual(tooLarge);
    expect(await files()).toBe(before);
  });

  test('that goes on without end is cut off', async () => {
    const call = open({ 'Transfer-Encoding': 'chunked' });
    call.write(head);
    const closed = new Promise((resolve) => call.once('close', resolve));
    const flood = setInterval(() => call.write(mebibyte), 20);
    const answer = await answerOf(call);
    await closed;
    clearInterval(flood);
    expect(answer).toEqual(tooLarge);
  });

  test('that is just right is taken: 10 MiB to the byte, and no more', async () => {
    const most = Buffer.alloc(10 * 1024 * 1024, 'x');
    expect((await upload(service, ada, { bytes: most })).status).toBe(201);
    const over = Buffer.concat([most, Buffer.from('x')]);
    expect(await upload(service, ada, { bytes: over })).toMatchObject({ status: 413 });
  });

  test('that ends early leaves nothing', async () => {
    const before = await files();
    for (const length of [head.length, head.length + 500_000]) {
      const call = open({ 'Content-Length': '2000000' });
      call.write(Buffer.concat([head, mebibyte]).subarray(0, length));
      await new Promise((resolve) => call.socket?.write('', resolve) ?? call.once('socket', resolve));
      call.destroy();
    }
    const drafts = () => service.core.blobs.list('', 1_000);
    await vi.waitFor(async () => expect(await drafts()).toHaveLength(before), 5_000);
  });
});

describe('the form of a body', () => {
  const file = partOf({ bytes: someText });
  test.each<[string, Buffer[]]>([
    ['no part', []],
    ['an empty file', [partOf({ bytes: Buffer.alloc(0) })]],
    ['two files', [file, file]],
    ['another field before', [partOf({ bytes: someText, field: 'note' }), file]],
    ['another field behind', [file, partOf({ bytes: someText, field: 'note' })]],
    ['the wrong field', [partOf({ bytes: someText, field: 'upload' })]],
    ['a field without a file', [Buffer.from(String(file).replace('; filename="notes.txt"', ''))]],
    ['a part with long headers', [partOf({ bytes: someText, name: 'x'.repeat(20_000) })]],
    [
      'a second part with long headers',
      [file, partOf({ bytes: someText, name: 'filename="'.repeat(100_000) })],
    ],
    ['no boundary anywhere', [Buffer.from('just text')]],
  ])('%s is refused, and leaves nothing', async (_, parts) => {
    const before = await files();
    const answer = await sendParts(service, ada, parts);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(await files()).toBe(before);
  });

  test.each([
    ['application/json', '{}'],
    ['application/octet-stream', 'bytes'],
    ['multipart/mixed; boundary=x', ''],
  ])('%s is no form', async (type, raw) => {
    const headers = { 'Content-Type': type };
    const answer = await rest('POST', `${service.api}/attachments`, { token: ada.token, headers, raw });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } } });
  });

  test('a part that does not say its type is taken, as some clients send it', async () => {
    const { status, body } = await upload(service, ada, { bytes: someText, type: null, name: 'a.csv' });
    expect([status, body.content_type]).toEqual([201, 'text/csv']);
  });

  test.each(['../../etc/passwd', 'a\u202Etxt.exe', 'a&#0010;b', '%22quoted%22'])(
    'the name %j becomes harmless',
    async (name) => {
      const { body } = await upload(service, ada, { bytes: someText, name });
      expect(body.filename).not.toMatch(/[/\\\u202E\n"]/);
    },
  );

  test('a body that one key has sent is not another one', async () => {
    const key = 'the-same';
    expect((await upload(service, ada, { bytes: someText, key })).status).toBe(201);
    expect((await upload(service, ada, { bytes: Buffer.from('other'), key })).status).toBe(422);
    const answer = await sendParts(service, ada, [partOf({ bytes: someText })], '\u00e9');
    expect(answer.status).toBe(400);
  });
});

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(64)]);
const html = Buffer.from('<!doctype html><script>alert(1)</script>');
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');

describe('types', () => {
  test.each<[string, Buffer, string, string]>([
    ['HTML as a picture', html, 'image/png', 'a.png'],
    ['SVG as a picture', svg, 'image/png', 'a.png'],
    ['SVG', svg, 'image/svg+xml', 'a.svg'],
    ['HTML', html, 'text/html', 'a.html'],
    ['a picture as text', png, 'text/plain', 'a.txt'],
    ['a picture as PDF', png, 'application/pdf', 'a.pdf'],
    ['a PDF behind HTML', Buffer.concat([html, Buffer.from('%PDF-1.7')]), 'application/pdf', 'a.pdf'],
    ['binary as JSON', png, 'application/json', 'a.json'],
  ])('%s is refused', async (_, bytes, type, name) => {
    const answer = await upload(service, ada, { bytes, type, name });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } } });
  });

  test('what could be a page is served as a file, never as a page', async () => {
    const polyglot = Buffer.concat([Buffer.from('GIF89a/*'), html]);
    for (const file of [
      { bytes: polyglot, type: 'image/gif', name: 'a.gif' },
      { bytes: html, type: 'text/plain', name: 'a.html' },
    ]) {
      const id = await uploaded(service, ada, file);
      await attachmentScanningHandler(service.core).handle({ ids: [id] });
      const { headers } = await fetchContent(service, ada, id);
      expect(headers.get('content-type')).toBe(file.type);
      expect(headers.get('content-disposition')).toMatch(/^attachment; /);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/sandbox/);
    }
  });
});

describe('signed addresses', () => {
  let address: string;
  beforeAll(async () => {
    const id = await uploaded(service, ada);
    await attachmentScanningHandler(service.core).handle({ ids: [id] });
    const { headers } = await rest('GET', `${service.api}/attachments/${id}/content`, { token: ada.token });
    address = reachable(service, headers.get('location') ?? '');
  });

  test('need no token, and nothing of them can be changed', async () => {
    expect((await fetch(address)).status).toBe(200);
    const ticket = address.slice(address.lastIndexOf('/') + 1);
    const [text = '', signature = ''] = ticket.split('.');
    const later = JSON.parse(String(Buffer.from(text, 'base64url')));
    const altered = Buffer.from(JSON.stringify({ ...later, expires_at: later.expires_at + 1 }));
    const bad = [
      `${text}.${signature.slice(0, -1)}`,
      `${text}.${signature}=`,
      `${text}.${signature}.x`,
      `${text}A.${signature}`,
      `${altered.toString('base64url')}.${signature}`,
      `${text}.`,
      'x',
    ];
    for (const one of bad) {
      const answer = await fetch(address.replace(ticket, one));
      expect([answer.status, (await answer.json()).error.code], one).toEqual([403, 'FORBIDDEN']);
    }
  });

  test('end, and serve the one purpose that they were made for', async () => {
    const what = { key: '0'.repeat(32), filename: 'a', content_type: 'text/plain', size_bytes: 1 };
    const { own_addresses } = service.core;
    const over = reachable(service, await own_addresses.download(what, Date.now() - 1));
    expect((await fetch(over)).status).toBe(403);
    expect((await fetch(address, { method: 'PUT', body: 'x' })).status).toBe(403);
    const put = await own_addresses.upload(what, Date.now() + 60_000);
    expect((await fetch(reachable(service, put.url))).status).toBe(403);
    const gone = reachable(service, await own_addresses.download(what, Date.now() + 60_000));
    expect((await fetch(gone)).status).toBe(404);
  });

  test('take exactly what was promised', async () => {
    const what = { key: '1'.repeat(32), content_type: 'text/plain', size_bytes: 4 };
    const { url, headers } = await service.core.own_addresses.upload(what, Date.now() + 60_000);
    const put = (body: string, type = 'text/plain') =>
      fetch(reachable(service, url), { method: 'PUT', body, headers: { 'Content-Type': type } });
    expect(headers).toEqual({ 'Content-Type': 'text/plain', 'Content-Length': '4' });
    expect((await put('four')).status).toBe(200);
    expect((await put('more than that')).status).toBe(400);
    expect((await put('few')).status).toBe(400);
    expect((await put('four', 'text/html')).status).toBe(400);
    await service.core.blobs.remove(what.key);
  });

  test('serve parts as they should be, whatever is asked for', async () => {
    const size = someText.length;
    const ask = (Range: string, more: Record<string, string> = {}) =>
      fetch(address, { headers: { Range, ...more } });
    const part = await ask('bytes=-5');
    expect([part.status, await part.text()]).toEqual([206, String(someText.subarray(-5))]);
    for (const range of [`bytes=${size}-`, 'bytes=-0']) {
      const answer = await ask(range);
      expect([answer.status, answer.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
      await answer.text();
    }
    for (const range of ['bytes=0-0,2-2', `bytes=${'0-0,'.repeat(1_000)}1-1`, 'bytes=5-1', 'lines=1-2']) {
      const answer = await ask(range);
      expect([answer.status, (await answer.text()).length]).toEqual([200, size]);
    }
    const stale = await ask('bytes=0-0', { 'If-Range': '"another"' });
    expect([stale.status, (await stale.text()).length]).toEqual([200, size]);
    const headed = await fetch(address, { method: 'HEAD' });
    expect([headed.status, headed.headers.get('content-length')]).toEqual([200, String(size)]);
  });
});
