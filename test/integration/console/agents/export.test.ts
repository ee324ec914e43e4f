import { expect, test } from 'vitest';
import { expireExports, sweepBlobs } from '../../../../workers/maintenance/file-retention.ts';
import { readZip } from '../../../support/unzip.ts';
import { reachable, startAttachmentService } from '../../attachments/setup.ts';
import { fillForm, createOrganizationOf, type SignedInPerson, signInPerson } from '../signed-in-person.ts';
import { useSharedService } from '../../../support/service.ts';
import { use } from '../../../support/use.ts';

const service = use(startAttachmentService);

const withoutWorker = useSharedService();

const page = '/console/exports';

/** Exports an agent from its settings, and waits for the archive; returns its address. */
async function exported({ go, fill }: SignedInPerson, { id, handle }: { id: string; handle: string }) {
  const begun = await fill(`/console/agents/${id}/settings`, {}, `/console/agents/${id}/export`);
  expect(begun.visibleText).toContain(`Exporting @${handle}.`);
  const words = async () => (await go(page)).visibleText;
  await expect.poll(words).toMatch(new RegExp(`@${handle}Started .*Ready`));
  const link = (await go(page)).elements('a').find(({ attribs }) => attribs['href']?.endsWith('/archive'));
  return link?.attribs['href'] ?? '';
}

async function fetched({ go }: SignedInPerson, address: string) {
  const sent = await go(address, { follow: false });
  const location = sent.headers.get('location');
  if (location === null) return { status: sent.status, agent: '' };
  const answer = await fetch(reachable(service, location));
  const files = await readZip(new Uint8Array(await answer.arrayBuffer()));
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="?[\w.-]+\.zip"?$/);
  return { status: answer.status, agent: files.get('agent.jsonl') ?? '' };
}

test('a person exports an agent and downloads the archive, also after the agent is deleted; other people cannot', async () => {
  const [ada, eve] = [await signInPerson(service), await signInPerson(service)];
  const [mine, other] = [await ada.agent(), await service.agent()];
  const body = { with_handle: other.handle, initial_message: 'a word for two' };
  expect((await service.post(mine, '/threads', body)).status).toBe(201);
  expect((await ada.go(page)).visibleText).toContain('You can export an agent in its settings.');

  const address = await exported(ada, mine);
  expect(await fetched(ada, address)).toMatchObject({
    status: 200,
    agent: expect.stringContaining('a word for two'),
  });
  expect((await fetched(eve, address)).status).toBe(404);
  expect((await eve.go(page)).visibleText).not.toContain(mine.handle);
  const forged = fillForm(await eve.go(page), `/console/agents/${mine.id}/export`);
  expect((await eve.send(forged)).status).toBe(404);

  const end = `/console/agents/${mine.id}/delete`;
  await ada.fill(end, { fields: { handle: mine.handle } });
  expect((await ada.go(page)).visibleText).toContain(mine.handle);
  expect((await fetched(ada, address)).status).toBe(200);
});

test('an export that waits for a worker continues when it is asked for again', async () => {
  const ada = await signInPerson(withoutWorker);
  const { id, handle } = await ada.agent();
  for (let time = 0; time < 2; time += 1) {
    const begun = await ada.fill(`/console/agents/${id}/settings`, {}, `/console/agents/${id}/export`);
    expect([begun.status, begun.visibleText]).toEqual([
      200,
      expect.stringContaining(`Exporting @${handle}.`),
    ]);
  }
  const rows = await withoutWorker.sql('select id from agent_exports where agent_id = $1', [id]);
  expect(rows).toHaveLength(1);
});

test('a person who can no longer act as an agent cannot download its earlier exports', async () => {
  const [head, member] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [head, member] });
  const shared = await service.register({ handle: `${slug}.desk` });
  const tied = await service.register({ handle: `${slug}.hers`, scope: 'member', member: member.username });
  const address = await exported(member, { ...shared, handle: `${slug}.desk` });
  // An admin manages an agent of another member, but cannot read its messages.
  const settings = await head.go(`/console/agents/${tied.id}/settings`);
  expect([settings.status, settings.visibleText.includes('Export data')]).toEqual([200, false]);
  expect((await head.send(fillForm(settings, `/console/agents/${tied.id}/export`))).status).toBe(404);
  expect((await head.go(page)).visibleText).not.toContain(slug);

  expect((await fetched(member, address)).status).toBe(200);
  await service.sql(`update organization_members set role = 'member' where account_id = $1`, [
    member.person.account_id,
  ]);
  expect((await fetched(member, address)).status).toBe(404);
  expect((await member.go(page)).visibleText).not.toContain(slug);
});

test('an archive is removed when its export expires or is replaced', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const { blobs, db, database } = service.core;
  const list = () => db.agentExports.list(mine.id, 0, 10);
  const first = await exported(ada, mine);
  const [before] = await list();
  const key = before?.archive_key ?? '';
  // The sweep removes old files without an export.
  const asOld = { ...blobs, list: async () => [{ key, written_at: 0 }] };
  await sweepBlobs({ ...service.core, blobs: asOld });
  expect((await fetched(ada, first)).status).toBe(200);

  await ada.fill(`/console/agents/${mine.id}/settings`, {}, `/console/agents/${mine.id}/export`);
  expect((await fetched(ada, first)).status).toBe(404);
  await expireExports(service.core);
  const left = () => blobs.read(key).then((bytes) => bytes.destroy(), String);
  await expect.poll(left).toContain('BlobMissing');
  await expect.poll(async () => (await list())[0]?.stage).toBe('done');
  await database.query({ text: 'update agent_exports set expires_at = 1 where agent_id = $1' }, [mine.id]);
  await expireExports(service.core);
  await expect.poll(list).toEqual([]);
});
