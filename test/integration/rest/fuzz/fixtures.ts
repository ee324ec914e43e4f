import { newId } from '../../../../packages/core/src/domain/ids.ts';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { createOrganization } from '../../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import { requestRest } from '../../../clients/rest.ts';
import { upload } from '../../attachments/setup.ts';
import { createApprovalFixtures } from './approval-fixtures.ts';
import { createInboxFixtures, type InboxFixtures } from './inbox-fixtures.ts';
import type { TestAgent, TestService } from '../../../support/service.ts';

export interface FuzzAgent extends TestAgent {
  owner: string;
  name: string;
}

/** The existing resources. Every response that creates a resource adds to them. */
export interface FuzzFixtures {
  agents: FuzzAgent[];
  organization: string;
  inboxes: InboxFixtures;
  /** Replaces every `{{kind:number}}` with an existing resource that the resident can name. */
  replacePlaceholders(text: string, resident: FuzzAgent, escape: (value: string) => string): string;
  /** Records what an operation created or ended. */
  recordIds(operation: string, resident: FuzzAgent, body: unknown): void;
}

const agentCount = 8;

/** Creates open agents, an organization, some threads and messages. */
export async function createFuzzFixtures(service: TestService): Promise<FuzzFixtures> {
  const residents = await Promise.all(
    Array.from({ length: agentCount }, async () => {
      const agent = await service.agent();
      const [owner = '', name = ''] = agent.handle.split('.');
      return { ...agent, owner, name, token: await service.token(agent.handle, { scopes }) };
    }),
  );
  const organization = `org-${process.pid}`;
  await service.write(async (work) => {
    await createOrganization(work, organization);
    for (const { owner: username } of residents.slice(0, 2)) {
      await joinOrganization(work, { slug: organization, username, role: 'admin' });
    }
  });
  const deliveries = new Map<string, { webhook: string; event: string }>();
  for (const { id, token } of residents) deliveries.set(id, await buildDelivery(service, token));
  const approvals = new Map<string, string[]>();
  for (const { id, owner } of residents) approvals.set(id, await createApprovalFixtures(service, owner));
  const sentRequests = await createSentRequests(service, residents);
  const inboxes = createInboxFixtures(service);
  const fixtures = createFixtures({ residents, organization, deliveries, approvals, sentRequests, inboxes });
  for (const [index, { token }] of residents.entries()) {
    const other = residents[(index + 1) % agentCount];
    const body = { with_handle: other?.handle, initial_message: 'Hello' };
    const created = await service.post({ token }, '/threads', body);
    fixtures.recordIds('create_thread', residents[index] ?? failSetup(), created.body);
    const file = await upload(service, { token }, { bytes: Buffer.from('a file') });
    await service.core.db.attachments.setScan(file.body.id, {
      scan_status: 'clean',
      scanned_by: 'test',
    });
    fixtures.recordIds('create_attachment', residents[index] ?? failSetup(), file.body);
  }
  return fixtures;
}

/** Creates a webhook with a failed delivery. No worker posts it. */
async function buildDelivery({ api, core }: TestService, token: string) {
  const created = await requestRest('POST', `${api}/webhooks`, {
    token,
    body: { url: 'https://127.0.0.1:1/' },
  });
  const delivery = { webhook: String(created.body.id), event: newId('event') };
  await core.database.query(
    {
      text: `insert into webhook_deliveries (webhook_id, event_id, event_type, number, state, created_at)
             values ($1, $2, 'message.created', 1, 'failed', 1)`,
    },
    [delivery.webhook, delivery.event],
  );
  return delivery;
}

/** Creates a pending contact request of each agent, which only its sender can end. Returns the ids by sender. */
async function createSentRequests({ agent, core }: TestService, senders: readonly FuzzAgent[]) {
  const { id: to } = await agent();
  const requests = new Map(senders.map(({ id }) => [id, newId('contactRequest')]));
  await core.database.query(
    {
      text: `insert into contact_requests (id, from_agent_id, to_agent_id, status, announced, created_at)
             select id, from_agent_id, $1, 'pending', true, 1 from unnest($2::text[], $3::text[]) as r (from_agent_id, id)`,
    },
    [to, [...requests.keys()], [...requests.values()]],
  );
  return requests;
}

function failSetup(): never {
  throw new Error('there are no agents');
}

function elementAt<T>(list: readonly T[], number: number): T | undefined {
  return list[number % Math.max(list.length, 1)];
}

interface FixtureIds {
  residents: FuzzAgent[];
  organization: string;
  deliveries: ReadonlyMap<string, { webhook: string; event: string }>;
  approvals: ReadonlyMap<string, string[]>;
  sentRequests: ReadonlyMap<string, string>;
  inboxes: InboxFixtures;
}

