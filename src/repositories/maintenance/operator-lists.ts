import { type Queryable, query, unpreparedStatement } from '../queryable.ts';

/** A page of a list: names after this one, in order. */
export interface OperatorPage {
  after: string;
  limit: number;
}

export interface ListedAgent {
  handle: string;
  display_name: string;
  scope: string;
  visibility: string;
  inbound_policy: string;
  paused: boolean;
  created_at: number;
  retired_at: number | null;
}

export interface ListedAccount {
  username: string;
  display_name: string | null;
  agents: number;
  created_at: number;
}

export interface ListedOrganization {
  slug: string;
  name: string | null;
  members: number;
  agents: number;
  created_at: number;
}

/** A thread without its messages. */
export interface OperatorThread {
  id: string;
  subject: string | null;
  status: string;
  created_by: string;
  members: number;
  messages: number;
  created_at: number;
  last_message_at: number | null;
}

const agentCount = `(select count(*)::int from agents a where a.owner_id = o.id and a.retired_at is null)`;
const threadColumns = `t.id, t.subject, t.status, c.canonical_handle as created_by,
  (select count(*)::int from thread_members m where m.thread_id = t.id) as members, t.last_sequence as messages,
  t.created_at, t.last_message_at`;

const statements = {
  agents: unpreparedStatement(
    `select a.canonical_handle as handle, a.display_name, a.scope, a.visibility, a.inbound_policy, a.paused, a.created_at, a.retired_at
     from agents a join owners o on o.id = a.owner_id
     where a.canonical_handle > :after and (:owner::text is null or o.name = :owner)
       and (:retired::boolean or a.retired_at is null)
     order by a.canonical_handle limit :limit`,
  ),
  agent: unpreparedStatement(
    `select a.id, a.canonical_handle as handle, a.display_name, a.description, o.name as owner, o.kind as owner_kind,
       p.name as member, a.scope, a.visibility, a.inbound_policy, a.paused, a.can_initiate_threads,
       (select count(*)::int from thread_members m where m.agent_id = a.id) as threads,
       (select count(*)::int from webhooks w where w.agent_id = a.id) as webhooks,
       a.created_at, a.updated_at, a.retired_at
     from agents a join owners o on o.id = a.owner_id left join owners p on p.id = a.member_account_id
     where a.canonical_handle = :handle`,
  ),
  accounts: unpreparedStatement(
    `select o.name as username, o.display_name, ${agentCount} as agents, o.created_at from owners o
     where o.kind = 'account' and o.name > :after order by o.name limit :limit`,
  ),
  account: unpreparedStatement(
    `select o.id, o.name as username, o.display_name, c.password_hash is not null as has_password, ${agentCount} as agents,
       coalesce((select array_agg(g.name || ':' || m.role order by g.name) from organization_members m
         join owners g on g.id = m.organization_id where m.account_id = o.id), '{}') as organizations, o.created_at
     from owners o join accounts c on c.id = o.id where o.name = :name`,
  ),
  organizations: unpreparedStatement(
    `select o.name as slug, o.display_name as name,
       (select count(*)::int from organization_members m where m.organization_id = o.id) as members, ${agentCount} as agents, o.created_at
     from owners o where o.kind = 'organization' and o.name > :after order by o.name limit :limit`,
  ),
  organization: unpreparedStatement(
    `select o.id, o.name as slug, o.display_name as name, ${agentCount} as agents,
       coalesce((select array_agg(p.name || ':' || m.role order by p.name) from organization_members m
         join owners p on p.id = m.account_id where m.organization_id = o.id), '{}') as members, o.created_at
     from owners o where o.kind = 'organization' and o.name = :name`,
  ),
  threads: unpreparedStatement(
    `select ${threadColumns} from threads t join agents c on c.id = t.created_by
     where (:before = '' or t.id < :before) order by t.id desc limit :limit`,
  ),
  threadsOf: unpreparedStatement(
    `select ${threadColumns} from thread_members v join threads t on t.id = v.thread_id join agents c on c.id = t.created_by
     where v.agent_id = (select id from agents where canonical_handle = :handle) and (:before = '' or t.id < :before)
     order by t.id desc limit :limit`,
  ),
  thread: unpreparedStatement(
    `select t.id, t.subject, t.status, c.canonical_handle as created_by, t.last_sequence as messages,
       (select array_agg(a.canonical_handle order by a.canonical_handle) from thread_members m
         join agents a on a.id = m.agent_id where m.thread_id = t.id) as members,
       t.created_at, t.updated_at, t.last_message_at
     from threads t join agents c on c.id = t.created_by where t.id = :id`,
  ),
  totals: unpreparedStatement(
    `select o.accounts, o.organizations, a.agents, a.retired_agents, t.threads, t.messages,
       (select count(*)::int from webhooks) as webhooks
     from (select count(*) filter (where kind = 'account')::int as accounts,
             count(*) filter (where kind = 'organization')::int as organizations from owners) o,
       (select count(*) filter (where retired_at is null)::int as agents,
          count(retired_at)::int as retired_agents from agents) a,
       (select count(*)::float8 as threads, coalesce(sum(last_sequence), 0)::float8 as messages from threads) t`,
  ),
};

/** The records that operators can list. They contain no texts of messages. Records of `find…` have times in milliseconds, in fields that end in `_at`. */
export function operatorListsRepository(db: Queryable) {
  const first = async <Row extends object>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0];
  return {
    listAgents: (filter: OperatorPage & { owner: string | null; retired: boolean }) =>
      query<ListedAgent>(db, statements.agents, { ...filter }),
    findAgent: (handle: string) => first(query<object>(db, statements.agent, { handle })),
    listAccounts: (page: OperatorPage) => query<ListedAccount>(db, statements.accounts, { ...page }),
    findAccount: (name: string) => first(query<object>(db, statements.account, { name })),
    listOrganizations: (page: OperatorPage) =>
      query<ListedOrganization>(db, statements.organizations, { ...page }),
    findOrganization: (name: string) => first(query<object>(db, statements.organization, { name })),
    /** Newest first, older than `before` (an id, or empty); with a handle those of that agent. */
    listThreads: (page: { before: string; limit: number }, handle: string | null) =>
      handle === null
        ? query<OperatorThread>(db, statements.threads, page)
        : query<OperatorThread>(db, statements.threadsOf, { ...page, handle }),
    findThread: (id: string) => first(query<object>(db, statements.thread, { id })),
    /** Counts of the instance. `messages` counts all that were sent, also those that the retention has removed. */
    async countTotals(): Promise<Record<string, number>> {
      const [totals = {}] = await query<Record<string, number>>(db, statements.totals, {});
      return totals;
    },
  };
}
