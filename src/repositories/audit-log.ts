import type { AuditEntry, AuditAction, Author } from '../../packages/core/src/domain/auth/audit.ts';
import { newId } from '../../packages/core/src/domain/ids.ts';
import { administeredByPerson } from './agents/rights.ts';
import { unpreparedStatement, query } from './queryable.ts';
import { repository, sql } from './sql.ts';

export interface AuditRow {
  id: string;
  act: AuditAction;
  by_kind: Author['kind'];
  by_id: string | null;
  /** The current handle or name of the author. */
  by_name: string | null;
  transport: Author['transport'];
  client_id: string | null;
  agent_id: string | null;
  handle: string | null;
  account_id: string | null;
  username: string | null;
  about: string | null;
  detail: object | null;
  at: number;
}

export interface AuditQuery {
  agent_id: string | null;
  account_id: string | null;
  act: AuditAction | null;
  /** The minimum id. */
  from: string;
  /** Ids before this one. */
  before: string | null;
  limit: number;
}

/** Selects entries of the audit log of one organization. */
export interface OrganizationAuditQuery {
  organization_id: string;
  slug: string;
  act: AuditAction | null;
  /** Only entries of the agent with this handle. */
  handle: string | null;
  /** Ids before this one. */
  before: string | null;
  limit: number;
}

/** Selects entries of the agents and organizations that a person administers. */
export interface PersonAuditQuery {
  account_id: string;
  /** Null: all. */
  acts: readonly AuditAction[] | null;
  /** The id of one agent; null: all agents, and organizations. */
  agent_id: string | null;
  /** Ids before this one. */
  before: string | null;
  /** How many entries of each agent and organization are read. */
  scan: number;
  limit: number;
}

export interface FoundAudit {
  /** Newest first. */
  entries: AuditRow[];
  /** The id down to which all entries were read; null: all. */
  read_to: string | null;
}

/** Actions on an organization itself: `about` is its slug. */
const organizationActs = `('member.changed', 'member.invitation_declined', 'member.invitation_revoked', 'member.invited',
  'member.removed', 'organization.founded')`;

/** Names of the agent, the account and the author of log rows `w`. The column `door` is the transport. */
const nameColumns = `a.canonical_handle as handle, o.name as username, coalesce(ba.canonical_handle, bo.name, w.by_id) as by_name, w.door as transport`;

const nameJoins = `left join agents a on a.id = w.agent_id left join owners o on o.id = w.account_id
     left join agents ba on ba.id = w.by_id left join owners bo on bo.id = w.by_id`;

const latest = (condition: string): string =>
  `(select * from audit_log where ${condition} and (:before::text is null or id < :before) order by id desc limit :scan)`;

const statements = {
  /** Selects what an agent or account did and what was done to it. */
  list: unpreparedStatement(
    `with wanted as (
       select * from audit_log
       where id >= :from and (:before::text is null or id < :before) and (:act::text is null or act = :act)
         and (:agent_id::text is null or agent_id = :agent_id or by_id = :agent_id)
         and (:account_id::text is null or account_id = :account_id or by_id = :account_id)
       order by id desc limit :limit)
     select w.*, ${nameColumns} from wanted w ${nameJoins} order by w.id desc`,
  ),
};

