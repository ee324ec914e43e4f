import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contactRequestsRepository } from '../../../src/repositories/contacts/requests.ts';
import { contactsRepository } from '../../../src/repositories/contacts/contacts.ts';
import { type FeedEvent, followFeed } from '../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { createRelatedAgent, useContacts } from '../../clients/contacts.ts';
import { outcomeOf } from '../../clients/rest.ts';

const service = useSharedService();
const trust = useContacts(service);

const actions = ['request', 'approve', 'reject', 'removeContact', 'block', 'unblock', 'favorite'] as const;

/** The acting agent, the action and the other agent, by number. */
interface Step {
  by: number;
  to: number;
  move: (typeof actions)[number];
}

const step = fc
  .record({ by: fc.nat({ max: 2 }), other: fc.nat({ max: 1 }), move: fc.constantFrom(...actions) })
  .map(({ by, other, move }): Step => ({ by, to: (by + 1 + other) % 3, move }));
/** Concurrent actions, one wave after the other. */
const roundCount = fc.array(fc.array(step, { minLength: 4, maxLength: 14 }), { minLength: 3, maxLength: 6 });

const allowed = new Set([200, 201, 204, 400, 403, 404]);

async function doAll(agents: readonly TestAgent[], steps: readonly Step[]): Promise<void> {
  const answers = steps.map(async ({ by, to, move }) => {
    const [agent, other] = [agents[by], agents[to]];
    if (!agent || !other) throw new Error('no such agent');
    const { status, text } = await trust[move](agent, other.handle);
    expect(allowed, `${move} answered ${status} ${text}`).toContain(status);
  });
  await Promise.all(answers);
}

interface Pending {
  from_agent_id: string;
  to_agent_id: string;
}

interface Listed {
  agent_id: string;
  since: number;
}

/** The contacts of an agent by its events; every event must change something. */
function fold(contacts: Map<string, number>, events: readonly FeedEvent[]): void {
  for (const { type, data } of events) {
    if (type === 'contact.added') {
      expect(contacts.has(data.agent_id), 'added twice').toBe(false);
      contacts.set(data.agent_id, data.since);
    }
    if (type === 'contact.removed')
      expect(contacts.delete(data.agent_id), 'removes an existing contact').toBe(true);
  }
}

async function listContacts(agent: TestAgent): Promise<Map<string, number>> {
  const contacts: Listed[] = (await trust.contacts(agent)).body.contacts;
  return new Map(contacts.map(({ agent_id, since }) => [agent_id, since]));
}

async function expectSound(
  agents: readonly TestAgent[],
  folded: readonly Map<string, number>[],
): Promise<void> {
  const ids = agents.map(({ id }) => id);
  const contactPairs = new Set<string>();
  for (const [index, agent] of agents.entries()) {
    const listed = await listContacts(agent);
    for (const agent_id of listed.keys()) contactPairs.add(`${agent.id} ${agent_id}`);
    expect(listed, 'the list equals the events').toEqual(folded[index]);
  }
  for (const pair of contactPairs)
    expect(contactPairs, 'a contact has two sides').toContain(pair.split(' ').toReversed().join(' '));

  const pending = await service.core.database.query<Pending>(
    {
      text: `select from_agent_id, to_agent_id from contact_requests
             where status = 'pending' and from_agent_id = any($1) and to_agent_id = any($1)`,
    },
    [ids],
  );
  const requestPairs = pending.map(({ from_agent_id, to_agent_id }) => `${from_agent_id} ${to_agent_id}`);
  expect(new Set(requestPairs).size, 'one request in each direction').toBe(requestPairs.length);
  for (const request of requestPairs) {
    expect(requestPairs, 'crossing requests become a contact').not.toContain(
      request.split(' ').toReversed().join(' '),
    );
    expect([...contactPairs], 'no pending request between contacts').not.toContain(request);
  }
  for (const agent of agents) {
    const { blocks } = (await trust.blocks(agent)).body;
    for (const { blocked_agent_id } of blocks) {
      expect([...contactPairs], 'no contact with a block').not.toContain(`${agent.id} ${blocked_agent_id}`);
      expect(requestPairs, 'no request from the blocker').not.toContain(`${agent.id} ${blocked_agent_id}`);
    }
  }
}

test('contacts, blocks, requests and events stay consistent under concurrent actions of three agents', async () => {
  await fc.assert(
    fc.asyncProperty(roundCount, async (steps) => {
      const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
      const agents = [ann, await createRelatedAgent(service, ann), bob];
      const feeds = await Promise.all(agents.map(({ token }) => followFeed(service.api, token)));
      const folded = await Promise.all(agents.map(listContacts));
      for (const wave of steps) {
        await doAll(agents, wave);
        for (const [index, feed] of feeds.entries()) fold(folded[index] ?? new Map(), await feed());
        await expectSound(agents, folded);
      }
    }),
    { numRuns: 12 },
  );
});

test('a retired agent gets no contact: a concurrent approval and request wait for the retirement', async () => {
  const ann = await service.agent();
  const [bob, related] = await Promise.all([service.agent(), createRelatedAgent(service, ann)]);
  await trust.request(ann, bob.handle);
  const ending = await service.core.database.begin();
  await ending.query({ text: 'update agents set retired_at = $2 where id = $1' }, [ann.id, Date.now()]);
  await contactsRepository(ending).removeAllOf(ann.id);
  await contactRequestsRepository(ending).withdrawAllOf(ann.id, Date.now());
  const answers = Promise.all([trust.approve(bob, ann.handle), trust.request(related, ann.handle)]);
  const waiting = {
    text: 'select from pg_stat_activity where wait_event_type = $1 and datname = current_database()',
  };
  await expect.poll(async () => (await service.core.database.query(waiting, ['Lock'])).length).toBe(2);
  await ending.commit();
  expect((await answers).map(outcomeOf)).toEqual(['404 REQUEST_NOT_FOUND', '404 AGENT_NOT_FOUND']);
  for (const by of [bob, related]) expect((await trust.contacts(by)).body).toEqual({ contacts: [] });
});
