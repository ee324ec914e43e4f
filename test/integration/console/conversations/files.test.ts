import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { use } from '../../../support/use.ts';
import { startAttachmentService, uploadId } from '../../attachments/setup.ts';
import { createConversation, listMessages, sendTo } from './conversation-fixtures.ts';

const service = use(startAttachmentService);
const newPath = '/console/conversations/new';

async function createWorld() {
  const world = await createConversation(service, 'Send me the list');
  return { ...world, post: `${world.address}/messages` };
}

const text = (name: string, content = `Content of ${name}`) =>
  new File([content], name, { type: 'text/plain' });

/** The names of the uploaded files that a form keeps. */
const keptNames = (page: PageResponse, action: string): string[] =>
  findForm(page, action)
    .fields.filter(([name]) => name === 'attachment_ids')
    .map(([, value]) => value.replace(/^att_\w+ /, ''));

test('a person sends files without a text, each once however often the form is sent', async () => {
  const { ada, mine, other, id, address, post } = await createWorld();
  const form = findForm(await ada.go(address), post);
  const hostile = '<img src=x onerror=alert(1)>.txt';
  const files = [text('lïst.txt', 'First line'), text(hostile)];
  expect((await ada.send(form, { files })).visibleText).toContain('Sent as');
  await ada.send(form, { files });
  const [, sent, ...more] = await listMessages(service, mine, id);
  expect(more).toEqual([]);
  expect(sent).toMatchObject({ content: '', written_by: 'person' });
  expect(sent.attachments.map(({ filename }: { filename: string }) => filename)).toHaveLength(2);
  expect(sent.attachments[0]).toMatchObject({
    filename: 'lïst.txt',
    content_type: 'text/plain',
    size_bytes: 10,
  });
  await expect.poll(async () => (await ada.go(address)).visibleText).toContain('First line');
  const seen = await service.get(other, `/attachments/${sent.attachments[0].id}`);
  expect(seen.body).toMatchObject({ scan_status: 'clean' });
});

test('lists show how many files a message without a text has', async () => {
  const { ada, mine, other, id } = await createWorld();
  const attach = (from: typeof other) => uploadId(service, from);
  await sendTo(service, other, id, '', {
    attachment_ids: [await attach(other)],
    metadata: { expects_reply: true },
  });
  for (const path of ['/console', '/console/agents', '/console/conversations', '/console/waits'])
    expect((await ada.go(path)).visibleText).toMatch(/1 file(?!s)/);
  await sendTo(service, mine, id, '', { attachment_ids: [await attach(mine), await attach(mine)] });
  expect((await ada.go('/console/conversations')).visibleText).toContain('agent: 2 files');
});

test('a form with an error keeps the files that are uploaded, and one can be left out', async () => {
  const { ada, mine, id, address, post } = await createWorld();
  const form = findForm(await ada.go(address), post);
  const content = 'x'.repeat(32_769);
  const refused = await ada.send(form, { fields: { content }, files: [text('a.txt'), text('b.txt')] });
  expect(refused.status).toBe(413);
  expect(keptNames(refused, post)).toEqual(['a.txt', 'b.txt']);
  const again = findForm(refused, post);
  const kept = again.fields.filter(([, value]) => !value.endsWith('a.txt'));
  const shown = await ada.send(
    { ...again, fields: kept },
    { fields: { content: 'Short' }, button: 'Preview' },
  );
  expect(keptNames(shown, post)).toEqual(['b.txt']);
  await ada.send(findForm(shown, post), { fields: { content: 'Short' } });
  const [, sent] = await listMessages(service, mine, id);
  expect(sent).toMatchObject({ content: 'Short', attachments: [{ filename: 'b.txt' }] });
});

test('a preview and a reply keep the chosen files', async () => {
  const { ada, address, post } = await createWorld();
  const form = findForm(await ada.go(address), post);
  const shown = await ada.send(form, { files: [text('a.txt')], button: 'Preview' });
  expect(keptNames(shown, post)).toEqual(['a.txt']);
  const replying = await ada.send(findForm(shown, post), {
    files: [text('b.txt')],
    button: 'Reply to message 1',
  });
  expect(keptNames(replying, post)).toEqual(['a.txt', 'b.txt']);
});

