import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { type Client, createClient } from '../../packages/client/src/main.ts';
import type { Core } from '../../src/compose.ts';
import type { Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import { beginErasure } from '../../src/services/agents/erasures.ts';
import { beginExport } from '../../src/services/agents/exports.ts';
import { findAgentByHandle } from '../../src/services/agents/find-by-handle.ts';
import { openApproval } from '../../src/services/approvals/approvals.ts';
import { createCredential } from '../../src/services/auth/credentials.ts';
import { issueToken } from '../../src/services/auth/issue-token.ts';
import { acceptInvitation } from '../../src/services/people/membership-invitations.ts';
import { createOrganization, inviteAsOperator } from '../../src/services/people/organizations.ts';
import { registerForPerson } from '../../src/services/people/agents.ts';
import { openSession } from '../../src/services/people/sessions.ts';
import { signUp } from '../../src/services/people/sign-in.ts';
import { toResourceUrls, tokenLifeSeconds } from '../../src/services/auth/tokens.ts';
import { createWebhook } from '../../src/services/webhooks/webhooks.ts';
import { waitUntil } from '../../src/shared/wait-until.ts';
import {
  agents,
  blocks,
  conversations,
  credentials,
  erasedAgent,
  exportedAgent,
  organization,
  people,
  approvalRequests,
  requests,
  sessions,
  webhooks,
} from './fixtures.ts';

/**
 * Creates sample data: people, an organization, agents, contacts, requests, blocks and conversations.
 * @returns the id of each agent, by handle
 */
export async function seedService(core: Core): Promise<Map<string, string>> {
  const { unitOfWork, config } = core;
  const accounts = new Map<string, string>();
  for (const person of people) {
    accounts.set(person.username, (await signUp(unitOfWork, person, 'open')).account_id);
  }
  await unitOfWork.write(system, async (work) => {
    await createOrganization(work, organization.slug);
    for (const [username, role] of organization.members) {
      const { slug } = organization;
      await inviteAsOperator(work, { slug, username, role });
      await acceptInvitation(work, { account_id: accounts.get(username) ?? '' }, slug);
    }
  });
  const ids = new Map<string, string>();
  for (const { person, ...profile } of agents) {
    const agent = { card_body: '', skills: [], ...profile };
    const account_id = accounts.get(person) ?? '';
    const created = await unitOfWork.write(system, (work) => registerForPerson(work, account_id, agent));
    ids.set(created.canonical_handle, created.id);
  }

  const resource = toResourceUrls(config.PUBLIC_URL).api;
  const scopes: Scope[] = ['contacts:read', 'contacts:write', 'threads:read', 'threads:write'];
  async function createClientFor(handle: string) {
    const order = { handle, resource, scopes, expires_in: tokenLifeSeconds };
    const { access_token } = await unitOfWork.write(system, (work) => issueToken(work, order));
    return createClient({ url: config.PUBLIC_URL, auth: access_token });
  }
  await unitOfWork.write(system, async (work) => {
    for (const { agent, ...webhook } of webhooks) {
      const owner = { agent_id: ids.get(agent) ?? '', scopes: new Set(['threads:read', 'contacts:read']) };
      await createWebhook(work, owner, webhook);
    }
  });
  for (const { from, to, message, approved } of requests) {
    await (await createClientFor(from)).contacts.request({ handle: to, message });
    if (approved) await (await createClientFor(to)).contacts.approveRequest({ request_ref: from });
  }
  for (const { from, to } of blocks) await (await createClientFor(from)).contacts.blockAgent({ handle: to });
  for (const conversation of conversations) await seedConversation(createClientFor, conversation);
  await unitOfWork.write(system, async (work) => {
    for (const order of credentials) await createCredential(work, order);
    for (const { username, ...from } of sessions) {
      await openSession(work, { ...from, account_id: accounts.get(username) ?? '' });
    }
    for (const { agent, ...question } of approvalRequests) {
      await openApproval(work, { ...question, agent_id: (await findAgentByHandle(work, agent)).id });
    }
  });
  await waitForJobs(core, accounts);
  return ids;
}

async function seedConversation(
  createClientFor: (handle: string) => Promise<Client>,
  { subject, members, messages }: (typeof conversations)[number],
): Promise<void> {
  const [creator, participant] = members;
  const client = await createClientFor(creator);
  const { id: thread_id } = await client.threads.create({ participants: [participant], subject });
  let read = 0;
  for (const { from, file, ...message } of messages) {
    const sender = await createClientFor(from);
    if (read > 0) await sender.threads.markRead({ thread_id, up_to_sequence: read });
    const attachment_ids = file ? [(await uploadText(sender, file)).id] : [];
    ({ sequence: read } = await sender.messages.send({ thread_id, ...message, attachment_ids }));
  }
}

const uploadText = ({ attachments }: Client, { filename, text }: { filename: string; text: string }) =>
  attachments.upload(new Blob([text], { type: 'text/plain' }), { filename });

/** Exports one agent and erases another, and waits until the worker has done both. */
async function waitForJobs(
  { unitOfWork, db, config }: Core,
  accounts: ReadonlyMap<string, string>,
): Promise<void> {
  const exporting = await unitOfWork.write(system, async (work) => {
    const order = {
      account_id: accounts.get(exportedAgent.person) ?? '',
      days: config.EXPORT_RETENTION_DAYS,
    };
    return beginExport(work, await findAgentByHandle(work, exportedAgent.agent), order);
  });
  const erasing = await unitOfWork.write(system, async (work) => {
    const agent = { ...(await findAgentByHandle(work, erasedAgent.agent)), retired: false };
    return beginErasure(work, agent, accounts.get(erasedAgent.person) ?? '');
  });
  const isDone = async () => {
    const jobs = [await db.agentExports.find(exporting.id), await db.erasures.find(erasing.id)];
    return jobs.every((job) => job && job.done_at !== null);
  };
  if (!(await waitUntil(isDone, { timeoutMs: 60_000, intervalMs: 100 })))
    throw new Error('the worker did not finish the jobs in time');
}
