import { outcomeOf, readPages } from '../../../clients/rest.ts';
import { expect, test } from 'vitest';
import { useSharedService } from '../../../support/service.ts';
import { useContacts } from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

const entries = (list: { entry: string }[]) => list.map(({ entry }) => entry);

test('entries are stored in canonical form, once each, whether the name exists or not', async () => {
  const ann = await service.agent();
  const bob = await service.agent();
  const [owner, name] = ann.handle.split('.');
  for (const [given, entry] of [
    [bob.handle, bob.handle],
    [`@${bob.handle.toUpperCase()}`, bob.handle],
    ['absent.here', 'absent.here'],
    ['ABSENT.*', 'absent.*'],
    ['@absent.*', 'absent.*'],
  ] as const) {
    const answer = await trust.allow(ann, given);
    expect([answer.status, answer.body]).toEqual([201, { entry, created_at: expect.any(Number) }]);
    expect((await trust.call('POST', `/agents/${owner}/${name}/allowlist`, ann, { entry: given })).text).toBe(
      answer.text,
    );
  }
  const { body } = await trust.call('GET', `/agents/${owner}/${name}/allowlist`, ann);
  expect(entries(body.allowlist)).toEqual([bob.handle, 'absent.*', 'absent.here'].toSorted());
  expect((await trust.allowlist(bob)).body).toEqual({ allowlist: [] });
});

test('an entry can be removed with every spelling of its path', async () => {
  const ann = await service.agent();
  const [owner, name] = ann.handle.split('.');
  for (const path of ['acme.*', 'acme.%2A', '%40acme.%2a', 'ACME.*', '%61cme.*']) {
    for (const base of ['/allowlist', `/agents/${owner}/${name}/allowlist`]) {
      await trust.allow(ann, 'acme.*');
      const answer = await service.delete(ann, `${base}/${path}`);
      expect([answer.status, answer.text], path).toEqual([204, '']);
      expect((await trust.allowlist(ann)).body).toEqual({ allowlist: [] });
      const again = await service.delete(ann, `${base}/${path}`);
      expect(outcomeOf(again)).toBe('404 NOT_FOUND');
    }
  }
});

test('an entry that is neither a handle nor an owner with a star is refused', async () => {
  const ann = await service.agent();
  for (const entry of [
    '*',
    '*.*',
    '*.agent',
    'acme',
    'acme.',
    'acme.*x',
    'acme.**',
    'a b.c',
    'a.b.c',
    'é.*',
  ]) {
    expect(outcomeOf(await trust.allow(ann, entry)), entry).toBe('400 INVALID_HANDLE');
    expect(outcomeOf(await trust.disallow(ann, entry)), entry).toBe('400 INVALID_HANDLE');
  }
  expect((await trust.allowlist(ann)).body).toEqual({ allowlist: [] });
});

test('an allowlist is paged and limited to a thousand entries, also for concurrent calls', async () => {
  const ann = await service.agent();
  await service.write(async ({ db: { allowlists }, now: created_at }) => {
    for (let count = 0; count < 995; count += 1)
      await allowlists.insert(ann.id, { entry: `owner-${count}.*`, created_at });
  });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => trust.allow(ann, `a${index}.b`)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect(outcomeOf(answer)).toBe('400 VALIDATION_ERROR');
    expect(answer.body.error.message).toContain('1000');
  }
  expect((await trust.allow(ann, 'owner-7.*')).status).toBe(201);
  const read = (query: string) => trust.allowlist(ann, query);
  const seen = entries(await readPages(read, { list: 'allowlist', limit: 100 }));
  expect(seen).toHaveLength(1000);
  expect(new Set(seen).size).toBe(1000);
  await trust.disallow(ann, 'owner-7.*');
  expect((await trust.allow(ann, 'one.more')).status).toBe(201);
});

test('the allowlist admits agents only under the policy of that name', async () => {
  const ann = await service.agent({ inbound_policy: 'allowlist' });
  const bob = await service.agent();
  const write = () => service.post(bob, '/threads', { with_handle: ann.handle });
  for (const entry of [bob.handle, `${bob.handle.split('.')[0]}.*`]) {
    expect(outcomeOf(await write())).toBe('403 NOT_ALLOWED');
    await trust.allow(ann, entry);
    expect((await write()).status).toBe(201);
    await trust.disallow(ann, entry);
  }
  const cleo = await service.agent({ inbound_policy: 'contacts_only' });
  await trust.allow(cleo, bob.handle);
  const answer = await service.post(bob, '/threads', { with_handle: cleo.handle });
  expect(outcomeOf(answer)).toBe('403 NOT_CONTACTS');
});