/** Entries are inserted and, when they are old, removed. They are never changed. */
export const auditLogRepository = repository(
  {
    insert: sql.run<[acts: readonly AuditEntry[], by: Author, at: number]>(
      'audit_log.insert',
      `insert into audit_log (id, act, agent_id, account_id, about, detail, by_kind, by_id, door, client_id, at)
       select id, act, agent_id, account_id, about, detail, :by_kind, :by_id, :transport, :client_id, :at
       from unnest(:ids::text[], :acts::text[], :agent_ids::text[], :account_ids::text[], :abouts::text[], :details::jsonb[]) a (id, act, agent_id, account_id, about, detail)`,
      (acts, by, at) => ({
        ids: acts.map(() => newId('audit')),
        acts: acts.map(({ act }) => act),
        agent_ids: acts.map(({ agent_id }) => agent_id ?? null),
        account_ids: acts.map(({ account_id }) => account_id ?? null),
        abouts: acts.map(({ about }) => about ?? null),
        details: acts.map(({ detail }) => (detail ? JSON.stringify(detail) : null)),
        by_kind: by.kind,
        by_id: by.id,
        transport: by.transport,
        client_id: by.client_id,
        at,
      }),
    ),
    /**
     * Entries about the agents of an organization, by its agents, and about its members; newest first. Reads each agent by its own
     * indexes, so that entries of other agents cost nothing; then entries about the organization itself.
     */
    listOfOrganization: sql.rows<[filter: OrganizationAuditQuery], AuditRow>(
      'audit_log.list_of_organization',
      `with own as (
         select id from agents where owner_id = :organization_id and (:handle::text is null or canonical_handle = :handle)
       ), found as (
         select l.* from own cross join lateral (
           select * from audit_log where agent_id = own.id and (:act::text is null or act = :act) and (:before::text is null or id < :before)
           order by id desc limit :limit) l
         union
         select l.* from own cross join lateral (
           select * from audit_log where by_id = own.id and (:act::text is null or act = :act) and (:before::text is null or id < :before)
           order by id desc limit :limit) l
         union
         select * from audit_log where :handle::text is null and about = :slug and act in ${organizationActs}
           and (:act::text is null or act = :act) and (:before::text is null or id < :before)
       ), wanted as (select * from found order by id desc limit :limit)
       select w.*, ${nameColumns} from wanted w ${nameJoins} order by w.id desc`,
    ),
    /**
     * Reads the latest entries of each agent and organization by index, whatever their kind, and no more than `scan` of each. Where that was
     * not all, entries before the newest of the last ones that were read are left to the next page: those of others may be between them.
     */
    listOfPerson: sql.single<[filter: PersonAuditQuery], FoundAudit>(
      'audit_log.list_of_person',
      `with mine as materialized (
       select a.id from agents a where ${administeredByPerson(':account_id')} and (:agent_id::text is null or a.id = :agent_id)
     ), organization as materialized (
       select o.name from organization_members m join owners o on o.id = m.organization_id
       where m.account_id = :account_id and m.role = 'admin' and :agent_id::text is null
     ), read as materialized (
       select 'of ' || mine.id as source, l.* from mine cross join lateral ${latest('agent_id = mine.id')} l
       union all
       select 'by ' || mine.id, l.* from mine cross join lateral ${latest('by_id = mine.id')} l
       union all
       select 'on ' || organization.name, l.* from organization
       cross join lateral ${latest(`about = organization.name and act in ${organizationActs}`)} l
     ), reach as materialized (
       select max(last) as id from (select min(id) as last from read group by source having count(*) = :scan) s
     ), wanted as (
       select distinct on (id) read.* from read
       where (cast(:acts as text[]) is null or act = any(:acts)) and id >= coalesce((select id from reach), '')
       order by id desc limit :limit
     )
     select (select id from reach) as read_to, coalesce((
       select json_agg(e order by e.id desc) from (
         select w.id, w.act, w.by_kind, w.by_id, w.client_id, w.agent_id, w.account_id, w.about, w.detail, w.at, ${nameColumns}
         from wanted w ${nameJoins}) e), '[]') as entries`,
    ),
    /** Removes up to `limit` of the oldest entries before this id; returns how many. */
    removeBefore: sql.rowCount<[id: string, limit: number]>(
      'audit_log.remove_before(id, limit)',
      'delete from audit_log where id = any(array(select id from audit_log where id < :id order by id limit :limit)) returning id',
    ),
  },
  (db) => ({
    /** Newest first. */
    list({ from, before, act, agent_id, account_id, limit }: AuditQuery): Promise<AuditRow[]> {
      return query<AuditRow>(db, statements.list, { from, before, act, agent_id, account_id, limit });
    },
  }),
);
