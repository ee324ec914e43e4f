import { repository, sql } from '../sql.ts';
import { actedAsByPerson } from '../agents/rights.ts';

/** A person's permission for a client to act as one agent. Times are in milliseconds. */
export interface ClientGrantRow {
  grant_id: string;
  account_id: string;
  agent_id: string;
  canonical_handle: string;
  client_id: string;
  /** The name that the client gave. */
  client_name: string | null;
  redirect_host: string;
  scopes: string[];
  created_at: number;
  /** When a token was last issued for it. */
  last_used_at: number | null;
}

type RemovedGrant = Pick<ClientGrantRow, 'account_id' | 'agent_id' | 'client_id'>;

export interface NewClientGrant extends Omit<ClientGrantRow, 'canonical_handle' | 'scopes' | 'last_used_at'> {
  scopes: readonly string[];
  /** When its last token expires, unless another is issued before. */
  expires_at: number;
}

const columns = `g.grant_id, g.account_id, g.agent_id, a.canonical_handle, g.client_id, g.client_name, g.redirect_host,
  g.scopes, g.created_at, g.last_used_at`;

const grantableAgents = (account: string) => `select a.id from agents a where ${actedAsByPerson(account)}`;

/** A use of a client is recorded at most once an hour: unused clients are kept for weeks. */
const minUseIntervalMs = 3_600_000;

export const clientGrantsRepository = repository({
  /** Returns false, and inserts nothing, when the person does not act as the agent. */
  insert: sql.hasRow<[grant: NewClientGrant]>(
    'client_grants.insert',
    `insert into client_grants
       (grant_id, account_id, agent_id, client_id, client_name, redirect_host, scopes, created_at, expires_at)
     select :grant_id, :account_id, r.id, :client_id, :client_name, :redirect_host, :scopes, :created_at, :expires_at from (${grantableAgents(':account_id')} and a.id = :agent_id) r returning 1`,
  ),
  /** The grant, if its person still acts as its agent. */
  findActive: sql.row<[grantId: string], ClientGrantRow>(
    'client_grants.find_active',
    `select ${columns} from client_grants g join agents a on a.id = g.agent_id
     where g.grant_id = :grant_id and ${actedAsByPerson('g.account_id')}`,
  ),
  /** Grants of an account that have not expired at `time` (ms), newest first, after a position. */
  list: sql.rows<
    [
      accountId: string,
      time: number,
      page: { before: Pick<ClientGrantRow, 'created_at' | 'grant_id'> | null; limit: number },
    ],
    ClientGrantRow
  >(
    'client_grants.list',
    `select ${columns} from client_grants g join agents a on a.id = g.agent_id
     where g.account_id = :account_id and g.expires_at > :time
       and (:before_at::bigint is null or (g.created_at, g.grant_id) < (:before_at, :before_id))
     order by g.created_at desc, g.grant_id desc limit :limit`,
    (accountId, time, page) => ({
      account_id: accountId,
      time,
      before_at: page.before?.created_at ?? null,
      before_id: page.before?.grant_id ?? null,
      limit: page.limit,
    }),
  ),
  /** Whether the client has any grant. */
  existsFor: sql.hasRow<[clientId: string]>(
    'client_grants.exists_for',
    `select 1 from client_grants where client_id = :client_id limit 1`,
  ),
  /** Agents for which the person granted the client at least these scopes, the newest grant first. */
  listAgents: sql.values<
    [accountId: string, clientId: string, scopes: readonly string[], time: number],
    string
  >(
    'client_grants.list_agents(account_id, client_id, scopes, time)',
    `select agent_id from client_grants
     where account_id = :account_id and client_id = :client_id and scopes @> :scopes and expires_at > :time
     group by agent_id order by max(created_at) desc, agent_id`,
  ),
  /** Records that a token was issued, on the grant and on its client. Times are in milliseconds. */
  recordUse: sql.run<[grantId: string, now: number, expiresAt: number]>(
    'client_grants.record_use(grant_id, now, expires_at)',
    `with used as (
       update client_grants set last_used_at = :now, expires_at = :expires_at where grant_id = :grant_id returning client_id
     )
     update oauth_clients c set last_used_at = :now from used
     where c.client_id = used.client_id and (c.last_used_at is null or c.last_used_at < :now::bigint - ${minUseIntervalMs})`,
  ),
  /** Returns the removed grant, if there was one. */
  remove: sql.row<[grantId: string], RemovedGrant>(
    'client_grants.remove',
    `delete from client_grants where grant_id = :grant_id returning account_id, agent_id, client_id`,
  ),
  /** Returns the removed grant, if the account had it. */
  removeOfAccount: sql.row<[accountId: string, grantId: string], RemovedGrant>(
    'client_grants.remove_of_account(account_id, grant_id)',
    `delete from client_grants where account_id = :account_id and grant_id = :grant_id returning account_id, agent_id, client_id`,
  ),
  /** This and the next functions return the ids of the removed grants. */
  removeAllOfAccount: sql.values<[accountId: string], string>(
    'client_grants.remove_all_of_account',
    `delete from client_grants where account_id = :account_id returning grant_id`,
  ),
  removeOfAgent: sql.values<[agentId: string], string>(
    'client_grants.remove_of_agent',
    `delete from client_grants where agent_id = :agent_id returning grant_id`,
  ),
  /** Removes grants whose person no longer acts as their agent, of one account or of all. */
  removeBeyondRights: sql.values<[accountId: string | null], string>(
    'client_grants.remove_beyond_rights',
    `delete from client_grants g
     where (:account_id::text is null or g.account_id = :account_id)
       and not exists (${grantableAgents('g.account_id')} and a.id = g.agent_id)
     returning g.grant_id`,
  ),
  /** Removes up to `limit` grants that expired before `time` (ms); returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'client_grants.remove_expired(time, limit)',
    `delete from client_grants where grant_id in (select grant_id from client_grants where expires_at < :time limit :limit)
     returning grant_id`,
  ),
});
