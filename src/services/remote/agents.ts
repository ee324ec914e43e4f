import { a2aCardUrl } from '../../../packages/core/src/domain/a2a.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { isName, nameRule } from '../../../packages/core/src/domain/agents/handles.ts';
import {
  confirmationMs,
  type EnteredCredentialKind,
  remoteTopic,
} from '../../../packages/core/src/domain/remote.ts';
import type { PrincipalRow } from '../../repositories/agents/managed-agents.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { retiredActor } from '../actor-checks.ts';
import { registerAgentFor } from '../agents/registration.ts';
import { retireRemote } from '../agents/retire.ts';
import { applyChanges } from '../agents/update.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { type RemoteAgent, requireRemoteSettings } from './access.ts';
import { describeIdentity } from './cards.ts';
import { announceState, sendWaiting } from './state.ts';
import { type RemoteCredential, sealCredential } from './credentials.ts';

/** As a caller writes it. */
export interface NewCredential {
  kind: EnteredCredentialKind;
  token?: string | undefined;
  client_id?: string | undefined;
  client_secret?: string | undefined;
  token_url?: string | undefined;
}

export interface AddRemoteAgent {
  card_url: string;
  /** The part of the handle after the dot. */
  handle?: string | undefined;
  /** The slug of the owning organization; if absent, the record belongs to the person. */
  organization?: string | undefined;
  credential: NewCredential;
}

/**
 * Adds an agent of another system for a principal. Its card is read a moment later by a worker. Then it waits for a person, and is removed
 * after 7 days without a confirmation.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN, NOT_FOUND (organization, or the service has no remote agents), DUPLICATE_HANDLE
 */
export async function addRemoteAgentFor(
  work: SystemWork,
  principal: PrincipalRow,
  { organization, ...input }: AddRemoteAgent,
): Promise<RemoteAgent> {
  const card_url = parseCardUrl(work, input.card_url);
  const credential = parseCredential(work, input.credential);
  const name = input.handle ?? toHandleName(card_url);
  return insertRemoteAgent(work, principal, { name, organization, card_url, credential, bound_id: null });
}

/** A record to insert. Its address is checked. */
interface NewRecord extends Pick<RemoteAgent, 'card_url' | 'bound_id'> {
  /** The part of the handle after the dot, in any case. */
  name: string;
  organization: string | undefined;
  credential: RemoteCredential;
}

/** Inserts the record of an agent of another system, which a worker then reads. @throws {DomainError} as addRemoteAgentFor */
export async function insertRemoteAgent(
  work: SystemWork,
  principal: PrincipalRow,
  { name: nameInput, organization, card_url, credential, bound_id }: NewRecord,
): Promise<RemoteAgent> {
  const name = nameInput.toLowerCase();
  if (!isName(name)) throw wrongField('handle', nameRule);
  const { id } = await registerAgentFor(work, principal, {
    name,
    organization,
    scope: 'remote',
    display_name: name,
    description: '',
    visibility: 'private',
    inbound_policy: 'trusted_only',
    card_body: '',
    skills: [],
  });
  await work.db.remoteAgents.insert({
    agent_id: id,
    card_url,
    ...sealCredential(work.settings.sealedBox, id, credential),
    expires_at: work.now + confirmationMs,
    created_at: work.now,
    bound_id,
  });
  work.changes.audit({ act: 'remote_agent.added', agent_id: id, detail: { host: new URL(card_url).host } });
  work.changes.publish({ topic: remoteTopic, body: id });
  const agent = await work.db.remoteAgents.find(id);
  if (!agent) throw new Error('the remote agent was not inserted');
  return agent;
}

/**
 * Adds a remote agent for the principal of the actor; see addRemoteAgentFor.
 * @throws {DomainError} the same, and UNAUTHORIZED
 */
export async function addRemoteAgent(work: Work, input: AddRemoteAgent): Promise<RemoteAgent> {
  const principal = await work.db.managedAgents.findPrincipal(work.actor.agent_id);
  if (!principal) throw retiredActor();
  return addRemoteAgentFor(work, principal, input);
}

/** Returns a page of the remote agents of the owner of the actor, and of those that the actor manages, by handle. */
export async function listRemoteAgents(work: Work, page: PageRequest) {
  requireRemoteSettings(work);
  const { agent_id } = work.actor;
  return readPage<RemoteAgent, [string]>(work, page, {
    binding: ['list_remote_agents'],
    rows: (after, limit) => work.db.remoteAgents.list(agent_id, after?.[0] ?? '', limit),
    position: ({ canonical_handle }) => [canonical_handle],
  });
}

export interface RemoteAgentChanges {
  display_name?: string | undefined;
  credential?: NewCredential | undefined;
}

/**
 * Changes the name or the credential of a locked remote agent. With another credential, what waits for it is sent again.
 * @throws {DomainError} VALIDATION_ERROR
 */
export async function updateRemoteAgent(
  work: SystemWork,
  { agent_id, state, credential_kind: kind }: RemoteAgent,
  { display_name, credential: input }: RemoteAgentChanges,
): Promise<RemoteAgent> {
  if (input !== undefined) {
    if (kind === 'invitation')
      throw wrongField('credential', 'comes from the invitation; remove the agent and redeem another one');
    const { credential_kind, credential } = sealCredential(
      work.settings.sealedBox,
      agent_id,
      parseCredential(work, input),
    );
    await work.db.remoteAgents.setCredential(agent_id, credential_kind, credential);
    work.changes.audit({ act: 'remote_agent.changed', agent_id, detail: { credential: credential_kind } });
    if (state === 'ready') await sendWaiting(work, agent_id);
  }
  const agent = await work.db.agents.lock(agent_id);
  if (agent && display_name !== undefined)
    await applyChanges(work, agent, { display_name }, await work.db.contacts.listIds(agent_id));
  const changed = await work.db.remoteAgents.find(agent_id);
  if (!changed) throw new Error('the locked remote agent is gone');
  return changed;
}

