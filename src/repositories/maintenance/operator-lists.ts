import { repository, sql } from '../sql.ts';

/** A page of a list: names after this one, in order. */
interface OperatorPage {
  after: string;
  limit: number;
}

/** A page of threads: older than `before` (an id, or empty), newest first. */
interface ThreadPage {
  before: string;
  limit: number;
}

const agentCount = `(select count(*)::int from agents a where a.owner_id = o.id and a.retired_at is null)`;
const threadColumns = `t.id, t.subject, t.status, c.canonical_handle as created_by,
  (select count(*)::int from thread_members m where m.thread_id = t.id) as members, t.last_sequence as messages,
  t.created_at, t.last_message_at`;

/** The records that operators can list. They contain no texts of messages. Records of `find…` have times in milliseconds, in fields that end in `_at`. */
export const operatorListsRepository = repository({
  listAgents: sql.rows<[filter: OperatorPage & { owner: string | null; retired: boolean }], object>(
    'operatorLists.agents',
    `select a.canonical_handle as handle, a.display_name, a.scope, a.visibility, a.inbound_policy, a.paused, a.created_at, a.retired_at
     from agents a join owners o on o.id = a.owner_id
     where a.canonical_handle > :after and (:owner::text is null or o.name = :owner)
       and (:retired::boolean or a.retired_at is null)
     order by a.canonical_handle limit :limit`,
  ),
  findAgent: sql.row<[handle: string], object>(
    'operatorLists.agent',
    `select a.id, a.canonical_handle as handle, a.display_name, a.description, o.name as owner, o.kind as owner_kind,
       p.name as member, a.scope, a.visibility, a.inbound_policy, a.paused, a.can_initiate_threads,
       (select count(*)::int from thread_members m where m.agent_id = a.id) as threads,
       (select count(*)::int from webhooks w where w.agent_id = a.id) as webhooks,
       a.created_at, a.updated_at, a.retired_at
     from agents a join owners o on o.id = a.owner_id left join owners p on p.id = a.member_account_id
     where a.canonical_handle = :handle`,
  ),
  listAccounts: sql.rows<[page: OperatorPage], object>(
    'operatorLists.accounts',
    `select o.name as username, o.display_name, ${agentCount} as agents, o.created_at from owners o
     where o.kind = 'account' and o.name > :after order by o.name limit :limit`,
  ),
  findAccount: sql.row<[name: string], object>(
    'operatorLists.account',
    `select o.id, o.name as username, o.display_name, c.password_hash is not null as has_password, ${agentCount} as agents,
       coalesce((select array_agg(g.name || ':' || m.role order by g.name) from organization_members m
         join owners g on g.id = m.organization_id where m.account_id = o.id), '{}') as organizations, o.created_at
     from owners o join accounts c on c.id = o.id where o.name = :name`,
  ),
  listOrganizations: sql.rows<[page: OperatorPage], object>(
    'operatorLists.organizations',
    `select o.name as slug, o.display_name as name,
       (select count(*)::int from organization_members m where m.organization_id = o.id) as members, ${agentCount} as agents, o.created_at
     from owners o where o.kind = 'organization' and o.name > :after order by o.name limit :limit`,
  ),
  findOrganization: sql.row<[name: string], object>(
    'operatorLists.organization',
    `select o.id, o.name as slug, o.display_name as name, ${agentCount} as agents,
       coalesce((select array_agg(p.name || ':' || m.role order by p.name) from organization_members m
         join owners p on p.id = m.account_id where m.organization_id = o.id), '{}') as members, o.created_at
     from owners o where o.kind = 'organization' and o.name = :name`,
  ),
  listThreads: sql.rows<[page: ThreadPage], object>(
    'operatorLists.threads',
    `select ${threadColumns} from threads t join agents c on c.id = t.created_by
     where (:before = '' or t.id < :before) order by t.id desc limit :limit`,
  ),
  /** Those of one agent. */
  listThreadsOf: sql.rows<[page: ThreadPage & { handle: string }], object>(
    'operatorLists.threadsOf',
    `select ${threadColumns} from thread_members v join threads t on t.id = v.thread_id join agents c on c.id = t.created_by
     where v.agent_id = (select id from agents where canonical_handle = :handle) and (:before = '' or t.id < :before)
     order by t.id desc limit :limit`,
  ),
  findThread: sql.row<[id: string], object>(
    'operatorLists.thread',
    `select t.id, t.subject, t.status, c.canonical_handle as created_by, t.last_sequence as messages,
       (select array_agg(a.canonical_handle order by a.canonical_handle) from thread_members m
         join agents a on a.id = m.agent_id where m.thread_id = t.id) as members,
       t.created_at, t.updated_at, t.last_message_at
     from threads t join agents c on c.id = t.created_by where t.id = :id`,
  ),
  /** Counts of the instance. `messages` counts all that were sent, also those that the retention has removed. */
  countTotals: sql.single<[], Record<string, number>>(
    'operatorLists.totals',
    `select o.accounts, o.organizations, a.agents, a.retired_agents, t.threads, t.messages,
       (select count(*)::int from webhooks) as webhooks
     from (select count(*) filter (where kind = 'account')::int as accounts,
             count(*) filter (where kind = 'organization')::int as organizations from owners) o,
       (select count(*) filter (where retired_at is null)::int as agents,
          count(retired_at)::int as retired_agents from agents) a,
       (select count(*)::float8 as threads, coalesce(sum(last_sequence), 0)::float8 as messages from threads) t`,
  ),
});
