import { isOnline } from '../agents/presence.ts';
import { type Queryable, statement } from '../queryable.ts';

export interface ContactRow {
  agent_id: string;
  canonical_handle: string;
  display_name: string;
  favorite: boolean;
  since: number;
  /** Whether it has a stream or a waiting call. */
  is_online: boolean;
}

/** A contact by id and handle. */
export type ContactRef = Pick<ContactRow, 'agent_id' | 'canonical_handle'>;

/** Columns of `contacts c` and the contact `agents a`. */
export const contactColumns = `a.id as agent_id, a.canonical_handle, a.display_name, c.favorite, c.since, ${isOnline}`;

const statements = {
  lockPair: statement(
    'contacts.lock_pair',
    `select pg_advisory_xact_lock(hashtextextended('pair:' || $1 || ':' || $2, 0))`,
  ),
  lockAgents: statement(
    'contacts.lock_agents',
    `select from agents where id in ($1, $2) order by id for share`,
  ),
  find: statement(
    'contacts.find',
    `select ${contactColumns} from contacts c join agents a on a.id = c.contact_id
     where c.agent_id = $1 and (a.id = $2 or a.canonical_handle = $2)`,
  ),
  list: statement(
    'contacts.list',
    `select ${contactColumns} from contacts c join agents a on a.id = c.contact_id
     where c.agent_id = $1 and ($2::text is null or a.canonical_handle > $2)
     order by a.canonical_handle limit $3`,
  ),
  listIds: statement('contacts.list_ids', `select contact_id from contacts where agent_id = $1`),
  insert: statement(
    'contacts.insert',
    `insert into contacts (agent_id, contact_id, since) values ($1, $2, $3), ($2, $1, $3)`,
  ),
  setFavorite: statement(
    'contacts.set_favorite',
    `update contacts c set favorite = $3 from agents a
     where a.id = c.contact_id and c.agent_id = $1 and (a.id = $2 or a.canonical_handle = $2) returning c.contact_id`,
  ),
  remove: statement(
    'contacts.remove',
    `delete from contacts where (agent_id, contact_id) in (($1, $2), ($2, $1)) returning agent_id`,
  ),
  // Locks in one order, so that two agents that retire at the same time do not deadlock.
  removeAllOf: statement(
    'contacts.remove_all_of',
    `with locked as (
       select agent_id, contact_id from contacts where agent_id = $1 or contact_id = $1
       order by least(agent_id, contact_id), greatest(agent_id, contact_id), agent_id for update
     ), removed as (
       delete from contacts c using locked l where c.agent_id = l.agent_id and c.contact_id = l.contact_id
     )
     select a.id as agent_id, a.canonical_handle from locked l join agents a on a.id = l.contact_id
     where l.agent_id = $1 order by a.canonical_handle`,
  ),
};

/** A contact has two rows, one for each direction. */
export function contactsRepository(db: Queryable) {
  return {
    /**
     * Locks two agents and their contact, requests and blocks until the transaction ends, so that neither agent is retired meanwhile.
     * Read them after this.
     */
    async lockPair(one: string, other: string): Promise<void> {
      const pair = [one, other].sort();
      await Promise.all([db.query(statements.lockPair, pair), db.query(statements.lockAgents, pair)]);
    },
    /** A contact by id or canonical handle; it can be hidden or retired. */
    async find(agentId: string, key: string): Promise<ContactRow | undefined> {
      return (await db.query<ContactRow>(statements.find, [agentId, key]))[0];
    },
    /** Contacts by handle, after `after` unless it is null. */
    list(agentId: string, page: { after: string | null; limit: number }): Promise<ContactRow[]> {
      return db.query<ContactRow>(statements.list, [agentId, page.after, page.limit]);
    },
    /** Ids of all contacts of an agent, which are also all agents that have it as a contact. */
    async listIds(agentId: string): Promise<string[]> {
      const rows = await db.query<{ contact_id: string }>(statements.listIds, [agentId]);
      return rows.map(({ contact_id }) => contact_id);
    },
    /** Inserts both directions. */
    async insert(contact: { agent_id: string; contact_id: string; since: number }): Promise<void> {
      await db.query(statements.insert, [contact.agent_id, contact.contact_id, contact.since]);
    },
    /** By id or canonical handle. Returns false when there is no such contact. */
    async setFavorite(agentId: string, key: string, favorite: boolean): Promise<boolean> {
      return (await db.query(statements.setFavorite, [agentId, key, favorite])).length > 0;
    },
    /** Removes both directions. Returns false when there is no such contact. */
    async remove(agentId: string, contactId: string): Promise<boolean> {
      return (await db.query(statements.remove, [agentId, contactId])).length > 0;
    },
    /** Removes all contacts of an agent, whose row must be locked; returns them by handle. */
    removeAllOf(agentId: string): Promise<ContactRef[]> {
      return db.query<ContactRef>(statements.removeAllOf, [agentId]);
    },
  };
}
