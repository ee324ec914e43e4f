import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useContacts } from '../../clients/contacts.ts';
import { readZip } from '../../support/unzip.ts';
import {
  openThread,
  waitForScan,
  sendMessage,
  startAttachmentService,
  uploadId,
  type AttachmentService,
} from '../attachments/setup.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { inboxOf } from '../inbox/setup.ts';

let service: AttachmentService;
let folder: string;
const secret = 'the secret of a service for export tests';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ams-export-'));
  service = await startAttachmentService({ env: { SECRET_KEY: secret } });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const env = () => ({
  DATABASE_URL: service.core.config.DATABASE_URL,
  DATA_DIR: service.folder,
  SECRET_KEY: secret,
});
const counts = z.record(z.string(), z.int());
const exported = z.looseObject({ id: z.string(), exported: counts, size_bytes: z.int(), sha256: z.string() });
const report = z.looseObject({
  erased: counts,
  kept: z.array(z.object({ what: z.string(), why: z.string() })),
});

test('an agent is exported completely, then erased: other messages keep their order, and none of its content is left', async () => {
  const trust = useContacts(service);
  const [ann, bob, cid] = [await service.agent(), await service.agent(), await service.agent()];
  await trust.request(ann, bob.handle, 'let us talk');
  await trust.approve(bob, ann.handle);
  await trust.block(ann, cid.handle);
  await service.sql('insert into removed_contacts (agent_id, contact_id) values ($1, $2)', [ann.id, cid.id]);
  await service.core.db.outgoingClearances.insert({ agent_id: ann.id, ids: [bob.id], thread_id: '', now: 1 });
  const thread = await openThread(service, ann, bob);
  const file = await uploadId(service, ann, { bytes: Buffer.from('bytes of ann') });
  await waitForScan(service, ann, file);
  const send = (by: typeof ann, content: string) =>
    service.post(by, `/threads/${thread}/messages`, { content });
  await send(ann, 'a word of ann');
  const inbox = inboxOf(service.api, ann);
  expect((await inbox.turnOn()).status).toBe(200);
  await send(bob, 'an answer of bob');
  expect(await inbox.leases({ consumer: 'instance of ann' })).toHaveLength(1);
  expect((await sendMessage(service, ann, thread, [file])).status).toBe(201);
  const second = { with_handle: bob.handle, reason: 'a reason of ann' };
  const withReason = await service.post(ann, '/threads', second);

  const nowhere = join(folder, 'absent', 'ann.zip');
  const refused = await runCli(env(), ['agent', 'export', ann.handle, '--output', nowhere]);
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^\S+ cannot write .*ann\.zip: ENOENT/),
  });
  expect(await runCliJson(env(), ['agent', 'exports'])).toEqual({ exports: [] });
  const out = join(folder, 'ann.zip');
  const handed = exported.parse(await runCliJson(env(), ['agent', 'export', ann.handle, '--output', out]));
  expect(handed).toMatchObject({
    state: 'done',
    missing_files: [],
    exported: {
      inbox: 1,
      inbox_item: 1,
      inbox_consumer: 1,
      agent: 1,
      contact: 1,
      block: 1,
      outgoing_clearance: 1,
      removed_contact: 1,
      thread: 2,
      message: 3,
      attachment: 1,
      files: 1,
    },
  });
  const archive = await readFile(out);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  expect([handed.size_bytes, handed.sha256]).toEqual([archive.byteLength, sha256]);
  const files = await readZip(archive);
  expect([...files.keys()]).toEqual(['agent.jsonl', `attachments/${file}`]);
  const lines = files.get('agent.jsonl')?.trim().split('\n') ?? [];
  const said = lines.map((line) => z.looseObject({ kind: z.string() }).parse(JSON.parse(line)));
  expect(said.filter(({ kind }) => kind === 'message').map(({ content }) => content)).toEqual([
    'a word of ann',
    'an answer of bob',
    'see the file',
  ]);
  expect(said.filter(({ kind }) => kind === 'thread').map(({ metadata }) => metadata)).toEqual([
    {},
    { reason: 'a reason of ann' },
  ]);
  expect(lines.join('\n')).not.toMatch(/secret|token_hash/);
  expect(files.get(`attachments/${file}`)).toBe('bytes of ann');
  expect((await runCli(env(), ['agent', 'export', ann.handle, '--output', out])).err).toMatch(
    /already exists/,
  );
  expect(await runCliJson(env(), ['agent', 'exports', ann.handle])).toEqual({ exports: [handed] });
  const again = join(folder, 'again.zip');
  const fetching = (handle: string) => ['agent', 'export', handle, '--id', handed.id, '--output', again];
  expect((await runCli(env(), fetching(bob.handle))).err).toMatch(/No such export/);
  expect(await runCliJson(env(), fetching(ann.handle))).toEqual(handed);
  expect(await readFile(again)).toEqual(archive);

  expect((await runCli(env(), ['agent', 'erase', ann.handle, '--confirm', bob.handle])).code).toBe(1);
  expect((await runCli(env(), ['agent', 'erasure', ann.handle])).err).toMatch(/There is no erasure of/);
  const erase = () =>
    runCliJson(env(), ['agent', 'erase', ann.handle, '--confirm', ann.handle]).then(report.parse);
  const erased = await erase();
  expect(erased).toMatchObject({ state: 'done', erased: { messages: 2, files: 1, blocks: 1 } });
  expect(erased.kept.map(({ what }) => what)).toContain('positions of its messages');
  expect(await runCliJson(env(), ['agent', 'erasure', ann.handle])).toEqual(erased);
  expect(await runCliJson(env(), ['agent', 'exports'])).toEqual({ exports: [] });
  // Started again, as after a restore: nothing is left to do.
  expect(Object.values((await erase()).erased).every((count) => count === 0)).toBe(true);

  expect((await service.get(ann, '/agents/me')).status).toBe(401);
  for (const table of ['inboxes', 'inbox_items', 'inbox_consumers']) {
    const text = `select 1 from ${table} where agent_id = $1`;
    expect(await service.sql(text, [ann.id])).toEqual([]);
  }
  const list = await service.get(bob, `/threads/${thread}/messages?order=asc`);
  const left = list.body.messages as Record<string, unknown>[];
  const shown = left.map(({ sequence, content, metadata, attachments }) => [
    sequence,
    content,
    metadata,
    attachments,
  ]);
  expect(shown).toEqual([
    [1, '', { erased: true }, []],
    [2, 'an answer of bob', {}, []],
    [3, '', { erased: true }, []],
  ]);
  const emptied = await service.get(bob, `/threads/${withReason.body.id}`);
  expect([withReason.body.metadata, emptied.body.metadata]).toEqual([{ reason: 'a reason of ann' }, {}]);
  const found = await service.get(bob, '/messages/search?q=word');
  expect(found.body.results).toEqual([]);
  // A worker that read the content before writes it late.
  const late = [{ message_id: String(left[0]?.['id']), document: "'word':1" }];
  await service.core.db.messageSearch.index(late, 1_000, Date.now());
  const rows = { text: 'select from message_search where message_id = $1' };
  expect(await service.core.database.query(rows, [late[0]?.message_id])).toEqual([]);
  expect((await service.get(bob, `/attachments/${file}`)).status).toBe(404);
  expect((await send(bob, 'is anybody there?')).status).toBeGreaterThanOrEqual(400);
  const taken = await runCli(env(), ['agent', 'create', ann.handle]);
  expect(taken.err).toMatch(/taken|exists|already/i);

  const rest_of = await service.sql(
    `select (select count(*) from feed where agent_id = $1) + (select count(*) from contacts where agent_id = $1 or contact_id = $1)
        + (select count(*) from contact_requests where from_agent_id = $1 or to_agent_id = $1)
        + (select count(*) from attachments where uploader_id = $1) as rows`,
    [ann.id],
  );
  expect(rest_of).toEqual([{ rows: 0 }]);
  expect(
    await readdir(join(service.folder, 'blobs'), { recursive: true, withFileTypes: true }).then((all) =>
      all.filter((entry) => entry.isFile()),
    ),
  ).toEqual([]);
  const acts = z
    .object({ acts: z.array(z.object({ act: z.string() })) })
    .parse(await runCliJson(env(), ['audit', '--agent', ann.handle]));
  expect(acts.acts.map(({ act }) => act)).toEqual(
    expect.arrayContaining([
      'agent.export_begun',
      'agent.exported',
      'agent.export_fetched',
      'agent.erasure_begun',
      'agent.retired',
      'agent.erased',
    ]),
  );
});