/** Has the card of a locked remote agent read at once, and what waits for it sent again. */
export async function refreshRemoteAgent(work: SystemWork, { agent_id, state }: RemoteAgent): Promise<void> {
  await work.db.remoteAgents.setDue(agent_id, work.now);
  work.changes.publish({ topic: remoteTopic, body: agent_id });
  if (state === 'ready') await sendWaiting(work, agent_id);
}

/** Removes a locked remote agent. Its threads and messages stay, and its handle stays reserved. */
export async function removeRemoteAgent(
  work: SystemWork,
  { agent_id: id, canonical_handle }: RemoteAgent,
): Promise<void> {
  await retireRemote(work, { id, canonical_handle });
}

/** Removes a remote agent unless a person has confirmed it meanwhile. */
export async function removeUnconfirmed(work: SystemWork, agent_id: string, now: number): Promise<void> {
  const agent = (await work.db.agents.lock(agent_id)) && (await work.db.remoteAgents.lock(agent_id));
  if (agent && agent.expires_at !== null && agent.expires_at <= now) await removeRemoteAgent(work, agent);
}

/**
 * Confirms, for a person, what the card of a locked remote agent says, and sends what waits for it.
 * @param fingerprint the one that the person has seen.
 * @throws {DomainError} INVALID_TRANSITION if it is another one now
 */
export async function confirmRemoteAgent(
  work: SystemWork,
  { agent_id, identity, state, failing_since }: RemoteAgent,
  fingerprint: string,
): Promise<void> {
  if (identity?.fingerprint !== fingerprint) {
    const message = 'The agent has changed since this page was shown. Check it again.';
    throw new DomainError('INVALID_TRANSITION', message);
  }
  if (state === 'ready') return;
  await work.db.remoteAgents.confirm(agent_id);
  const agent = await work.db.agents.lock(agent_id);
  if (agent) await announceState(work, agent, { state: 'ready', failing_since });
  work.changes.audit({ act: 'remote_agent.confirmed', agent_id, detail: describeIdentity(identity) });
  await sendWaiting(work, agent_id);
}

/** The usual place of a card (A2A 1.0, section 8.2). */
const wellKnown = '/.well-known/agent-card.json';

/** Checks the address of a card. @throws {DomainError} VALIDATION_ERROR, NOT_FOUND */
export function parseCardUrl(work: SystemWork, text: string): string {
  const problem = requireRemoteSettings(work).checkUrl(text);
  if (problem !== undefined) throw wrongField('card_url', problem);
  const url = new URL(text);
  if (url.pathname === '/' && url.search === '') url.pathname = wellKnown;
  const [, owner, name] = /\/a2a\/([^/]+)\/([^/]+)\//.exec(url.pathname) ?? [];
  const own = new URL(`${work.settings.publicUrl}/`).href;
  if (url.href.startsWith(own)) {
    const isCard =
      owner !== undefined && url.href === a2aCardUrl(work.settings.publicUrl, `${owner}.${name}`);
    throw wrongField(
      'card_url',
      `is an address of this service; write to the agent by its handle${isCard ? `, ${owner}.${name}` : ''}`,
    );
  }
  return url.href;
}

/** The fields of each kind of credential. */
const fieldsOfKind: Readonly<Record<EnteredCredentialKind, readonly (keyof NewCredential)[]>> = {
  none: [],
  bearer: ['token'],
  client_credentials: ['client_id', 'client_secret'],
};

/** @throws {DomainError} VALIDATION_ERROR */
function parseCredential(work: SystemWork, input: NewCredential): RemoteCredential {
  const { kind, token = '', client_id = '', client_secret = '', token_url } = input;
  const needed = fieldsOfKind[kind];
  for (const field of ['token', 'client_id', 'client_secret', 'token_url'] as const) {
    const isGiven = input[field] !== undefined;
    const isAllowed = needed.includes(field) || (kind === 'client_credentials' && field === 'token_url');
    if (isGiven && !isAllowed) throw wrongField(`credential.${field}`, `does not fit the kind ${kind}`);
    if (!isGiven && needed.includes(field))
      throw wrongField(`credential.${field}`, `is required for the kind ${kind}`);
  }
  if (kind === 'none') return { kind };
  if (kind === 'bearer') return { kind, token };
  const problem = token_url === undefined ? undefined : requireRemoteSettings(work).checkUrl(token_url);
  if (problem !== undefined) throw wrongField('credential.token_url', problem);
  return { kind, client_id, client_secret, token_url: token_url ?? null };
}

const maxNameLength = 32;
const maxChoices = 200;

/** A name for an agent of this host. */
export function toHandleName(card_url: string): string {
  return toName(new URL(card_url).hostname.replace(/^www\./, ''));
}

/** Returns the first name like `text` that no agent of the owner has or had. */
export async function chooseName({ db }: SystemWork, owner_name: string, text: string): Promise<string> {
  const name = toName(text);
  const names = [
    name,
    ...Array.from({ length: maxChoices }, (_, at) => toName(`${name.slice(0, 28)}-${at + 2}`)),
  ];
  const taken = new Set(await db.remoteAgents.listTakenHandles(names.map((one) => `${owner_name}.${one}`)));
  return names.find((one) => !taken.has(`${owner_name}.${one}`)) ?? name;
}

function toName(text: string): string {
  return text
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxNameLength)
    .replaceAll(/^-+|-+$/g, '');
}
