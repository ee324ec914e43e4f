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

  test('that goes on without end is cut off, in its file and before its first part', async () => {
    const floods = [head, Buffer.from('no boundary comes: ')].map(async (start) => {
      const call = open({ 'Transfer-Encoding': 'chunked' });
      call.write(start);
      const closed = new Promise((resolve) => call.once('close', resolve));
      const flood = setInterval(() => call.write(mebibyte), 20);
      const answer = await answerOf(call);
      await closed;
      clearInterval(flood);
      return answer;
    });
    expect(await Promise.all(floods)).toEqual([tooLarge, tooLarge]);
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
  const encoded = (way: string) =>
    Buffer.from(String(file).replace('\r\n\r\n', `\r\nContent-Transfer-Encoding: ${way}\r\n\r\n`));
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
    ['a thousand files', Array.from({ length: 1_000 }, () => file)],
    ['a part that is encoded', [encoded('base64')]],
    ['a part that is encoded in an unknown way', [encoded('x-own')]],
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

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\dir\\a.txt', 'a.txt'],
    ['a\u202Etxt.exe', 'atxt.exe'],
    ['a\0b\x1b[2J.txt', 'ab[2J.txt'],
    ['a%0D%0ASet-Cookie: b', 'aSet-Cookie_ b'],
    ['%22quoted%22', '_quoted_'],
    ['NUL.txt', '_NUL.txt'],
    ['', 'file'],
    ['x"; filename*=UTF-8\'\'%E2%82%AC%2Fna%C3%AFve.txt; y="', 'na\u00efve.txt'],
  ])('the name %j becomes harmless: %j', async (name, filename) => {
    const { status, body } = await upload(service, ada, { bytes: someText, name });
    expect([status, body.filename]).toEqual([201, filename]);
  });

  test('a body that one key has sent is not another one', async () => {
    const key = 'the-same';
    expect((await upload(service, ada, { bytes: someText, key })).status).toBe(201);
    expect((await upload(service, ada, { bytes: Buffer.from('other'), key })).status).toBe(422);
    const answer = await sendParts(service, ada, [partOf({ bytes: someText })], '\u00e9');
    expect(answer.status).toBe(400);
  });

  test('a body without a key is refused, and so is none at all', async () => {
    const url = `${service.api}/attachments`;
    const headers = { Authorization: `Bearer ${ada.token}`, 'Content-Type': multipartType };
    const body = new Uint8Array(Buffer.concat([file, endOfBody]));
    const keyless = await fetch(url, { method: 'POST', headers, body });
    expect([keyless.status, (await keyless.json()).error.code]).toEqual([400, 'IDEMPOTENCY_KEY_REQUIRED']);
    const call = open({});
    const answer = answerOf(call);
    call.end();
    expect(await answer).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
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
