import { z } from 'zod';
import type { Core } from '../../src/compose.ts';
import type { Scope } from '../../src/domain/scopes.ts';
import { agentByHandle } from '../../src/services/agent-by-handle.ts';
import { openApproval } from '../../src/services/approvals.ts';
import { createCredential } from '../../src/services/credentials.ts';
import { issueToken } from '../../src/services/issue-token.ts';
import { addToOrganization, createOrganization } from '../../src/services/organizations.ts';
import { registerForPerson } from '../../src/services/person-agents.ts';
import { openSession } from '../../src/services/sessions.ts';
import { signUp } from '../../src/services/sign-in.ts';
import { resourceAddresses, tokenLife_s } from '../../src/services/tokens.ts';
import { createWebhook } from '../../src/services/webhooks.ts';
import { restClient } from '../demo/rest.ts';
import {
  agents,
  blocks,
  credentials,
  organization,
  people,
  questions,
  requests,
  sessions,
  webhooks,
} from './cast.ts';
import { haveJobsDone } from './jobs-done.ts';

const anything = z.unknown();

/**
 * Makes something to look at: people, their organization and agents, who know, want to know and do not want to know each other.
 * @returns the id of each agent, by handle
 */
export async function makeWorld(core: Core): Promise<Map<string, string>> {
  const { unitOfWork, config } = core;
  const accounts = new Map<string, string>();
  for (const person of people) {
    accounts.set(person.username, (await signUp(unitOfWork, person, 'open')).account_id);
  }
  await unitOfWork.administer(async (work) => {
    await createOrganization(work, organization.slug);
    for (const [username, role] of organization.members) {
      await addToOrganization(work, { slug: organization.slug, username, role });
    }
  });
  const ids = new Map<string, string>();
  for (const { person, ...profile } of agents) {
    const agent = { card_body: '', skills: [], ...profile };
    const account_id = accounts.get(person) ?? '';
    const made = await unitOfWork.administer((work) => registerForPerson(work, account_id, agent));
    ids.set(made.canonical_handle, made.id);
  }

  const resource = resourceAddresses(config.PUBLIC_URL).api;
  const scopes: Scope[] = ['contacts:read', 'contacts:write'];
  async function as(handle: string) {
    const order = { handle, resource, scopes, expires_in: tokenLife_s };
    const { access_token } = await unitOfWork.administer((work) => issueToken(work, order));
    return restClient(config.PUBLIC_URL, access_token);
  }
  await unitOfWork.administer(async (work) => {
    for (const { agent, ...webhook } of webhooks) {
      const owner = { agent_id: ids.get(agent) ?? '', scopes: new Set(['threads:read', 'contacts:read']) };
      await createWebhook(work, owner, webhook);
    }
  });
  for (const { from, to, message, approved } of requests) {
    await (await as(from)).post('/contacts/requests', { handle: to, message }, anything);
    if (approved) await (await as(to)).post(`/contacts/requests/${from}/approve`, {}, anything);
  }
  for (const { from, to } of blocks) await (await as(from)).post('/blocks', { handle: to }, anything);
  await unitOfWork.administer(async (work) => {
    for (const order of credentials) await createCredential(work, order);
    for (const { username, ...from } of sessions) {
      await openSession(work, { ...from, account_id: accounts.get(username) ?? '' });
    }
    for (const { agent, ...question } of questions) {
      await openApproval(work, { ...question, agent_id: (await agentByHandle(work, agent)).id });
    }
  });
  await haveJobsDone(core, accounts);
  return ids;
}
