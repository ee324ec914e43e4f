import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../../../packages/core/src/domain/canonical-json.ts';
import type { RemoteCard } from '../../../packages/core/src/domain/remote.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { CardIdentity, RemoteAgentRow } from '../../repositories/remote/agents.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { type AgentChanges, applyChanges } from '../agents/update.ts';
import { announceState, sendWaiting } from './state.ts';

export interface ReadCard {
  card: RemoteCard;
  /** What a person confirms of it. */
  identity: CardIdentity;
  /** What the record of its agent shows of it. */
  profile: Pick<AgentChanges, 'description' | 'skills'>;
}

/** What reading a card brought, or why it could not be read, for people. */
export type CardOutcome = ReadCard | { error: string };

const maxName = 100;

/**
 * Returns the text that a person confirms: another one if the keys that sign the card, or the origins where messages and secrets go, are
 * others.
 */
export function toFingerprint(
  card_url: string,
  { thumbprints, url, token_url }: Pick<CardIdentity, 'thumbprints' | 'url' | 'token_url'>,
): string {
  const origin = new URL(url).origin;
  const token_origin = token_url === null ? null : new URL(token_url).origin;
  const about = { card_url, keys: [...thumbprints].sort(), origin, token_origin };
  return createHash('sha256').update(toCanonicalJson(about)).digest('base64url');
}

/**
 * Stores what reading the card of a claimed record brought, and the profile of its agent. The record is ready if a person has confirmed this
 * identity, or if none is asked. Otherwise it waits for one, and nothing is sent. A failure changes neither state nor card.
 * @param outcome null: the card was not read.
 */
export async function storeCard(
  work: SystemWork,
  claimed: Pick<RemoteAgentRow, 'agent_id' | 'next_at' | 'attempts'>,
  outcome: CardOutcome | null,
  next_at: number,
): Promise<void> {
  const { agent_id, next_at: lease, attempts } = claimed;
  const agent = await work.db.agents.lock(agent_id);
  // A person can have confirmed it meanwhile.
  const record = agent && (await work.db.remoteAgents.lock(agent_id));
  if (!record) return;
  const state = outcome && !('error' in outcome) ? applyIdentity(work, record, outcome) : record;
  const card_error = outcome === null ? record.card_error : 'error' in outcome ? outcome.error : null;
  if (!(await work.db.remoteAgents.store(agent_id, lease, { ...state, attempts, card_error, next_at })))
    return;
  if (outcome === null || 'error' in outcome) return;
  const [, name = ''] = agent.canonical_handle.split('.');
  const nameOf = (card: RemoteCard | null): string => toVisibleLine(card?.name ?? '', maxName) || name;
  // A name that its owner has chosen stays.
  const display_name = agent.display_name === nameOf(record.card) ? nameOf(outcome.card) : agent.display_name;
  const contacts = await work.db.contacts.listIds(agent_id);
  const changed = await applyChanges(work, agent, { ...outcome.profile, display_name }, contacts);
  if (record.state !== state.state) await announceState(work, changed, state);
  if (record.state === 'waiting' && state.state === 'ready') await sendWaiting(work, agent_id);
  if (record.state === 'ready' && state.state === 'waiting')
    work.changes.audit({ act: 'remote_agent.changed', agent_id, detail: describeIdentity(outcome.identity) });
}

/** The state of a record with this identity. The confirmed one keeps the address, the binding and the version of today. */
function applyIdentity(
  { settings: { remote } }: SystemWork,
  record: RemoteAgentRow,
  { card, identity }: ReadCard,
): RemoteAgentRow {
  const isConfirmed = record.confirmed === null ? !remote?.needsPerson : isSame(record.confirmed, identity);
  return isConfirmed
    ? { ...record, card, identity, confirmed: identity, state: 'ready', expires_at: null }
    : { ...record, card, identity, state: 'waiting' };
}

const isSame = (one: CardIdentity, other: CardIdentity): boolean => one.fingerprint === other.fingerprint;

/** What the audit log shows of an identity. */
export function describeIdentity({ fingerprint, url }: CardIdentity) {
  return { fingerprint, host: new URL(url).host };
}
