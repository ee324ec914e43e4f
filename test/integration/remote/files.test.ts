import { expect, test } from 'vitest';
import { connectTo } from '../../support/servers/postgres/database.ts';
import { buildZip } from '../../support/zip.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { artifact, buildTask, meetRemote, showTask, storyOf, useInstallation } from './setup.ts';

const service = useInstallation();

const file = (filename: string, bytes: Buffer) => ({
  raw: bytes.toString('base64'),
  filename,
  mediaType: 'application/octet-stream',
});
const notes = file('notes.txt', Buffer.from('The notes.\n'));
const unsafe = file('unsafe.zip', buildZip([{ name: 'zeros', bytes: Buffer.alloc(20_000_000) }]));
const parts = [{ text: 'The result.' }, notes, unsafe];

const ofTask = [{ artifactId: 'files', parts }, artifact('other', 'The other result.')];

test.each([
  {
    name: 'a task',
    answer: { task: buildTask({ artifacts: ofTask }, 'TASK_STATE_COMPLETED') },
    others: ['there: The other result.'],
  },
  { name: 'a message', answer: { message: { messageId: 'm-1', role: 'ROLE_AGENT', parts } }, others: [] },
])('an answer in $name arrives without a file that its scan refuses first', async ({ answer, others }) => {
  const { server, ann, remote } = await meetRemote(service);
  server.answer('SendMessage', () => answer);
  server.answer('GetTask', () => answer.task);
  const release = server.hold();
  const { thread_id, task_id } = await service.ask(ann, remote, 'Files?');
  // The files are scanned before this transaction lets a message be sent.
  const holder = await connectTo(service.core.config.DATABASE_URL);
  await holder.query('begin');
  await holder.query('select from threads where id = $1 for no key update', [thread_id]);
  release();
  const scanned = `select scan_status from attachments where uploader_id = $1 and scan_status <> 'pending' order by 1`;
  await waitUntil(() => service.sql(scanned, [remote.id])).toEqual([
    { scan_status: 'clean' },
    { scan_status: 'infected' },
  ]);
  await holder.query('commit');
  await waitUntil(async () => (await service.readTask(ann, task_id)).state).toBe('completed');
  const messages = await service.messages(ann, thread_id);
  expect(storyOf(messages, ann)).toEqual([
    'here: Files?',
    'there: The result.\n\nThe file unsafe.zip was not accepted: It was found unsafe and was removed.',
    ...others,
  ]);
  expect(messages[1]?.attachments).toMatchObject([{ filename: 'notes.txt' }]);
});

test('the files of an answer that waits are not kept, and arrive with it', async () => {
  const { server, ann, remote } = await meetRemote(service);
  showTask(server, () =>
    buildTask({ artifacts: [{ artifactId: 'notes', parts: [notes] }] }, 'TASK_STATE_COMPLETED'),
  );
  const release = server.hold();
  const { thread_id, task_id } = await service.ask(ann, remote, 'Files?');
  await service.pause(ann, true);
  release();
  await waitUntil(async () => {
    await service.pass(thread_id);
    return server.callsOf('GetTask').length;
  }).toBeGreaterThan(2);
  await service.pause(ann, false);
  await waitUntil(async () => {
    await service.pass(thread_id);
    return (await service.readTask(ann, task_id)).state;
  }).toBe('completed');
  expect((await service.messages(ann, thread_id))[1]?.attachments).toMatchObject([{ filename: 'notes.txt' }]);
  const text = `select expires_at <= $2 as has_expired from attachments where uploader_id = $1 and message_id is null`;
  const unsent = await service.sql<{ has_expired: boolean }>(text, [remote.id, Date.now()]);
  expect(unsent.length).toBeGreaterThan(1);
  expect(unsent.filter(({ has_expired }) => !has_expired)).toEqual([]);
});
