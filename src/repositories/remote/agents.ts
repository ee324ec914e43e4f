import {
  type CredentialKind,
  type RemoteCard,
  remoteFailureMs,
} from '../../../packages/core/src/domain/remote.ts';
import { manages } from '../agents/managed-agents.ts';
import { administeredByPerson } from '../agents/rights.ts';
import { repository, sql } from '../sql.ts';

/** What a person confirmed of a card, or what is to be confirmed. */
export interface CardIdentity {
  fingerprint: string;
  /** The public keys that signed the card, as JWKs; empty if it is not signed. */
  keys: object[];
  /** Their SHA-256 thumbprints (RFC 7638). */
  thumbprints: string[];
  /** Where messages go. */
  url: string;
  binding: 'JSONRPC' | 'HTTP+JSON';
  version: '1.0' | '0.3';
  /** Where the card says that a program gets its tokens; null: nowhere. */
  token_url: string | null;
}

/** An agent of another system. Times are in milliseconds. */
export interface RemoteAgentRow {
  agent_id: string;
  card_url: string;
  /** `waiting` for a person: nothing is sent. */
  state: 'waiting' | 'ready';
  /** The card (A2A 1.0, section 4.4.1), as last fetched; null before. */
  card: RemoteCard | null;
  /** What the card says now; null before it is fetched. */
  identity: CardIdentity | null;
  /** What a person confirmed; null before. */
  confirmed: CardIdentity | null;
  credential_kind: CredentialKind;
  /** Encrypted; null without one. */
  credential: Buffer | null;
  attempts: number;
  /** When the card is fetched again. */
  next_at: number;
  /** Why the card could not be read. */
  card_error: string | null;
  /** Why the last message could not be delivered. */
  last_error: string | null;
  failing_since: number | null;
  /** Whether agents were told of it. */
  failing_told: boolean;
  last_delivered_at: number | null;
  /** Without a confirmation, it is removed then. */
  expires_at: number | null;
  created_at: number;
  /** The only agent here that it talks with; null: each one of its owner. */
  bound_id: string | null;
}

/** With its columns of `agents`. */
export interface ListedRemoteAgentRow extends RemoteAgentRow {
  canonical_handle: string;
  display_name: string;
  description: string;
  owner_id: string;
  bound_handle: string | null;
  skills: { name: string; description: string }[];
}

export type NewRemoteAgent = Pick<
  RemoteAgentRow,
  'agent_id' | 'card_url' | 'credential_kind' | 'credential' | 'expires_at' | 'created_at' | 'bound_id'
>;

/** What a fetch of the card changes. */
export type CardState = Pick<
  RemoteAgentRow,
  'state' | 'card' | 'identity' | 'confirmed' | 'attempts' | 'card_error' | 'expires_at'
>;

const columns = `r.agent_id, r.card_url, r.state, r.card, r.identity, r.confirmed, r.credential_kind, r.credential, r.attempts, r.next_at, r.card_error,
  r.last_error, r.failing_since, r.failing_told, r.last_delivered_at, r.expires_at, r.created_at, r.bound_id`;

const listed = `${columns}, a.canonical_handle, a.display_name, a.description, a.skills, a.owner_id,
  (select canonical_handle from agents where id = r.bound_id) as bound_handle
  from remote_agents r join agents a on a.id = r.agent_id`;

const settingOutcome = `update remote_agents set last_error = :error,
  failing_since = case when :error::text is null then null else coalesce(failing_since, :now) end,
  last_delivered_at = case when :error::text is null then :now else last_delivered_at end`;

/** Whether agents are to be told of an outcome: of the first success after a failure that they know, and of a failure that lasts. */
const isNews = `(case when :error::text is null then failing_told
  else not failing_told and coalesce(failing_since <= :now::bigint - ${remoteFailureMs}, false) end)`;