test('more files than a message can have, and larger ones, are refused with what was entered', async () => {
  const { ada, mine, id, address, post } = await createWorld();
  expect((await ada.go(address)).visibleText).toContain('At most 5 files of 10 MB each.');
  const send = (files: File[]) => ada.fill(address, { fields: { content: 'Kept' }, files }, post);
  const many = await send(['1', '2', '3', '4', '5', '6'].map((name) => text(name)));
  expect([many.status, many.visibleText]).toEqual([
    400,
    expect.stringContaining('A message can have at most 5 files'),
  ]);
  expect(keptNames(many, post)).toEqual(['1', '2', '3', '4', '5']);
  const large = await send([text('small.txt'), new File([randomBytes(10 * 1024 * 1024 + 1)], 'large.bin')]);
  expect([large.status, large.visibleText]).toEqual([
    413,
    expect.stringContaining('“large.bin”: The file is too large: at most 10 MiB'),
  ]);
  expect(keptNames(large, post)).toEqual(['small.txt']);
  expect(findForm(large, post).fields).toContainEqual(['content', 'Kept']);
  const empty = await send([new File([], 'empty.txt')]);
  expect([empty.status, empty.visibleText]).toEqual([400, expect.stringContaining('“empty.txt”: is empty')]);
  expect(await listMessages(service, mine, id)).toHaveLength(1);
});

test('a refused form is answered although its files were not read', async () => {
  const { ada, mine, address, post } = await createWorld();
  const form = findForm(await ada.go(address), post);
  const token = await service.token(mine.handle, { scopes: ['agents:write'] });
  await service.patch({ token }, `/agents/${mine.id}`, { paused: true });
  const files = [new File([randomBytes(5 * 1024 * 1024)], 'a.bin'), text('b.txt')];
  const paused = await ada.send(form, { fields: { content: 'Kept' }, files });
  expect(paused.visibleText).toContain('This agent is paused');
  expect(findForm(paused, post).fields).toContainEqual(['content', 'Kept']);
  const forged = await ada.send(form, { fields: { csrf: 'x' }, files });
  expect(forged.status).toBe(403);
  ada.cookies.clear();
  expect((await ada.send(form, { files })).visibleText).toContain('Sign in');
});

test('files of others, sent ones and text after the files are refused', async () => {
  const { ada, other, address, post } = await createWorld();
  const form = findForm(await ada.go(address), post);
  const foreign = await service.post(other, '/threads', { participants: [ada.mine.handle] });
  expect(foreign.status).toBe(201);
  for (const upload of ['att_00000000000000000000000000 x.txt', '', '<b>']) {
    const page = await ada.send(form, { fields: { content: 'x', attachment_ids: upload } });
    expect(page.status).toBe(400);
  }
  const data = new FormData();
  data.append('files', text('a.txt'));
  for (const [name, value] of form.fields) data.append(name, value);
  const headers = { Origin: service.url };
  const page = await ada.go(post, { method: 'POST', headers, body: data });
  expect(page.status).toBe(403);
});

test('a new conversation begins with files, and keeps them when its handle is wrong', async () => {
  const { ada, mine, other } = await createWorld();
  const fields = { agent_id: mine.id, handle: 'absent.here', content: 'See the file' };
  const form = findForm(await ada.go(newPath), newPath);
  const refused = await ada.send(form, { fields, files: [text('a.txt')] });
  expect(keptNames(refused, newPath)).toEqual(['a.txt']);
  const page = await ada.send(findForm(refused, newPath), { fields: { handle: other.handle } });
  const [, id = ''] = /(thd_\w+)/.exec(page.url) ?? [];
  expect(await listMessages(service, mine, id)).toMatchObject([
    { content: 'See the file', attachments: [{ filename: 'a.txt' }] },
  ]);
});
