import { isOnline } from '../agents/presence.ts';
import { statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

export interface ContactRow {
  agent_id: string;
  canonical_handle: string;
  display_name: string;
  favorite: boolean;
  since: number;
  /** Whether one person owns both agents. */
  same_owner: boolean;
  /** Whether it has a stream or a waiting call. */
  is_online: boolean;
}

/** A contact by id and handle. */
export type ContactRef = Pick<ContactRow, 'agent_id' | 'canonical_handle'>;

/** For agents `a` and `me` of one owner. The person's agents have its agents of other systems as contacts too. */
const isOtherWithoutRow = `(a.scope = 'personal' or a.scope = 'remote' and me.scope = 'personal') and a.id <> me.id and a.retired_at is null
  and not exists (select from contacts x where x.agent_id = me.id and x.contact_id = a.id)
  and not exists (select from removed_contacts x where x.agent_id = me.id and x.contact_id = a.id)`;

/**
 * For agents `a` and `me`: whether `a` is a contact because both belong to one person, without a row in `contacts`. Agents of
 * organizations are not.
 */
const isContactBySameOwner = `a.owner_id = me.owner_id and ${isOtherWithoutRow}`;

/** Ids of the contacts of an agent because of their owner. */
export const sameOwnerContactIds = (agentId: string): string =>
  `select a.id from agents me join agents a on ${isContactBySameOwner} where me.id = ${agentId}`;

/** Columns of the agent `me`, its contact `a`, and `contacts c`, whose row can be missing. */
export const contactColumns = `a.id as agent_id, a.canonical_handle, a.display_name, coalesce(c.favorite, false) as favorite,
  coalesce(c.since, greatest(a.created_at, me.created_at)) as since, a.owner_id = me.owner_id and 'personal' in (a.scope, me.scope) as same_owner, ${isOnline}`;

const isAfter = `(:after::text is null or a.canonical_handle > :after)`;
const haveSameOwner = `select from agents one join agents two on two.owner_id = one.owner_id
  where one.id = :agent_id and two.id = :contact_id and 'personal' in (one.scope, two.scope)`;
const bothDirections = `(values (:agent_id, :contact_id), (:contact_id, :agent_id)) pair (agent_id, contact_id)`;

const statements = {
  lockPair: statement(
    'contacts.lock_pair',
    `select pg_advisory_xact_lock(hashtextextended('pair:' || $1 || ':' || $2, 0))`,
  ),
  lockAgents: statement(
    'contacts.lock_agents',
    `select from agents where id in ($1, $2) order by id for share`,
  ),
};

/**
 * A contact has two rows, one for each direction. Agents of one person are contacts without rows, until one removes or blocks the other.
 */
export const contactsRepository = repository(
  {
    /**
     * Locks the person that owns an agent until the transaction ends, so that its agents are registered, renamed and retired one after the
     * other and each event reaches all others.
     */
    lockOwner: sql.run<[agentId: string]>(
      'contacts.lock_owner',
      `select from owners where id = (select owner_id from agents where id = :agent_id and scope in ('personal', 'remote')) for no key update`,
    ),
    /** A contact by id or canonical handle; it can be hidden or retired. */
    find: sql.row<[agentId: string, key: string], ContactRow>(
      'contacts.find(agent_id, key)',
      `select ${contactColumns} from agents me join agents a on a.id = :key or a.canonical_handle = :key
       left join contacts c on c.agent_id = me.id and c.contact_id = a.id
       where me.id = :agent_id and (c.contact_id is not null or ${isContactBySameOwner})`,
    ),
    /**
     * Contacts by handle, after `after` unless it is null. The handles of one owner are adjacent, and "/" follows "." in ASCII: the index
     * of handles finds the page. A condition on the owner would make PostgreSQL read all agents of the owner instead.
     */
    list: sql.rows<[agentId: string, page: { after: string | null; limit: number }], ContactRow>(
      'contacts.list(agent_id, ...)',
      `with page as (
         (select a.id, a.canonical_handle from contacts c join agents a on a.id = c.contact_id
          where c.agent_id = :agent_id and ${isAfter} order by a.canonical_handle limit :limit)
         union all
         (select a.id, a.canonical_handle from agents me join owners o on o.id = me.owner_id
          cross join lateral (
            select a.id, a.canonical_handle from agents a
            where a.canonical_handle > greatest(o.name || '.', :after) and a.canonical_handle < o.name || '/' and ${isOtherWithoutRow}
            order by a.canonical_handle limit :limit) a
          where me.id = :agent_id)
       )
       select ${contactColumns} from page join agents a using (id) join agents me on me.id = :agent_id
       left join contacts c on c.agent_id = me.id and c.contact_id = a.id
       order by a.canonical_handle limit :limit`,
    ),
    /** Ids of all contacts of an agent, which are also all agents that have it as a contact. */
    listIds: sql.values<[agentId: string], string>(
      'contacts.list_ids',
      `select contact_id from contacts where agent_id = :agent_id union all ${sameOwnerContactIds(':agent_id')}`,
    ),
    /** Ids of the contacts without rows: agents of the same person. */
    listSameOwnerIds: sql.values<[agentId: string], string>(
      'contacts.list_same_owner_ids',
      sameOwnerContactIds(':agent_id'),
    ),
    /** Inserts both directions; returns whether one person owns both agents. */
    insert: sql.single<
      [
        contact: {
          agent_id: string;
          contact_id: string;
          since: number;
        },
      ],
      { same_owner: boolean }
    >(
      'contacts.insert',
      `with inserted as (
         /* no version: it only permits */
         insert into contacts (agent_id, contact_id, since) select agent_id, contact_id, :since from ${bothDirections}
       )
       select exists (${haveSameOwner}) as same_owner`,
    ),
    /** Returns false when the contact has no row. */
    setFavorite: sql.hasRow<[agentId: string, contactId: string, favorite: boolean]>(
      'contacts.set_favorite(agent_id, contact_id, favorite)',
      `update contacts set favorite = :favorite where agent_id = :agent_id and contact_id = :contact_id returning contact_id`,
    ),
    /** Removes both directions. Returns false when there is no such contact. */
    remove: sql.hasRow<[agentId: string, contactId: string]>(
      'contacts.remove(agent_id, contact_id)',
      `with removed as (
         delete from contacts where (agent_id, contact_id) in ((:agent_id, :contact_id), (:contact_id, :agent_id)) returning agent_id
       ), hidden as (
         insert into removed_contacts (agent_id, contact_id)
         select agent_id, contact_id from ${bothDirections} where exists (${haveSameOwner})
         on conflict do nothing returning agent_id
       )
       select agent_id as raised_id from removed union all select agent_id from hidden`,
    ),
    /**
     * Removes all contacts of an agent, whose row must be locked; returns them by handle. Locks in one order, so that two agents that
     * retire at the same time do not deadlock.
     */
    removeAllOf: sql.rows<[agentId: string], ContactRef>(
      'contacts.remove_all_of',
      `with locked as (
         select agent_id, contact_id from contacts where agent_id = :agent_id or contact_id = :agent_id
         order by least(agent_id, contact_id), greatest(agent_id, contact_id), agent_id for update
       ), removed as (
         /* no version: the agent retires in the same transaction */
         delete from contacts c using locked l where c.agent_id = l.agent_id and c.contact_id = l.contact_id
       )
       select a.id as agent_id, a.canonical_handle from agents a
       where a.id = any (array(select contact_id from locked where agent_id = :agent_id union all ${sameOwnerContactIds(':agent_id')}))
       order by a.canonical_handle`,
    ),
  },
  (db) => ({
    /**
     * Locks two agents and their contact, requests and blocks until the transaction ends, so that neither agent is retired meanwhile.
     * Read them after this.
     */
    async lockPair(one: string, other: string): Promise<void> {
      const pair = [one, other].sort();
      await Promise.all([db.query(statements.lockPair, pair), db.query(statements.lockAgents, pair)]);
    },
  }),
);