export const remoteAgentsRepository = repository({
  insert: sql.run<[agent: NewRemoteAgent]>(
    'remote_agents.insert',
    `insert into remote_agents (agent_id, card_url, state, credential_kind, credential, next_at, expires_at, created_at, bound_id)
     values (:agent_id, :card_url, 'waiting', :credential_kind, :credential, :created_at, :expires_at, :created_at, :bound_id)`,
  ),
  find: sql.row<[agentId: string], ListedRemoteAgentRow>(
    'remote_agents.find',
    `select ${listed} where r.agent_id = :agent_id and a.retired_at is null`,
  ),
  /** Those of these agents that are not retired. */
  findAll: sql.rows<[agentIds: readonly string[]], ListedRemoteAgentRow>(
    'remote_agents.find_all',
    `select ${listed} where r.agent_id = any(:agent_ids::text[]) and a.retired_at is null`,
  ),
  /** As `find`, and locks the record until the transaction ends. */
  lock: sql.row<[agentId: string], ListedRemoteAgentRow>(
    'remote_agents.lock',
    `select ${listed} where r.agent_id = :agent_id and a.retired_at is null for update of r`,
  ),
  /** Those of the owner of an agent, and those that it manages, by handle, after a handle. */
  list: sql.rows<[agentId: string, after: string, limit: number], ListedRemoteAgentRow>(
    'remote_agents.list(agent_id, after, limit)',
    `select ${listed} join agents me on (${manages} or a.owner_id = me.owner_id and a.retired_at is null)
     where me.id = :agent_id and a.canonical_handle > :after order by a.canonical_handle limit :limit`,
  ),
  /** Those that a person owns or administers, by handle, after a handle. */
  listOfPerson: sql.rows<[accountId: string, after: string, limit: number], ListedRemoteAgentRow>(
    'remote_agents.list_of_person(account_id, after, limit)',
    `select ${listed} where ${administeredByPerson(':account_id')} and a.retired_at is null and a.canonical_handle > :after
     order by a.canonical_handle limit :limit`,
  ),
  findOfPerson: sql.row<[accountId: string, agentId: string], ListedRemoteAgentRow>(
    'remote_agents.find_of_person(account_id, agent_id)',
    `select ${listed} where r.agent_id = :agent_id and ${administeredByPerson(':account_id')} and a.retired_at is null`,
  ),
  /** With its threads and what is known of their messages at the other system. */
  remove: sql.run<[agentId: string]>(
    'remote_agents.remove',
    `delete from remote_agents where agent_id = :agent_id`,
  ),
  setCredential: sql.run<[agentId: string, kind: CredentialKind, credential: Buffer | null]>(
    'remote_agents.set_credential(agent_id, kind, credential)',
    `update remote_agents set credential_kind = :kind, credential = :credential where agent_id = :agent_id`,
  ),
  /** Stores what the other installation answered to a claimed record. Returns false if the lease has ended. */
  setRedeemed: sql.hasRow<
    [redeemed: Pick<RemoteAgentRow, 'agent_id' | 'card_url' | 'credential'> & { lease: number }]
  >(
    'remote_agents.set_redeemed',
    `update remote_agents set card_url = :card_url, credential = :credential where agent_id = :agent_id and next_at = :lease returning agent_id`,
  ),
  /** The other installation has ended its token: nothing is sent until a person confirms it again. */
  suspend: sql.run<[agentId: string]>(
    'remote_agents.suspend',
    `update remote_agents set state = 'waiting', confirmed = null where agent_id = :agent_id and state = 'ready'`,
  ),
  /** Whether calls of the agent are answered; undefined without such an agent. */
  isReady: sql.value<[agentId: string], boolean | undefined>(
    'remote_agents.is_ready',
    `select state = 'ready' from remote_agents where agent_id = :agent_id`,
  ),
  /** The only agent here that it talks with; null: each one of its owner. */
  findBound: sql.value<[agentId: string], string | null | undefined>(
    'remote_agents.find_bound',
    `select bound_id from remote_agents where agent_id = :agent_id`,
  ),
  /** Those that talk with this agent only. */
  listBound: sql.rows<[agentId: string], { id: string; canonical_handle: string }>(
    'remote_agents.list_bound',
    `select a.id, a.canonical_handle from remote_agents r join agents a on a.id = r.agent_id
     where r.bound_id = :agent_id and a.retired_at is null order by a.id`,
  ),
  /** Which of these handles are taken, also by retired agents. */
  listTakenHandles: sql.values<[handles: readonly string[]], string>(
    'remote_agents.list_taken_handles',
    `select canonical_handle from agents where canonical_handle = any(:handles::text[])`,
  ),
  /** The card is fetched at once. */
  setDue: sql.run<[agentId: string, now: number]>(
    'remote_agents.set_due(agent_id, now)',
    `update remote_agents set next_at = :now, attempts = 0 where agent_id = :agent_id`,
  ),
  /** No other process fetches the card for `leaseMs`. Undefined while another one does, or before it is due. */
  claim: sql.row<[agentId: string, now: number, leaseMs: number], RemoteAgentRow>(
    'remote_agents.claim(agent_id, now, lease_ms)',
    `update remote_agents r set next_at = :now::bigint + :lease_ms::bigint from agents a
     where r.agent_id = :agent_id and a.id = r.agent_id and a.retired_at is null and r.next_at <= :now returning ${columns}`,
  ),
  /** Stores what a claimed record has become. Returns false if the lease has ended. */
  store: sql.hasRow<[agentId: string, lease: number, state: CardState & { next_at: number }]>(
    'remote_agents.store',
    `update remote_agents set state = :state, card = :card, identity = :identity, confirmed = :confirmed, attempts = :attempts,
       card_error = :card_error, expires_at = :expires_at, next_at = :next_at
     where agent_id = :agent_id and next_at = :lease returning agent_id`,
    (agent_id, lease, { card, identity, confirmed, ...state }) => ({
      agent_id,
      lease,
      ...state,
      card: card && JSON.stringify(card),
      identity: identity && JSON.stringify(identity),
      confirmed: confirmed && JSON.stringify(confirmed),
    }),
  ),
  /** A person confirmed what the card says now. */
  confirm: sql.run<[agentId: string]>(
    'remote_agents.confirm',
    `update remote_agents set state = 'ready', confirmed = identity, expires_at = null where agent_id = :agent_id`,
  ),
  /**
   * The outcome of a delivery; null: it succeeded. Returns true, and stores nothing, if agents are to be told of it. Never in a transaction
   * that has locked threads: what locks the agent locks them next.
   */
  noteDelivery: sql.value<[agentId: string, error: string | null, now: number], boolean | undefined>(
    'remote_agents.note_delivery(agent_id, error, now)',
    `with noted as (
       ${settingOutcome} where agent_id = :agent_id and not ${isNews}
         and (:error::text is not null or failing_since is not null or last_delivered_at is null or last_delivered_at < :now::bigint - 1000))
     select ${isNews} from remote_agents where agent_id = :agent_id`,
  ),
  /** Stores the outcome of a delivery to a locked agent. Returns whether agents are to be told of it, and notes that they are. */
  setOutcome: sql.value<[agentId: string, error: string | null, now: number], boolean>(
    'remote_agents.set_outcome(agent_id, error, now)',
    `with before as (select ${isNews} as is_news from remote_agents where agent_id = :agent_id), noted as (
       ${settingOutcome}, failing_told = failing_told <> ${isNews} where agent_id = :agent_id)
     select is_news from before`,
  ),
  /** Up to `limit` agents after this id whose card is to be fetched at `now`. */
  listDue: sql.values<[now: number, after: string, limit: number], string>(
    'remote_agents.list_due(now, after, limit)',
    `select agent_id from remote_agents where next_at <= :now and agent_id > :after order by 1 limit :limit`,
  ),
  isDue: sql.hasRow<[agentId: string, now: number]>(
    'remote_agents.is_due(agent_id, now)',
    `select 1 from remote_agents where agent_id = :agent_id and next_at <= :now`,
  ),
  /** The addresses of the cards, and those where messages go. */
  listAddresses: sql.values<[], string>(
    'remote_agents.list_addresses',
    `select distinct address from remote_agents r join agents a on a.id = r.agent_id
     cross join lateral unnest(array[r.card_url, r.confirmed->>'url']) address
     where a.retired_at is null and address is not null order by 1`,
  ),
  /** Ids of agents that no person has confirmed in time. */
  listExpired: sql.values<[now: number, limit: number], string>(
    'remote_agents.list_expired(now, limit)',
    `select r.agent_id from remote_agents r join agents a on a.id = r.agent_id
     where r.expires_at <= :now and a.retired_at is null order by r.expires_at limit :limit`,
  ),
});