function createFixtures({
  residents,
  organization,
  deliveries,
  approvals,
  sentRequests,
  inboxes,
}: FixtureIds): FuzzFixtures {
  const threads: { id: string; members: string[] }[] = [];
  const messages: { id: string; thread_id: string }[] = [];
  const requests: { id: string; to: string }[] = [];
  const registered: { id: string; owner: string }[] = [];
  const contacts: [string, string][] = [];
  const remotes: { id: string; owner: string }[] = [];
  const uploads: { id: string; owner: string }[] = [];
  const webhooks: { id: string; agent: string }[] = [];
  const tasks: { id: string; client: string; agent: string }[] = [];
  const cursors: string[] = ['W10.AAAAAAAAAAAAAAAA'];
  let fresh = 0;

  const of: Record<string, (number: number, self: FuzzAgent) => string | undefined> = {
    own_owner: (_, self) => self.owner,
    own_name: (_, self) => self.name,
    owner: (number) => elementAt(residents, number)?.owner,
    name: (number) => elementAt(residents, number)?.name,
    handle: (number) => elementAt(residents, number)?.handle,
    agent: (number) => elementAt(residents, number)?.id,
    organization: () => organization,
    thread: (number, self) =>
      elementAt(
        threads.filter(({ members }) => members.includes(self.id)),
        number,
      )?.id,
    any_thread: (number) => elementAt(threads, number)?.id,
    message: (number) => elementAt(messages, number)?.id,
    request: (number, self) =>
      elementAt(
        requests.filter(({ to }) => to === self.id),
        number,
      )?.id,
    sent_request: (_, self) => sentRequests.get(self.id),
    registered: (number, self) =>
      elementAt(
        registered.filter(({ owner }) => owner === self.owner),
        number,
      )?.id,
    remote: (number, self) =>
      elementAt(
        remotes.filter(({ owner }) => owner === self.owner),
        number,
      )?.id,
    contact: (number, self) =>
      elementAt(
        contacts.filter((pair) => pair.includes(self.id)),
        number,
      )?.find((id) => id !== self.id),
    upload: (number, self) =>
      elementAt(
        uploads.filter(({ owner }) => owner === self.id),
        number,
      )?.id,
    approval: (number, self) => elementAt(approvals.get(self.id) ?? [], number),
    webhook: (_, self) => deliveries.get(self.id)?.webhook,
    delivery: (_, self) => deliveries.get(self.id)?.event,
    made_webhook: (number, self) =>
      elementAt(
        webhooks.filter(({ agent }) => agent === self.id),
        number,
      )?.id,
    given_task: (number, self) =>
      elementAt(
        tasks.filter(({ agent }) => agent === self.id),
        number,
      )?.id,
    own_task: (number, self) =>
      elementAt(
        tasks.filter(({ client }) => client === self.id),
        number,
      )?.id,
    lease: (_, self) => inboxes.lease(self.id),
    dead_item: (_, self) => inboxes.deadItem(self.id),
    cursor: (number) => elementAt(cursors, number),
    fresh: () => `new-${(fresh += 1)}`,
  };

  return {
    agents: residents,
    organization,
    inboxes,
    replacePlaceholders: (text, resident, escape) =>
      text.replaceAll(/\{\{(\w+):(\d+)\}\}/g, (_, kind: string, number: string) =>
        escape(of[kind]?.(Number(number), resident) ?? 'absent'),
      ),
    recordIds(operation, resident, body) {
      const created = Object(body) as Record<string, unknown>;
      const id = String(created['id']);
      const name = operation.replace(/_as$/, '');
      if (name === 'create_thread' || name === 'add_thread_member') {
        const members = (created['members'] as { id: string }[]).map((member) => member.id);
        const known = threads.find((thread) => thread.id === id);
        if (known) known.members = members;
        else threads.push({ id, members });
      }
      if (name === 'create_task') {
        const { client, agent } = created as Record<'client' | 'agent', { id: string }>;
        tasks.push({ id, client: client.id, agent: agent.id });
      }
      if (name === 'send_message') messages.push({ id, thread_id: String(created['thread_id']) });
      if (name === 'request_contact') {
        requests.push({ id: String(created['request_id']), to: (created['to'] as { id: string }).id });
      }
      if (name === 'request_contact' || name === 'approve_contact_request') {
        const { from, to, status } = created as { from: { id: string }; to: { id: string }; status: string };
        if (status === 'approved') contacts.push([from.id, to.id]);
      }
      if (name === 'create_attachment') uploads.push({ id, owner: resident.id });
      if (name === 'create_webhook') webhooks.push({ id, agent: resident.id });
      if (name === 'register_agent') registered.push({ id, owner: resident.owner });
      if (name === 'add_remote_agent') remotes.push({ id, owner: resident.owner });
      const cursor = created['next_cursor'] ?? created['cursor'];
      if (typeof cursor === 'string' && cursors.length < 500) cursors.push(cursor);
    },
  };
}
