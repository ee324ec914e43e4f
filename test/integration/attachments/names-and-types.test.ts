import { expect, test } from 'vitest';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import { fetchContent, reachable, sampleText, startAttachmentService, upload } from './setup.ts';
import { use } from '../../support/use.ts';

const service = use(() => startAttachmentService({ worker: false }));

test('a file that is announced keeps its charset until its download', async () => {
  const { token, ...ada } = await service.agent();
  const announced = await service.post({ token }, '/attachments/uploads', {
    filename: 'a.txt',
    content_type: 'Text/Plain;Charset=shift_jis',
    size: sampleText.length,
  });
  const { attachment_id: id, upload: target } = announced.body;
  expect(target.headers['Content-Type']).toBe('text/plain; charset=shift_jis');
  const put = (type: string) =>
    fetch(reachable(service, target.url), {
      method: 'PUT',
      headers: { 'Content-Type': type },
      body: new Uint8Array(sampleText),
    });
  expect((await put('text/plain')).status).toBe(400);
  expect((await put('text/plain; charset')).status).toBe(400);
  expect((await put('TEXT/PLAIN;charset=SHIFT_JIS')).status).toBe(200);
  const completed = await service.post({ token }, `/attachments/${id}/complete`);
  expect([completed.status, completed.body.content_type]).toEqual([200, 'text/plain; charset=shift_jis']);
  await attachmentScanningHandler(service.core).handle({ ids: [id] });
  const download = await fetchContent(service, { ...ada, token }, id);
  expect(download.headers.get('content-type')).toBe('text/plain; charset=shift_jis');
  expect(Buffer.from(await download.arrayBuffer())).toEqual(sampleText);
});

test('a page with a charset is still served as bytes', async () => {
  const ada = await service.agent();
  const page = { name: 'a.html', type: 'text/html; charset=utf-8', bytes: Buffer.from('<script>1</script>') };
  const { body } = await upload(service, ada, page);
  expect(body.content_type).toBe('text/html; charset=utf-8');
  await attachmentScanningHandler(service.core).handle({ ids: [body.id] });
  expect((await fetchContent(service, ada, body.id)).headers.get('content-type')).toBe(
    'application/octet-stream',
  );
});

test.each(['text/plain; charset', 'text/plain; charset=a b', 'text/plain; charset=a; charset=b'])(
  'the type %s is refused',
  async (content_type) => {
    const ada = await service.agent();
    const announced = await service.post(ada, '/attachments/uploads', {
      filename: 'a.txt',
      content_type,
      size: 1,
    });
    expect([announced.status, announced.body.error.details[0].field]).toEqual([400, 'content_type']);
    const sent = await upload(service, ada, { type: content_type, bytes: sampleText });
    expect([sent.status, sent.body.error.details[0].field]).toEqual([400, 'content_type']);
  },
);

test.each([
  [String.raw`a\"b.txt`, 'a_b.txt'],
  [String.raw`\"x\".txt`, '_x_.txt'],
  [String.raw`a\\b.txt`, 'a_b.txt'],
  [String.raw`C:\folder\a.txt`, 'a.txt'],
  ['a%22b.txt', 'a_b.txt'],
  ['line\u202ebreak\u2800.txt', 'linebreak\u2800.txt'],
  ['\u3164\u200b', 'file'],
  ['👩‍💻.txt', '👩‍💻.txt'],
])('the file name %s becomes %s', async (name, filename) => {
  const { status, body } = await upload(service, await service.agent(), { name, bytes: sampleText });
  expect([status, body.filename]).toEqual([201, filename]);
});