/** Tables that name agents and have no statement of the erasure in `agent-data.ts`. */
const erasedElsewhere = [
  // With its tasks and remote threads, which they refer to.
  'a2a_messages',
  'a2a_push_configs',
  'remote_conversations',
  // When it retires, or by another step of the erasure.
  'client_grants',
  'presence',
  'agent_exports',
  // Kept: records without content, and the counter of its feed.
  'audit_log',
  'erasures',
  'feed_heads',
];

/** Tables that name agents and are not in an export. */
const notExported = [
  // Secrets, and the state of connections.
  'access_tokens',
  'mcp_sessions',
  'presence',
  'last_seen',
  // Copies and records of other data.
  'feed',
  'feed_heads',
  'notification_items',
  'audit_log',
  'agent_exports',
  'erasures',
  'uploads',
  // A mark that its inbox was turned off.
  'deleted_inboxes',
  // Its messages are `remote_message`.
  'remote_threads',
  'remote_conversations',
];

test('an erasure and an export know every table that names agents', async () => {
  const tables = await service.sql<{ name: string }>(
    `select distinct c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and (a.attname ~ '(^|_)agent_id$' or exists (
         select from pg_constraint f where f.conrelid = c.oid and f.confrelid = 'agents'::regclass and a.attnum = any(f.conkey)))
     order by 1`,
  );
  const source = join(import.meta.dirname, '../../../src/repositories/agents/agent-data.ts');
  const [erasing = '', exporting = ''] = (await readFile(source, 'utf8')).split('const sections = {');
  const listMissing = (text: string) =>
    tables.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
  expect(tables.map(({ name }) => name)).toContain('contacts');
  const erasure = 'a new table needs a statement in agent-data.ts, or its place in the list above';
  expect(listMissing(erasing), erasure).toEqual(erasedElsewhere.toSorted());
  const archive = 'a new table needs a section in agent-data.ts, or its place in the list above';
  expect(listMissing(exporting), archive).toEqual(notExported.toSorted());
});
