import { system } from '../../../../packages/core/src/domain/auth/audit.ts';
import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import { createCredential } from '../../../../src/services/auth/credentials.ts';
import { removeFromOrganization } from '../../../../src/services/people/organizations.ts';
import { openFormBrowser, type FormBrowser } from '../../../clients/form-browser.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import type { TestAgent, TestService } from '../../../support/service.ts';
import { createRoles, post, sendTo } from '../conversations/conversation-fixtures.ts';
import { inboxOf } from '../../inbox/setup.ts';
import { signInPerson } from '../signed-in-person.ts';
import type { Kind, Role } from './table.ts';

/** What the parameters of the pages about an agent name. */
export type Parameters = Readonly<Record<string, string>>;

/** People of every role, and an agent of each kind with everything that a page can show. */
export async function createRightsWorld(service: TestService) {
  const { people, agents, threads, stranger, slug } = await createRoles(service);
  const former = await signInPerson(service);
  const membership = { slug, username: former.username, role: 'admin' } as const;
  await service.write((work) => joinOrganization(work, membership));
  await service.write((work) => removeFromOrganization(work, membership));
  const { owner, admin, member, colleague, outsider } = people;
  const browsers: Record<Role, FormBrowser> = {
    owner,
    admin,
    member,
    colleague,
    former,
    stranger: outsider,
    'signed out': openFormBrowser(service.url),
  };
  const named = {
    personal: [agents.personal, threads.personal],
    shared: [agents.shared, threads.shared],
    linked: [agents['linked with a member'], threads['linked with a member']],
  } as const satisfies Record<Kind, readonly [TestAgent, string]>;
  const parameters = {
    personal: await fillAgent(service, stranger, ...named.personal),
    shared: await fillAgent(service, stranger, ...named.shared),
    linked: await fillAgent(service, stranger, ...named.linked),
  };
  const organization = { slug, username: colleague.username };
  const handles = {
    personal: agents.personal.handle,
    shared: agents.shared.handle,
    linked: named.linked[0].handle,
  };
  return { browsers, parameters, organization, handles };
}

export type RightsWorld = Awaited<ReturnType<typeof createRightsWorld>>;

async function fillAgent(
  service: TestService,
  stranger: TestAgent,
  agent: TestAgent,
  thread: string,
): Promise<Parameters> {
  const { unitOfWork, db } = service.core;
  const inbox = inboxOf(service.api, agent);
  await inbox.turnOn({ max_attempts: 1 });
  await sendTo(service, stranger, thread, 'This one dies');
  const [lease] = await inbox.leases();
  await inbox.release(lease?.id ?? '', { reason: 'It must' });
  const { body } = await inbox.dead();
  const token = await service.token(agent.handle, { scopes: ['agents:write'] });
  await post(service, { ...agent, token }, '/webhooks', { url: 'https://hooks.example.com/x' });
  const [webhook] = await db.webhooks.list(agent.id);
  const order = { handle: agent.handle, scopes: ['threads:read'] } as const;
  const { client_id } = await unitOfWork.write(system, (work) => createCredential(work, order));
  const question = {
    agent_id: agent.id,
    action: 'request_contact',
    target: stranger.handle,
    detail: {},
  } as const;
  const approval = await unitOfWork.write(system, (work) => openApproval(work, question));
  await post(service, agent, '/contacts/requests', { handle: stranger.handle });
  await post(service, stranger, `/contacts/requests/${agent.handle}/approve`, {});
  return {
    agent: agent.id,
    thread,
    approval: approval?.id ?? '',
    item_id: body.items[0].id,
    webhook_id: webhook?.id ?? '',
    client_id,
    contact_id: stranger.id,
  };
}
