import { type Queryable, statement, query } from '../queryable.ts';
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

const statements = {
  insert: statement(
    'client_grants.insert',
    `insert into client_grants
       (grant_id, account_id, agent_id, client_id, client_name, redirect_host, scopes, created_at, expires_at)
     select :grant_id, :account_id, r.id, :client_id, :client_name, :redirect_host, :scopes, :created_at, :expires_at from (${grantableAgents(':account_id')} and a.id = :agent_id) r returning 1`,
  ),
  findActive: statement(
    'client_grants.find_active',
    `select ${columns} from client_grants g join agents a on a.id = g.agent_id
     where g.grant_id = :grant_id and ${actedAsByPerson('g.account_id')}`,
  ),
  list: statement(
    'client_grants.list',
    `select ${columns} from client_grants g join agents a on a.id = g.agent_id
     where g.account_id = :account_id and g.expires_at > :time
       and (:before_at::bigint is null or (g.created_at, g.grant_id) < (:before_at, :before_id))
     order by g.created_at desc, g.grant_id desc limit :limit`,
  ),
  existsFor: statement(
    'client_grants.exists_for',
    `select 1 from client_grants where client_id = :client_id limit 1`,
  ),
  listAgents: statement(
    'client_grants.list_agents',
    `select agent_id from client_grants
     where account_id = :account_id and client_id = :client_id and scopes @> :scopes and expires_at > :time
     group by agent_id order by max(created_at) desc, agent_id`,
  ),
  recordUse: statement(
    'client_grants.record_use',
    `with used as (
       update client_grants set last_used_at = :now, expires_at = :expires_at where grant_id = :grant_id returning client_id
     )
     update oauth_clients c set last_used_at = :now from used
     where c.client_id = used.client_id and (c.last_used_at is null or c.last_used_at < :now::bigint - ${minUseIntervalMs})`,
  ),
  remove: statement(
    'client_grants.remove',
    `delete from client_grants where grant_id = :grant_id returning account_id, agent_id, client_id`,
  ),
  removeOfAccount: statement(
    'client_grants.remove_of_account',
    `delete from client_grants where account_id = :account_id and grant_id = :grant_id returning account_id, agent_id, client_id`,
  ),
  removeAllOfAccount: statement(
    'client_grants.remove_all_of_account',
    `delete from client_grants where account_id = :account_id returning grant_id`,
  ),
  removeOfAgent: statement(
    'client_grants.remove_of_agent',
    `delete from client_grants where agent_id = :agent_id returning grant_id`,
  ),
  removeBeyondRights: statement(
    'client_grants.remove_beyond_rights',
    `delete from client_grants g
     where (:account_id::text is null or g.account_id = :account_id)
       and not exists (${grantableAgents('g.account_id')} and a.id = g.agent_id)
     returning g.grant_id`,
  ),
  removeExpired: statement(
    'client_grants.remove_expired',
    `delete from client_grants where grant_id in (select grant_id from client_grants where expires_at < :time limit :limit)
     returning grant_id`,
  ),
};

export function clientGrantsRepository(db: Queryable) {
  const removeOne = async (by: (typeof statements)['remove'], values: Record<string, unknown>) =>
    (await query<RemovedGrant>(db, by, values))[0];
  const remove = async (by: (typeof statements)['removeOfAgent'], values: Record<string, unknown>) =>
    (await query<{ grant_id: string }>(db, by, values)).map((row) => row.grant_id);

  return {
    /** Returns false, and inserts nothing, when the person does not act as the agent. */
    async insert(grant: NewClientGrant): Promise<boolean> {
      const { grant_id, account_id, agent_id, client_id, client_name } = grant;
      const { redirect_host, scopes, created_at, expires_at } = grant;
      const client = { client_id, client_name, redirect_host };
      const values = { grant_id, account_id, agent_id, ...client, scopes, created_at, expires_at };
      return (await query(db, statements.insert, values)).length > 0;
    },
    /** The grant, if its person still acts as its agent. */
    async findActive(grantId: string): Promise<ClientGrantRow | undefined> {
      return (await query<ClientGrantRow>(db, statements.findActive, { grant_id: grantId }))[0];
    },
    /** Grants of an account that have not expired at `time` (ms), newest first, after a position. */
    list(
      accountId: string,
      time: number,
      page: { before: Pick<ClientGrantRow, 'created_at' | 'grant_id'> | null; limit: number },
    ): Promise<ClientGrantRow[]> {
      return query<ClientGrantRow>(db, statements.list, {
        account_id: accountId,
        time,
        before_at: page.before?.created_at ?? null,
        before_id: page.before?.grant_id ?? null,
        limit: page.limit,
      });
    },
    /** Whether the client has any grant. */
    async existsFor(clientId: string): Promise<boolean> {
      return (await query(db, statements.existsFor, { client_id: clientId })).length > 0;
    },
    /** Agents for which the person granted the client at least these scopes, the newest grant first. */
    async listAgents(
      accountId: string,
      clientId: string,
      scopes: readonly string[],
      time: number,
    ): Promise<string[]> {
      const rows = await query<{ agent_id: string }>(db, statements.listAgents, {
        account_id: accountId,
        client_id: clientId,
        scopes,
        time,
      });
      return rows.map((row) => row.agent_id);
    },
    /** Records that a token was issued, on the grant and on its client. Times are in milliseconds. */
    async recordUse(grantId: string, now: number, expiresAt: number): Promise<void> {
      await query(db, statements.recordUse, { grant_id: grantId, now, expires_at: expiresAt });
    },
    /** Returns the removed grant, if there was one. */
    remove: (grantId: string) => removeOne(statements.remove, { grant_id: grantId }),
    /** Returns the removed grant, if the account had it. */
    removeOfAccount: (accountId: string, grantId: string) =>
      removeOne(statements.removeOfAccount, { account_id: accountId, grant_id: grantId }),
    /** This and the next functions return the ids of the removed grants. */
    removeAllOfAccount: (accountId: string) =>
      remove(statements.removeAllOfAccount, { account_id: accountId }),
    removeOfAgent: (agentId: string) => remove(statements.removeOfAgent, { agent_id: agentId }),
    /** Removes grants whose person no longer acts as their agent, of one account or of all. */
    removeBeyondRights: (accountId: string | null) =>
      remove(statements.removeBeyondRights, { account_id: accountId }),
    /** Removes up to `limit` grants that expired before `time` (ms); returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await remove(statements.removeExpired, { time, limit })).length;
    },
  };
}
