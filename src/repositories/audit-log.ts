import type { AuditEntry, AuditAction, Author } from '../domain/auth/audit.ts';
import { newId } from '../domain/ids.ts';
import { unpreparedStatement, type Queryable, statement } from './queryable.ts';

export interface AuditRow {
  id: string;
  act: AuditAction;
  by_kind: Author['kind'];
  by_id: string | null;
  /** Handle or name of an agent or person that did it, as it is now. */
  by_name: string | null;
  door: Author['door'];
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
  /** Ids from here on. */
  from: string;
  /** Ids before this one. */
  before: string | null;
  limit: number;
}

/** The audit log of one organization. */
export interface OrganizationAuditQuery {
  organization_id: string;
  slug: string;
  act: AuditAction | null;
  /** Only of the agent of this handle. */
  handle: string | null;
  /** Ids before this one. */
  before: string | null;
  limit: number;
}

/** Acts about an organization itself, by its slug. */
const organizationActs = `('member.changed', 'member.removed', 'organization.founded')`;

/** Names of those whom rows `w` of the log concern, and of who did it. */
const nameColumns = `a.canonical_handle as handle, o.name as username, coalesce(ba.canonical_handle, bo.name, w.by_id) as by_name`;

const nameJoins = `left join agents a on a.id = w.agent_id left join owners o on o.id = w.account_id
     left join agents ba on ba.id = w.by_id left join owners bo on bo.id = w.by_id`;

const statements = {
  insert: statement(
    'audit_log.insert',
    `insert into audit_log (id, act, agent_id, account_id, about, detail, by_kind, by_id, door, client_id, at)
     select id, act, agent_id, account_id, about, detail, $7, $8, $9, $10, $11
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::jsonb[]) a (id, act, agent_id, account_id, about, detail)`,
  ),
  /** What an agent or account did counts as well as what was done to it: two ways in, each by its own index. */
  list: unpreparedStatement(
    `with wanted as (
       select * from audit_log
       where id >= $1 and ($2::text is null or id < $2) and ($3::text is null or act = $3)
         and ($4::text is null or agent_id = $4 or by_id = $4)
         and ($5::text is null or account_id = $5 or by_id = $5)
       order by id desc limit $6)
     select w.*, ${nameColumns} from wanted w ${nameJoins} order by w.id desc`,
  ),
  /** Each agent by its own indexes, so that what others do costs nothing; and what concerns the organization itself. */
  listOfOrganization: statement(
    'audit_log.list_of_organization',
    `with own as (
       select id from agents where owner_id = $1 and ($4::text is null or canonical_handle = $4)
     ), found as (
       select l.* from own cross join lateral (
         select * from audit_log where agent_id = own.id and ($3::text is null or act = $3) and ($5::text is null or id < $5)
         order by id desc limit $6) l
       union
       select l.* from own cross join lateral (
         select * from audit_log where by_id = own.id and ($3::text is null or act = $3) and ($5::text is null or id < $5)
         order by id desc limit $6) l
       union
       select * from audit_log where $4::text is null and about = $2 and act in ${organizationActs}
         and ($3::text is null or act = $3) and ($5::text is null or id < $5)
     ), wanted as (select * from found order by id desc limit $6)
     select w.*, ${nameColumns} from wanted w ${nameJoins} order by w.id desc`,
  ),
  removeBefore: statement(
    'audit_log.remove_before',
    'delete from audit_log where id = any(array(select id from audit_log where id < $1 order by id limit $2)) returning id',
  ),
};

/** Acts are added and, when they are old, removed. Nothing changes one. */
export function auditLogRepository(db: Queryable) {
  return {
    async insert(acts: readonly AuditEntry[], by: Author, at: number): Promise<void> {
      await db.query(statements.insert, [
        acts.map(() => newId('audit')),
        acts.map(({ act }) => act),
        acts.map(({ agent_id }) => agent_id ?? null),
        acts.map(({ account_id }) => account_id ?? null),
        acts.map(({ about }) => about ?? null),
        acts.map(({ detail }) => (detail ? JSON.stringify(detail) : null)),
        by.kind,
        by.id,
        by.door,
        by.client_id,
        at,
      ]);
    },
    /** Newest first. */
    list({ from, before, act, agent_id, account_id, limit }: AuditQuery): Promise<AuditRow[]> {
      return db.query<AuditRow>(statements.list, [from, before, act, agent_id, account_id, limit]);
    },
    /** What was done to the agents of an organization and by them, and to its people as such; newest first. */
    listOfOrganization(query: OrganizationAuditQuery): Promise<AuditRow[]> {
      const { organization_id, slug, act, handle, before, limit } = query;
      return db.query<AuditRow>(statements.listOfOrganization, [
        organization_id,
        slug,
        act,
        handle,
        before,
        limit,
      ]);
    },
    /** Removes the oldest, at most `limit`; answers how many. */
    async removeBefore(id: string, limit: number): Promise<number> {
      return (await db.query(statements.removeBefore, [id, limit])).length;
    },
  };
}
