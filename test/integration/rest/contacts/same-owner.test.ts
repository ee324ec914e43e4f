import { outcomeOf, readPages } from '../../../clients/rest.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import {
  contactAdded,
  createOrganizationAgent,
  createRelatedAgent,
  updateAgentColumn,
  useContacts,
} from '../../../clients/contacts.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();
const trust = useContacts(service);

const listed = async (by: TestAgent, query = '') =>
  (await trust.contacts(by, query)).body.contacts as Record<string, unknown>[];
const idsOf = async (by: TestAgent) => (await listed(by)).map(({ agent_id }) => agent_id);
const removed = ({ id, handle }: TestAgent) => [
  'contact.removed',
  { agent_id: id, canonical_handle: handle },
];

test('agents of one person are contacts without a request: in the list, in pages, in the search and over MCP', async () => {
  const [ann, friend] = await Promise.all([service.agent(), service.agent()]);
  const readEvents = await trust.newsOf(ann);
  const kin: TestAgent[] = [];
  for (let count = 0; count < 3; count += 1)
    kin.push(
      await createRelatedAgent(service, ann, { visibility: 'private', inbound_policy: 'contacts_only' }),
    );
  expect(await readEvents()).toEqual([kin.map((one) => contactAdded(one, true))]);
  await trust.befriend(friend, ann);
  await Promise.all(kin.map((one) => updateAgentColumn(service, one, 'paused', true)));

  const all = await listed(ann);
  const expected = [...kin.map((one) => [one, true]), [friend, false]] as [TestAgent, boolean][];
  expect(all.map(({ canonical_handle, same_owner }) => [canonical_handle, same_owner])).toEqual(
    expected
      .map(([{ handle }, same_owner]) => [handle, same_owner])
      .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  );
  const paged = await readPages((query) => trust.contacts(ann, query), { list: 'contacts', limit: 1 });
  expect(paged).toEqual(all);
  const [owner = ''] = ann.handle.split('.');
  const found = await trust.call('GET', `/search?q=${owner}.kin`, ann);
  const isKin = ({ same_owner }: Record<string, unknown>) => same_owner === true;
  expect(found.body.contacts.filter(isKin)).toEqual(all.filter(isKin));
  const mcp = await service.token(ann.handle, { audience: 'mcp' });
  const tool = await callToolRaw(service.url, mcp, 'list_contacts');
  expect(tool.value['contacts']).toMatchObject(all);
});

test('a removed contact of the same owner leaves both lists, can still write, and returns by a request', async () => {
  const ann = await service.agent({ inbound_policy: 'contacts_only' });
  const kin = await createRelatedAgent(service, ann, { inbound_policy: 'contacts_only' });
  const readEvents = await trust.newsOf(ann, kin);
  expect((await trust.favorite(ann, kin.handle)).status).toBe(204);
  expect(await listed(ann)).toMatchObject([{ favorite: true }]);
  expect(await listed(kin)).toMatchObject([{ favorite: false }]);
  expect((await trust.removeContact(ann, kin.handle)).status).toBe(204);
  expect(outcomeOf(await trust.removeContact(ann, kin.handle))).toBe('404 CONTACT_NOT_FOUND');
  expect(outcomeOf(await trust.favorite(kin, ann.handle))).toBe('404 CONTACT_NOT_FOUND');
  expect([await idsOf(ann), await idsOf(kin)]).toEqual([[], []]);
  const body = { with_handle: ann.handle, initial_message: { content: 'Hello' } };
  expect((await trust.call('POST', '/threads', kin, body)).status).toBe(201);
  expect((await trust.request(kin, ann.handle)).body.status).toBe('approved');
  expect([await idsOf(ann), await idsOf(kin)]).toEqual([[kin.id], [ann.id]]);
  const events = (await readEvents()).map((news) => news.filter(([type]) => type.startsWith('contact.')));
  const favorite = { agent_id: kin.id, canonical_handle: kin.handle, favorite: true };
  expect(events).toEqual([
    [['contact.updated', favorite], removed(kin), contactAdded(kin, true)],
    [removed(ann), contactAdded(ann, true)],
  ]);
});

test('a block removes a contact of the same owner for both; neither the end of the block nor of the other agent restores it', async () => {
  const ann = await service.agent();
  const [kin, retiring] = [await createRelatedAgent(service, ann), await createRelatedAgent(service, ann)];
  const readEvents = await trust.newsOf(ann);
  await trust.block(kin, ann.handle);
  expect([await idsOf(ann), await idsOf(kin)]).toEqual([[retiring.id], [retiring.id]]);
  await trust.unblock(kin, ann.handle);
  expect(await idsOf(kin)).toEqual([retiring.id]);
  const admin = { token: await service.token(ann.handle, { scopes: ['agents:write'] }) };
  expect((await trust.call('DELETE', `/agents/${retiring.id}`, admin)).status).toBe(204);
  expect(await idsOf(ann)).toEqual([]);
  expect(await readEvents()).toEqual([[removed(kin), removed(retiring)]]);
});

test('agents of an organization, and a person’s agents and those of its organization, are no contacts by themselves', async () => {
  const clerk = await createOrganizationAgent(service);
  const colleague = await createRelatedAgent(service, clerk);
  expect([await idsOf(clerk), await idsOf(colleague)]).toEqual([[], []]);
});

test('two agents of one person that are registered at the same time learn of each other', async () => {
  const ann = await service.agent();
  const token = await service.token(ann.handle, { scopes: ['agents:write'] });
  const register = (name: string) => trust.call('POST', '/agents', { token }, { name, display_name: name });
  const readEvents = await trust.newsOf(ann);
  const answers = await Promise.all(
    ['one', 'two'].map((name) => register(`${name}-${randomUUID().slice(0, 8)}`)),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  const [news = []] = await readEvents();
  expect(news.map(([type]) => type)).toEqual(['contact.added', 'contact.added']);
  const later = String(Object(news[1]?.[1]).agent_id);
  const earlier = answers.map(({ body }) => body.id).find((id) => id !== later);
  const rows = await service.sql<{ type: string }>(
    'select e.type from feed f join events e on e.id = f.event_id where f.agent_id = $1',
    [earlier],
  );
  expect(rows.map(({ type }) => type)).toEqual(['contact.added']);
});
